import t, { type Test } from 'tap';
import { ServiceError } from '../../../contract/errors.ts';
import { stopTimers } from '../../clock.ts';
import { createImage, Machine, type Rendering, settle } from './machine.ts';

/** Returns a machine with front ends that requested `k` in turn, so the first front end leads. */
async function requested(count: number, signals: readonly (AbortSignal | undefined)[] = []) {
  const machine = new Machine(count);
  const responses: Promise<unknown>[] = [];
  for (const [index, frontEnd] of machine.frontEnds.entries()) {
    responses.push(frontEnd.get('k', signals[index]).catch((error: unknown) => error));
    await machine.deliverAll();
  }
  return { machine, responses };
}

function onlyRendering({ renderings }: Machine): Rendering {
  const [first, second] = renderings;
  if (first === undefined || second !== undefined) {
    throw new Error(`${renderings.length} renders are in progress, not one`);
  }
  return first;
}

/** Ends the only render, with an error if given. */
async function finish(machine: Machine, error?: ServiceError): Promise<void> {
  onlyRendering(machine).finish(error);
  await machine.deliverAll();
}

async function assertIdle(t: Test, machine: Machine): Promise<void> {
  t.equal(machine.coalescer.size, 0);
  t.same(machine.renderings, []);
  for (const task of machine.running) t.equal(await machine.openJoins(task), 0);
}

t.test('renders a key once per machine for all participants', async (t) => {
  const { machine, responses } = await requested(3);
  responses.push(machine.frontEnd(1).get('k'));
  await machine.deliverAll();
  await finish(machine);
  for (const image of await Promise.all(responses)) t.same(image, createImage('k'));
  await assertIdle(t, machine);
});

t.test("passes the render's error to all participants", async (t) => {
  const { machine, responses } = await requested(3);
  await finish(machine, new ServiceError('source_not_found', 'It is not there.'));
  for (const error of await Promise.all(responses)) {
    t.match(error, { code: 'source_not_found', message: 'It is not there.' });
    t.ok(error instanceof ServiceError);
  }
  await assertIdle(t, machine);
});

t.test('makes a follower lead when the leader rejects the render as overloaded', async (t) => {
  const { machine, responses } = await requested(3);
  await finish(machine, new ServiceError('overloaded', 'Too much to do.'));
  t.equal(onlyRendering(machine).frontEnd, 1, 'the one that waited longest');
  await finish(machine);
  t.match(await responses[0], { code: 'overloaded' });
  for (const image of await Promise.all(responses.slice(1))) t.same(image, createImage('k'));
});

t.test(
  "finishes a leading front end's render for its followers after its own client disconnects",
  async (t) => {
    const left = new AbortController();
    const { machine, responses } = await requested(2, [left.signal]);
    left.abort(new Error('the client left'));
    await machine.deliverAll();
    t.match(await responses[0], { message: 'the client left' });
    t.equal(onlyRendering(machine).frontEnd, 0);
    await finish(machine);
    t.same(await responses[1], createImage('k'));
    await assertIdle(t, machine);
  },
);

t.test('makes a new leader render for the remaining followers', async (t) => {
  const left = new AbortController();
  const { machine, responses } = await requested(3, [undefined, left.signal]);
  machine.kill(machine.frontEnd(0));
  await machine.deliverAll();
  left.abort();
  await machine.deliverAll();
  t.equal(onlyRendering(machine).frontEnd, 1);
  await finish(machine);
  t.same(await responses[2], createImage('k'));
});

t.test('cancels the render when the last participant leaves', async (t) => {
  const controllers = [new AbortController(), new AbortController()];
  const { machine } = await requested(
    2,
    controllers.map(({ signal }) => signal),
  );
  for (const [index, controller] of controllers.entries()) {
    t.equal(machine.renderings.length, 1, `${index} have left`);
    controller.abort();
    await machine.deliverAll();
  }
  await assertIdle(t, machine);
});

