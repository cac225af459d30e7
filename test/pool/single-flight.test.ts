import t from 'tap';
import { SingleFlight } from '../../pool/single-flight.ts';

/** Returns work that the test settles, with the signals of its runs. */
function manual() {
  let settle = { resolve: (_: string) => {}, reject: (_: unknown) => {} };
  const signals: AbortSignal[] = [];
  const work = (signal: AbortSignal) => {
    signals.push(signal);
    return new Promise<string>((resolve, reject) => {
      settle = { resolve, reject };
    });
  };
  return {
    work,
    signals,
    resolve: (value: string) => settle.resolve(value),
    reject: (error: unknown) => settle.reject(error),
  };
}

/** Calls of `manual` work. */
function open() {
  return { calls: new SingleFlight<string, string>(), source: manual() };
}

const caught = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);

t.test("shares a single run and its value among a key's callers", async (t) => {
  const { calls, source } = open();
  const joined = [1, 2, 3].map(() => calls.run('a', source.work));
  const other = calls.run('b', async () => 'other');
  t.equal(source.signals.length, 1, 'the work starts before `run` returns');
  t.equal(calls.size, 2);
  source.resolve('value');
  t.same(await Promise.all([...joined, other]), ['value', 'value', 'value', 'other']);
  t.equal(calls.size, 0);
  t.equal(await calls.run('a', async () => 'again'), 'again');
});

t.test('rejects all callers on a failure, and frees the key first', async (t) => {
  const { calls, source } = open();
  const failure = new Error('no');
  const joined = [1, 2].map(() =>
    calls.run('a', source.work).catch((error: unknown) => [error, calls.size]),
  );
  source.reject(failure);
  t.same(await Promise.all(joined), [
    [failure, 0],
    [failure, 0],
  ]);
  const thrown = calls.run('a', () => {
    throw failure;
  });
  await t.rejects(thrown, failure, 'a synchronous throw is a rejection');
  t.equal(calls.size, 0);
});

t.test('rejects only the aborted caller', async (t) => {
  const { calls, source } = open();
  const leaving = new AbortController();
  const left = calls.run('a', source.work, leaving.signal);
  const other = new AbortController();
  const stayed = calls.run('a', source.work, other.signal);
  const reason = new Error('gone');
  leaving.abort(reason);
  t.equal(await caught(left), reason);
  source.resolve('done');
  t.equal(await stayed, 'done');
  other.abort();
  t.equal(source.signals[0]?.aborted, false, 'also after the end');
});

t.test('aborts the work with its last caller, and restarts it for the next', async (t) => {
  const { calls, source } = open();
  const leaving = [new AbortController(), new AbortController()];
  const left = leaving.map(({ signal }) => caught(calls.run('a', source.work, signal)));
  for (const controller of leaving) controller.abort(new Error('left'));
  t.equal(source.signals[0]?.aborted, true);
  t.equal(calls.size, 0, 'an aborted call cannot be joined');
  const next = manual();
  const restarted = calls.run('a', next.work);
  source.reject(new Error('nobody waits for this rejection'));
  await Promise.all(left);
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(calls.size, 1, 'the end of the aborted call does not remove the new one');
  t.equal(next.signals[0]?.aborted, false);
  next.resolve('new');
  t.equal(await restarted, 'new');
});

t.test('starts no work for an aborted signal', async (t) => {
  const { calls, source } = open();
  const reason = new Error('before');
  await t.rejects(calls.run('a', source.work, AbortSignal.abort(reason)), reason);
  t.same([source.signals.length, calls.size], [0, 0]);
});

t.test('keeps the work running for retain, even if all callers leave', async (t) => {
  const { calls, source } = open();
  t.equal(calls.retain('a'), null, 'no call is in progress');
  const controller = new AbortController();
  const left = caught(calls.run('a', source.work, controller.signal));
  const releases = [calls.retain('a'), calls.retain('a')];
  controller.abort();
  await left;
  releases[0]?.();
  releases[0]?.();
  t.equal(source.signals[0]?.aborted, false, 'a second release has no effect');
  releases[1]?.();
  t.equal(source.signals[0]?.aborted, true);
  t.equal(calls.size, 0);

  const joined = calls.run('b', async () => 'done');
  const release = calls.retain('b');
  t.equal(await joined, 'done');
  t.doesNotThrow(() => release?.(), 'after the end');
});
