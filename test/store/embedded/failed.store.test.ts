import { subscribe } from 'node:diagnostics_channel';
import type { Worker } from 'node:worker_threads';
import t from 'tap';
import { runningStoreUrl } from '../../../store/embedded/lock.ts';
import { startEmbeddedStore } from '../../../store/embedded/server.ts';
import { shortFolder } from './folder.ts';

const threads: Worker[] = [];
subscribe('worker_threads', (message) => {
  if (isThreadMessage(message)) threads.push(message.worker);
});

function isThreadMessage(message: unknown): message is { worker: Worker } {
  return typeof message === 'object' && message !== null && 'worker' in message;
}

t.test('a thread that dies is reported and releases its folder', async (t) => {
  const folder = shortFolder(t);
  const store = await startEmbeddedStore(folder);
  await threads.at(-1)?.terminate();
  t.match(await store.failed, new Error("the embedded store's thread ended with code 1"));
  t.equal(await runningStoreUrl(folder), null);
  await t.resolves(store.close(), 'close still succeeds');
  const again = await startEmbeddedStore(folder);
  await again.close();
});

t.test('closing is not reported as a failure', async (t) => {
  const store = await startEmbeddedStore(shortFolder(t));
  await store.close();
  const waited = new Promise((resolve) => setImmediate(() => resolve('nothing')));
  t.equal(await Promise.race([store.failed, waited]), 'nothing');
});