t.test('sends no message for an aborted signal', async (t) => {
  const { coalescer, toPrimary } = new Machine(1).frontEnd(0);
  const reason = new Error('gone');
  const participant = { live: true, retain: () => null, promote: () => {} };
  await t.rejects(
    coalescer.join('k', { ...participant, signal: AbortSignal.abort(reason) }),
    reason,
  );
  t.same(toPrimary, []);
});

t.test('sends the image only to processes that wait for it', async (t) => {
  for (const frontEnds of [1, 2]) {
    const { machine } = await requested(frontEnds);
    const { toPrimary } = machine.frontEnd(0);
    const sent: unknown[] = [];
    const push = toPrimary.push.bind(toPrimary);
    toPrimary.push = (...messages) => {
      sent.push(...messages);
      return push(...messages);
    };
    await finish(machine);
    t.equal(JSON.stringify(sent).includes('image/png'), frontEnds === 2);
  }
});

t.test('informs a leader whether another front end might have stored the image', async (t) => {
  const machine = new Machine(3);
  const [a, b, c] = [machine.frontEnd(0), machine.frontEnd(1), machine.frontEnd(2)];
  const first = a.get('k');
  await machine.deliverAll();
  t.same(a.mayBeStored, [false], 'no cache had it');
  await finish(machine);
  t.same(await first, createImage('k'));
  const second = b.get('k');
  c.get('l').catch(() => {});
  await machine.deliverAll();
  t.same(b.mayBeStored, [true], 'it may have read the cache before the image was stored');
  t.same(c.mayBeStored, [false]);
  const third = a.get('l');
  await machine.deliverAll();
  machine.kill(c);
  await machine.deliverAll();
  t.same(a.mayBeStored, [false, true], 'the leader may have died after it had stored the image');
  for (const rendering of machine.renderings) rendering.finish();
  await machine.deliverAll();
  t.same(await Promise.all([second, third]), [createImage('k'), createImage('l')]);
});

t.test('informs a later leader of an image that others waited for', async (t) => {
  const { machine, responses } = await requested(2);
  await finish(machine);
  await Promise.all(responses);
  const later = machine.frontEnd(1).get('k');
  await machine.deliverAll();
  t.same(machine.frontEnd(1).mayBeStored, [true]);
  await finish(machine);
  t.same(await later, createImage('k'));
});

t.test('continues requests while the primary stays silent', async (t) => {
  const tick = stopTimers(t);
  const machine = new Machine(2);
  const [a, b] = [machine.frontEnd(0), machine.frontEnd(1)];
  const other = b.get('k');
  await machine.deliverAll();
  const response = a.get('k');
  tick(1_000);
  await settle();
  t.equal(a.renderings.length, 0);
  tick(2_000);
  await settle();
  t.equal(a.renderings.length, 1, 'it renders by itself');

  await machine.deliverAll();
  t.equal(machine.renderings.length, 2);
  a.renderings[0]?.finish();
  await machine.deliverAll();
  t.same(await response, createImage('k'));
  t.equal(machine.coalescer.size, 1, 'the other render continues');
  await finish(machine);
  t.same(await other, createImage('k'));
  await assertIdle(t, machine);
});

t.test('retains no render for others if it leads before a reply', async (t) => {
  const tick = stopTimers(t);
  const machine = new Machine(2);
  const [a, b] = [machine.frontEnd(0), machine.frontEnd(1)];
  const left = new AbortController();
  b.get('k', left.signal).catch(() => {});
  await machine.deliverAll();
  const response = a.get('k');
  tick(3_000);
  await machine.deliverAll();
  a.renderings[0]?.finish();
  await machine.deliverAll();
  await response;
  left.abort();
  await machine.deliverAll();
  await assertIdle(t, machine);
});

t.test("waits indefinitely after the primary's reply", async (t) => {
  const tick = stopTimers(t);
  const { machine, responses } = await requested(2);
  tick(60_000);
  await machine.deliverAll();
  await finish(machine);
  t.same(await Promise.all(responses), [createImage('k'), createImage('k')]);
});
