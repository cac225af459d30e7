import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import {
  makePrivateFolder,
  prepareSocket,
  privateFolderOf,
  removeSocketFolder,
  socketPath,
  urlOf,
} from './endpoint.ts';
import { takeLock } from './lock.ts';
import type { ThreadData } from './thread.ts';

const DATA_FILE = 'documents.lmdb';

/** A small server of the MongoDB protocol for this process and those that it tells the URL. */
export interface EmbeddedStore {
  readonly url: string;
  /** Stops listening, flushes, releases the lock. */
  close(): Promise<void>;
  /** Resolves with the error if the thread dies by itself; does not settle otherwise. */
  readonly failed: Promise<Error>;
}

/**
 * Takes the folder's lock, starts the thread, resolves when it listens.
 *
 * @param folder made when it is missing
 * @throws {FolderHeld} when another live process (or this one, earlier) owns the folder
 */
export async function startEmbeddedStore(folder: string): Promise<EmbeddedStore> {
  const home = privateFolderOf(folder);
  const socket = socketPath(home);
  await makePrivateFolder(home);
  const lock = await takeLock(home, socket);
  const leave = async () => {
    await removeSocketFolder(socket, home);
    await lock.release();
  };
  try {
    await prepareSocket(socket, home);
  } catch (error) {
    await lock.release();
    throw error;
  }
  return startThread({ file: join(home, DATA_FILE), socket }, leave);
}

/** @param leave called when the thread has ended, however it did */
async function startThread(data: ThreadData, leave: () => Promise<void>): Promise<EmbeddedStore> {
  const thread = openThread(data);
  let cause: Error | undefined;
  thread.once('error', (error) => {
    cause = error instanceof Error ? error : new Error(String(error));
  });
  const ended = new Promise<Error>((settle) => {
    thread.once('exit', (code) => {
      settle(cause ?? new Error(`the embedded store's thread ended with code ${code}`));
    });
  }).then(async (error) => {
    await leave();
    return error;
  });
  const listening = new Promise<null>((settle) => {
    thread.once('message', () => settle(null));
  });

  const failure = await Promise.race([listening, ended]);
  if (failure !== null) throw failure;

  let closing: Promise<unknown> | undefined;
  return {
    url: urlOf(data.socket),
    failed: new Promise((settle) => {
      void ended.then((error) => {
        if (closing === undefined) settle(error);
      });
    }),
    async close() {
      if (closing === undefined) {
        thread.postMessage('close');
        closing = ended;
      }
      await closing;
    },
  };
}

function openThread(data: ThreadData): Worker {
  const extension = extname(import.meta.url);
  const entry = new URL(`./thread${extension}`, import.meta.url);
  const options = { workerData: data, name: 'embedded-store' };
  if (extension === '.js') return new Worker(entry, options);
  // Run as TypeScript, by a loader that was preloaded: in Node 20 that reaches what a thread
  // requires, and neither its entry file nor what it imports.
  const script = `import { createRequire } from 'node:module';
    createRequire(${JSON.stringify(import.meta.url)})(${JSON.stringify(fileURLToPath(entry))});`;
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(script)}`), options);
}
