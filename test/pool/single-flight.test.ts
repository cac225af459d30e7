import t from 'tap';
import { SingleFlight } from '../../pool/single-flight.ts';

/** A work whose end the test decides. */
function manual<V>() {
  let runs = 0;
  let resolve: (value: V) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const signals: AbortSignal[] = [];
  return {
    work: (signal: AbortSignal) => {
      runs += 1;
      signals.push(signal);
      return new Promise<V>((yes, no) => {
        resolve = yes;
        reject = no;
      });
    },
    resolve: (value: V) => resolve(value),
    reject: (error: unknown) => reject(error),
    runs: () => runs,
    signal: (run: number) => signals[run],
  };
}

t.test('callers of a key share one run and its value', async (t) => {
  const calls = new SingleFlight<string, object>();
  const source = manual<object>();
  const joined = [1, 2, 3].map(() => calls.run('a', source.work));
  t.equal(source.runs(), 1, 'the work starts before join returns');
  t.equal(calls.size, 1);
  const value = {};
  source.resolve(value);
  for (const result of await Promise.all(joined)) t.equal(result, value);
  t.equal(calls.size, 0);
});

t.test('keys are independent, and a settled key starts again', async (t) => {
  const calls = new SingleFlight<string, string>();
  let runs = 0;
  const work = async () => String(++runs);
  t.same(await Promise.all([calls.run('a', work), calls.run('b', work)]), ['1', '2']);
  t.equal(await calls.run('a', work), '3');
});

t.test('a failure rejects all callers and frees the key at once', async (t) => {
  const calls = new SingleFlight<string, string>();
  const source = manual<string>();
  const failure = new Error('no');
  const sizes: number[] = [];
  const joined = [1, 2].map(() =>
    calls.run('a', source.work).catch((error: unknown) => {
      sizes.push(calls.size);
      return error;
    }),
  );
  source.reject(failure);
  t.same(await Promise.all(joined), [failure, failure]);
  t.same(sizes, [0, 0]);
});

t.test('a synchronous throw is a rejection', async (t) => {
  const calls = new SingleFlight<string, string>();
  const joined = calls.run('a', () => {
    throw new Error('at once');
  });
  await t.rejects(joined, { message: 'at once' });
  t.equal(calls.size, 0);
});

t.test('an abort rejects its caller at once and not the others', async (t) => {
  const calls = new SingleFlight<string, string>();
  const source = manual<string>();
  const leaving = new AbortController();
  const left = calls.run('a', source.work, leaving.signal);
  const stayed = calls.run('a', source.work, new AbortController().signal);
  const reason = new Error('gone');
  leaving.abort(reason);
  t.equal(await left.catch((error: unknown) => error), reason);
  t.equal(source.signal(0)?.aborted, false);
  source.resolve('done');
  t.equal(await stayed, 'done');
});

t.test('the last abort aborts the work, and the next caller starts it again', async (t) => {
  const calls = new SingleFlight<string, string>();
  const source = manual<string>();
  const one = new AbortController();
  const two = new AbortController();
  const left = [
    calls.run('a', source.work, one.signal),
    calls.run('a', source.work, two.signal),
  ].map((joined) => joined.catch((error: unknown) => error));
  one.abort(new Error('one'));
  two.abort(new Error('two'));
  t.equal(source.signal(0)?.aborted, true);
  t.equal(calls.size, 0, 'the doomed call cannot be joined');
  const settleFirst = source.reject;
  const rejectFirst = manual<string>();
  const next = calls.run('a', rejectFirst.work);
  t.equal(calls.size, 1);
  settleFirst(new Error('aborted'));
  await Promise.all(left);
  t.equal(calls.size, 1, 'the old call landing does not remove the new one');
  t.equal(rejectFirst.signal(0)?.aborted, false);
  rejectFirst.resolve('fresh');
  t.equal(await next, 'fresh');
});

t.test('an aborted signal starts and joins nothing', async (t) => {
  const calls = new SingleFlight<string, string>();
  const source = manual<string>();
  const reason = new Error('before');
  await t.rejects(calls.run('a', source.work, AbortSignal.abort(reason)), reason);
  t.equal(source.runs(), 0);
  t.equal(calls.size, 0);
});

t.test('an abort after the end has no effect', async (t) => {
  const calls = new SingleFlight<string, string>();
  const source = manual<string>();
  const controller = new AbortController();
  const joined = calls.run('a', source.work, controller.signal);
  source.resolve('done');
  t.equal(await joined, 'done');
  controller.abort();
  t.equal(source.signal(0)?.aborted, false);
});

t.test('a late failure after an abort is not an unhandled rejection', async (t) => {
  const calls = new SingleFlight<string, string>();
  const source = manual<string>();
  const controller = new AbortController();
  const joined = calls.run('a', source.work, controller.signal);
  controller.abort(new Error('left'));
  await t.rejects(joined, { message: 'left' });
  source.reject(new Error('nobody hears this'));
  await new Promise((resolve) => setImmediate(resolve));
  t.pass('still here');
});

t.test('retain keeps the work running without callers', async (t) => {
  const calls = new SingleFlight<string, string>();
  t.equal(calls.retain('a'), null, 'nothing to hold');
  const source = manual<string>();
  const controller = new AbortController();
  const left = calls.run('a', source.work, controller.signal);
  const release = calls.retain('a');
  const other = calls.retain('a');
  controller.abort(new Error('left'));
  await t.rejects(left, { message: 'left' });
  t.equal(source.signal(0)?.aborted, false);
  release?.();
  release?.();
  t.equal(source.signal(0)?.aborted, false, 'letting go twice counts once');
  other?.();
  t.equal(source.signal(0)?.aborted, true);
  t.equal(calls.size, 0);
});

t.test('retain may be released after the end', async (t) => {
  const calls = new SingleFlight<string, string>();
  const source = manual<string>();
  const joined = calls.run('a', source.work);
  const release = calls.retain('a');
  source.resolve('done');
  t.equal(await joined, 'done');
  release?.();
  t.equal(source.signal(0)?.aborted, false);
});
