import t from 'tap';
import { stopTimers } from '../../clock.ts';
import { imageOf, Machine, settle } from './machine.ts';

t.test('a leaving participant does not cancel the others', async (t) => {
  const machine = new Machine(2);
  const [a, b] = [machine.frontEnd(0), machine.frontEnd(1)];
  const leaving = new AbortController();
  const left = a.get('k', leaving.signal);
  await machine.deliverAll();
  const stayed = b.get('k');
  await machine.deliverAll();

  leaving.abort(new Error('the client left'));
  await t.rejects(left, { message: 'the client left' });
  await machine.deliverAll();
  t.equal(machine.renderings[0]?.frontEnd, 0, 'its front end renders for the other');
  machine.renderings[0]?.finish();
  await machine.deliverAll();
  t.same(await stayed, imageOf('k'));
  t.equal(machine.coalescer.size, 0);
});

t.test('the work is cancelled when the last participant leaves, in any process', async (t) => {
  const machine = new Machine(2);
  const [a, b] = [machine.frontEnd(0), machine.frontEnd(1)];
  const first = new AbortController();
  const last = new AbortController();
  const waiting = [a.get('k', first.signal)];
  await machine.deliverAll();
  waiting.push(b.get('k', last.signal));
  await machine.deliverAll();
  for (const one of waiting) one.catch(() => {});

  first.abort();
  await machine.deliverAll();
  t.equal(machine.renderings.length, 1);
  last.abort();
  await machine.deliverAll();
  t.equal(machine.renderings.length, 0);
  t.equal(machine.coalescer.size, 0);
  for (const one of machine.frontEnds) t.equal(await machine.openJoins(one), 0);
});

t.test('a follower that becomes the leader renders for the other followers', async (t) => {
  const machine = new Machine(3);
  const [a, b, c] = [machine.frontEnd(0), machine.frontEnd(1), machine.frontEnd(2)];
  const leaving = new AbortController();
  for (const wanted of [() => a.get('k'), () => b.get('k', leaving.signal)]) {
    wanted().catch(() => {});
    await machine.deliverAll();
  }
  const last = c.get('k');
  await machine.deliverAll();
  machine.kill(a);
  await machine.deliverAll();
  leaving.abort();
  await machine.deliverAll();
  t.equal(machine.renderings[0]?.frontEnd, 1, 'its work is not repeated');
  machine.renderings[0]?.finish();
  await machine.deliverAll();
  t.same(await last, imageOf('k'));
});

t.test('a follower leads when the leader leaves before its join arrives', async (t) => {
  const machine = new Machine(2);
  const [a, b] = [machine.frontEnd(0), machine.frontEnd(1)];
  const leaving = new AbortController();
  a.get('k', leaving.signal).catch(() => {});
  await machine.deliverAll();
  const wanted = b.get('k');
  t.ok(machine.deliverToPrimary(b), 'the primary has the follower');
  leaving.abort();
  await machine.deliverAll();
  t.equal(machine.renderings[0]?.frontEnd, 1);
  machine.renderings[0]?.finish();
  await machine.deliverAll();
  t.same(await wanted, imageOf('k'));
});

t.test('a render-lead that crosses a render-leave goes to the next follower', async (t) => {
  const machine = new Machine(2);
  const [a, b] = [machine.frontEnd(0), machine.frontEnd(1)];
  const leaving = new AbortController();
  a.get('k', leaving.signal).catch(() => {});
  t.ok(machine.deliverToPrimary(a), 'render-lead is on its way');
  leaving.abort();
  const wanted = b.get('k');
  t.ok(machine.deliverToPrimary(b));
  await machine.deliverAll();
  t.equal(machine.renderings[0]?.frontEnd, 1);
  machine.renderings[0]?.finish();
  await machine.deliverAll();
  t.same(await wanted, imageOf('k'));
  t.equal(machine.coalescer.size, 0);
});

t.test('an aborted signal sends no message', async (t) => {
  const { coalescer, toPrimary: up } = new Machine(1).frontEnd(0);
  const reason = new Error('gone');
  await t.rejects(
    coalescer.join('k', {
      live: true,
      signal: AbortSignal.abort(reason),
      retain: () => null,
      promote: () => {},
    }),
    reason,
  );
  t.same(up, []);
});

t.test('a silent primary does not delay requests', async (t) => {
  const tick = stopTimers(t);
  const machine = new Machine(2);
  const [a, b] = [machine.frontEnd(0), machine.frontEnd(1)];
  const other = b.get('k');
  await machine.deliverAll();
  const wanted = a.get('k');
  tick(1_000);
  await settle();
  t.equal(a.renderings.length, 0);
  tick(2_000);
  await settle();
  t.equal(a.renderings.length, 1, 'it renders by itself');

  await machine.deliverAll();
  t.equal(machine.renderings.length, 2, 'the documented second leader');
  a.renderings[0]?.finish();
  await machine.deliverAll();
  t.same(await wanted, imageOf('k'));
  t.equal(machine.coalescer.size, 1, 'the other render continues');
  b.renderings[0]?.finish();
  await machine.deliverAll();
  t.same(await other, imageOf('k'));
  t.equal(machine.coalescer.size, 0);
  for (const one of machine.frontEnds) t.equal(await machine.openJoins(one), 0);
});

t.test('a process that leads without a reply leaves no retained render', async (t) => {
  const tick = stopTimers(t);
  const machine = new Machine(2);
  const [a, b] = [machine.frontEnd(0), machine.frontEnd(1)];
  const leaving = new AbortController();
  b.get('k', leaving.signal).catch(() => {});
  await machine.deliverAll();
  const wanted = a.get('k');
  tick(3_000);
  await machine.deliverAll();
  a.renderings[0]?.finish();
  await machine.deliverAll();
  await wanted;
  leaving.abort();
  await machine.deliverAll();
  t.equal(machine.renderings.length, 0);
  t.equal(machine.coalescer.size, 0);
});

t.test('a follower waits without a limit after the reply of the primary', async (t) => {
  const tick = stopTimers(t);
  const machine = new Machine(2);
  const waiting: Promise<unknown>[] = [];
  for (const one of machine.frontEnds) {
    waiting.push(one.get('k'));
    await machine.deliverAll();
  }
  tick(60_000);
  await machine.deliverAll();
  t.equal(machine.renderings.length, 1);
  machine.renderings[0]?.finish();
  await machine.deliverAll();
  t.same(await Promise.all(waiting), [imageOf('k'), imageOf('k')]);
});
