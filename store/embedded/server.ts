import { existsSync } from 'node:fs';
import { open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { isSource, openThread, programUrl } from '../../contract/own-files.ts';
import {
  makePrivateFolder,
  prepareSocket,
  removeSocketFolder,
  socketPath,
  toPrivateFolder,
  toStoreUrl,
} from './endpoint.ts';
import { takeLock } from './lock.ts';
import { type BackupTimes, toBackupFile } from './storage/backup.ts';
import { checkDataFile, DataFileDamaged } from './storage/file-check.ts';
import type { OwnerMessage, ThreadData, ThreadMessage } from './thread.ts';

export const dataFileIn = (privateFolder: string): string => join(privateFolder, 'documents.lmdb');

/** The data file of a store. @param folder as given to `startEmbeddedStore` */
export const toDataFile = (folder: string): string => dataFileIn(toPrivateFolder(folder));

/** Whether a data folder contains a store, or its backup. */
export function hasEmbeddedStore(folder: string): boolean {
  const file = toDataFile(folder);
  return existsSync(file) || existsSync(toBackupFile(file));
}

/** lmdb's own lock file, with the readers of a data file. */
export const toLockFile = (dataFile: string): string => `${dataFile}-lock`;

/** The first pages, the lock file and the first preallocation. */
const newFileBytes = 2 * 2 ** 20;

/** How long the process's exit waits for the thread to leave lmdb, ms. */
const stopWithinMs = 1_000;

export interface EmbeddedStoreOptions {
  /** Runs with the reason after a failed copy of the data file. */
  readonly onBackupFailure?: (reason: string) => void;
  readonly backupTimes?: BackupTimes;
}

export interface EmbeddedStore {
  readonly url: string;
  /** Stops listening, flushes, releases the lock. */
  close(): Promise<void>;
  /** Resolves with the error if the thread exits unexpectedly; otherwise never settles. */
  readonly failed: Promise<Error>;
}

/**
 * Takes the folder's lock and starts the thread; resolves when the thread listens.
 * @param folder created if missing
 * @throws {FolderHeld} if a process, including this process, owns the folder
 * @throws {DataFileDamaged}
 * @throws a file system error, such as EACCES, or ENOSPC if a new store does not fit
 */
export async function startEmbeddedStore(
  folder: string,
  options: EmbeddedStoreOptions = {},
): Promise<EmbeddedStore> {
  const privateFolder = toPrivateFolder(folder);
  const socket = socketPath(privateFolder);
  await makePrivateFolder(privateFolder);
  const lock = await takeLock(privateFolder, socket);
  const cleanUp = async () => {
    await removeSocketFolder(socket, privateFolder);
    await lock.release();
  };
  const file = dataFileIn(privateFolder);
  const isNew = !existsSync(file);
  try {
    await requireWritable(file);
    await requireWritable(toLockFile(file));
    if (!isNew) checkDataFile(file);
    else if (existsSync(toBackupFile(file))) throw new DataFileDamaged(file, 'it is missing');
    else await requireSpace(privateFolder);
    await prepareSocket(socket, privateFolder);
  } catch (error) {
    await lock.release();
    throw error;
  }
  const stopped = new Int32Array(new SharedArrayBuffer(4));
  const data = { file, socket, backupTimes: options.backupTimes, stopped };
  try {
    return await startThread(data, cleanUp, options.onBackupFailure ?? (() => {}));
  } catch (error) {
    // lmdb might have failed to write its first pages; the next start would find a damaged file.
    if (isNew) await rm(file, { force: true });
    throw error;
  }
}

/**
 * lmdb maps its first pages into memory, and a full disk would end the process by a signal.
 * @throws an error with the code ENOSPC
 */
async function requireSpace(folder: string): Promise<void> {
  const { bsize, bavail } = await statfs(folder);
  if (bsize * bavail >= newFileBytes) return;
  throw Object.assign(new Error('the disk is full'), { code: 'ENOSPC', path: folder });
}

/**
 * If a file exists, it must be writable: a signal kills the process if lmdb cannot write its lock
 * file, and its error about the data file would be reported as damage.
 * @throws a file system error
 */
async function requireWritable(path: string): Promise<void> {
  try {
    await (await open(path, 'r+')).close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** @param cleanUp called when the thread has exited */
async function startThread(
  data: ThreadData,
  cleanUp: () => Promise<void>,
  onBackupFailure: (reason: string) => void,
): Promise<EmbeddedStore> {
  // Without the modules that this process preloads.
  const execArgv = isSource ? {} : { execArgv: [] };
  const options = { workerData: data, name: 'embedded-store', ...execArgv };
  const thread = openThread(programUrl('store/embedded/thread'), options);
  let cause: Error | undefined;
  thread.once('error', (error) => {
    cause = error instanceof Error ? error : new Error(String(error));
  });
  const send = (message: OwnerMessage) => thread.postMessage(message);
  // Terminating a thread inside an lmdb transaction aborts the process or hangs.
  const stop = () => {
    send('stop');
    Atomics.wait(data.stopped, 0, 0, stopWithinMs);
  };
  process.once('exit', stop);
  const ended = new Promise<Error>((settle) => {
    thread.once('exit', (code) => {
      process.removeListener('exit', stop);
      settle(cause ?? new Error(`the embedded store's thread ended with code ${code}`));
    });
  }).then(async (error) => {
    await cleanUp();
    return error;
  });
  const listening = new Promise<null>((settle) => {
    thread.on('message', (message: ThreadMessage) => {
      if (message.type === 'listening') settle(null);
      if (message.type === 'unreadable') cause = new DataFileDamaged(data.file, message.reason);
      if (message.type === 'backup-failed') onBackupFailure(message.reason);
    });
  });

  const failure = await Promise.race([listening, ended]);
  if (failure !== null) throw failure;

  let closing: Promise<unknown> | undefined;
  return {
    url: toStoreUrl(data.socket),
    failed: new Promise((settle) => {
      void ended.then((error) => {
        if (closing === undefined) settle(error);
      });
    }),
    async close() {
      if (closing === undefined) {
        send('close');
        closing = ended;
      }
      await closing;
    },
  };
}
