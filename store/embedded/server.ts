import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { isSource, openThread, programUrl } from '../../contract/package.ts';
import { makePrivateFolder } from '../make-folder.ts';
import {
  prepareSocket,
  privateFolderPath,
  removeSocketFolder,
  socketPath,
  toStoreUrl,
} from './endpoint.ts';
import { takeLock } from './lock.ts';
import { backupFilePath, DataFileDamaged, oldFormatReason } from './storage/log-file.ts';
import type { BackupTimes, OwnerMessage, ThreadData, ThreadMessage } from './thread.ts';

/** The data file of versions before the first release. */
const oldDataFile = 'documents.lmdb';

export const dataFileIn = (privateFolder: string): string => join(privateFolder, 'documents.log');

/** The data file of a store. @param folder as given to `startEmbeddedStore` */
export const dataFilePath = (folder: string): string => dataFileIn(privateFolderPath(folder));

/** Whether a data folder contains a store, or its backup. */
export function hasEmbeddedStore(folder: string): boolean {
  const file = dataFilePath(folder);
  return existsSync(file) || existsSync(backupFilePath(file));
}

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
 * @throws {DataDirLockedError} if a process, including this process, owns the folder
 * @throws {DataFileDamaged}
 * @throws a file system error, such as EACCES, or ENOSPC if a new store does not fit
 */
export async function startEmbeddedStore(
  folder: string,
  options: EmbeddedStoreOptions = {},
): Promise<EmbeddedStore> {
  const privateFolder = privateFolderPath(folder);
  await makePrivateFolder(privateFolder);
  const lock = await takeLock(privateFolder);
  const socket = socketPath(privateFolder, lock.folder);
  const cleanUp = async () => {
    await removeSocketFolder(socket, lock.folder);
    await lock.release();
  };
  const file = dataFileIn(privateFolder);
  try {
    if (existsSync(file)) await (await open(file, 'r+')).close();
    else if (existsSync(backupFilePath(file))) throw new DataFileDamaged(file, 'it is missing');
    else if (existsSync(join(privateFolder, oldDataFile))) {
      throw new DataFileDamaged(join(privateFolder, oldDataFile), oldFormatReason);
    }
    await prepareSocket(socket, privateFolder);
  } catch (error) {
    await lock.release();
    throw error;
  }
  const data = { file, socket, backupTimes: options.backupTimes };
  return startThread(data, cleanUp, options.onBackupFailure ?? (() => {}));
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
  const ended = new Promise<Error>((settle) => {
    thread.once('exit', (code) => {
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
