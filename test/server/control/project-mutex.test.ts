import t from 'tap';
import { ProjectMutex } from '../../../server/control/control-plane.ts';

const { signal } = new AbortController();

/** Returns a change that the test ends. */
function heldChange() {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { end, change: () => ended };
}

t.test("runs a project's changes in turn, next to changes of other projects", async (t) => {
  const turns = new ProjectMutex();
  const ended: string[] = [];
  const first = heldChange();
  const running = turns.run('a', signal, first.change).then(() => ended.push('first'));
  const second = turns.run('a', signal, async () => ended.push('second'));
  await turns.run('b', signal, async () => ended.push('other'));
  t.same(ended, ['other']);
  first.end();
  await Promise.all([running, second]);
  t.same(ended.slice(1).sort(), ['first', 'second']);
});

t.test('rejects a change only while 100 of its project wait', async (t) => {
  const turns = new ProjectMutex();
  const { end, change } = heldChange();
  const all = Array.from({ length: 101 }, () => turns.run('a', signal, change));
  await t.rejects(turns.run('a', signal, change), {
    code: 'rate_limited',
    details: { retryAfter: 1 },
  });
  await turns.run('b', signal, async () => {});
  end();
  await Promise.all(all);
  await turns.run('a', signal, async () => {});
});

t.test('removes a disconnected client from the queue', async (t) => {
  const turns = new ProjectMutex();
  const { end, change } = heldChange();
  const running = turns.run('a', signal, change);
  const leaving = new AbortController();
  let isRun = false;
  const left = turns.run('a', leaving.signal, async () => {
    isRun = true;
  });
  leaving.abort(new Error('left'));
  await t.rejects(left, { message: 'left' });
  end();
  await running;
  await turns.run('a', signal, async () => {});
  t.notOk(isRun);
});
