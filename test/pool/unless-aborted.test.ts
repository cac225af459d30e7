import t from 'tap';
import { unlessAborted } from '../../pool/unless-aborted.ts';

/** Aborts a number of microtasks after the promise has settled; negative: before. */
async function abortedAfter(turns: number) {
  const controller = new AbortController();
  let aborts = 0;
  let resolve = (_: string) => {};
  const promise = new Promise<string>((settle) => {
    resolve = settle;
  });
  const result = unlessAborted(promise, controller.signal, () => {
    aborts += 1;
  }).catch((error: unknown) => error);
  if (turns < 0) controller.abort('left');
  resolve('value');
  for (let turn = 0; turn < turns; turn += 1) await null;
  controller.abort('left');
  return [await result, aborts];
}

t.test('returns either the value or the reason, whenever the signal aborts', async (t) => {
  for (const turns of [-1, 0]) t.same(await abortedAfter(turns), ['left', 1], `${turns} turns`);
  for (const turns of [1, 2, 3, 4])
    t.same(await abortedAfter(turns), ['value', 0], `${turns} turns`);
});

t.test(
  'rejects with the reason of a signal that has aborted, and ignores the result',
  async (t) => {
    const failed = Promise.reject(new Error('too late'));
    await t.rejects(unlessAborted(failed, AbortSignal.abort(new Error('left'))), /left/);
  },
);

t.test('settles like the promise if the signal does not abort', async (t) => {
  const { signal } = new AbortController();
  const unexpected = () => t.fail('the signal did not abort');
  t.equal(await unlessAborted(Promise.resolve(1), signal, unexpected), 1);
  const failed = Promise.reject(new Error('failed'));
  await t.rejects(unlessAborted(failed, signal, unexpected), /failed/);
});
