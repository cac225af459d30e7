import { subscribe } from 'node:diagnostics_channel';
import type { Worker } from 'node:worker_threads';
import t from 'tap';
import { runningStoreUrl } from '../../../store/embedded/lock.ts';
import { startEmbeddedStore } from '../../../store/embedded/server.ts';
import { shortFolder } from './stores.ts';

const threads: Worker[] = [];
subscribe('worker_threads', (message) => threads.push((message as { worker: Worker }).worker));

t.test('reports a dead thread and releases its folder', async (t) => {
  const folder = shortFolder(t);
  const store = await startEmbeddedStore(folder);
  await threads.at(-1)?.terminate();
  t.match(await store.failed, new Error("the embedded store's thread ended with code 1"));
  t.equal(await runningStoreUrl(folder), null);
  await t.resolves(store.close(), 'close still succeeds');
  const again = await startEmbeddedStore(folder);
  await again.close();
  const settled = Promise.race([again.failed, new Promise((resolve) => setImmediate(resolve))]);
  t.equal(await settled, undefined, 'closing is not reported as a failure');
});
