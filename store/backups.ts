import { existsSync } from 'node:fs';
import { chmod, chown, copyFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { CommandError } from '../contract/errors.ts';
import { privateFolderPath } from './embedded/endpoint.ts';
import { DataDirLockedError, takeLock } from './embedded/lock.ts';
import { dataFileIn, dataFilePath } from './embedded/server.ts';
import {
  backupFilePath,
  copyLog,
  DataFileDamaged,
  readLog,
  syncPath,
} from './embedded/storage/log-file.ts';
import { folderErrorText } from './open-error.ts';

const backupFailed = (reason: string, cause?: unknown): CommandError =>
  new CommandError(`No backup was made: ${reason}.`, { cause });
const restoreFailed = (reason: string, cause?: unknown): CommandError =>
  new CommandError(`The backup was not restored: ${reason}`, { cause });

/**
 * Writes a consistent snapshot of an embedded store to a new file with mode 0600, even while a
 * service uses the store.
 * @param folder as given to `startEmbeddedStore`
 * @returns the file size in bytes
 * @throws {CommandError} if the file exists, the store does not or is damaged, or the disk fails
 */
export async function backUpToFile(folder: string, path: string): Promise<number> {
  const file = resolve(path);
  const source = dataFilePath(folder);
  if (existsSync(file)) throw backupFailed(`${file} exists already`);
  if (!existsSync(source)) throw backupFailed(`there is no store in ${resolve(folder)}`);
  const temporary = `${file}.new`;
  try {
    copyLog(source, temporary);
    await rename(temporary, file);
    syncPath(dirname(file));
    return (await stat(file)).size;
  } catch (error) {
    await rm(temporary, { force: true });
    const { code, message } = error as NodeJS.ErrnoException;
    const isExpected = error instanceof DataFileDamaged || code !== undefined;
    throw isExpected ? backupFailed(message, error) : error;
  }
}

export interface Restored {
  /** Time of the backed-up data; null for a copy of a data file. */
  readonly dataTime: Date | null;
  /** Path of the replaced data file; null if the folder had no data file. */
  readonly replaced: string | null;
}

/**
 * Replaces an embedded store's data file with a copy of a backup, and renames the replaced file.
 * The new file keeps the replaced file's owner and mode, or else the backup's, because the
 * restoring user can differ from the service's user. After an error the data file is unchanged.
 * @param folder as given to `startEmbeddedStore`
 * @param given the backup file; defaults to the service's own backup
 * @throws {CommandError} if the backup is missing or damaged, the store is in use, or the disk fails
 */
export async function restoreBackup(folder: string, given?: string): Promise<Restored> {
  const privateFolder = privateFolderPath(folder);
  const file = dataFileIn(privateFolder);
  const backup = given === undefined ? backupFilePath(file) : resolve(given);
  if (!existsSync(backup)) throw restoreFailed(`there is no backup ${backup}.`);
  try {
    const lock = await takeLock(privateFolder);
    try {
      const { backupTime: dataTime } = readLog(backup);
      return { dataTime, replaced: await replaceFile(file, backup) };
    } finally {
      await lock.release();
    }
  } catch (error) {
    const expected = error instanceof DataDirLockedError || error instanceof DataFileDamaged;
    const reason = expected ? `${error.message}.` : folderErrorText(error, folder);
    throw reason === null ? error : restoreFailed(reason, error);
  }
}

/** @returns the replaced file's new path; null if the folder had no data file */
async function replaceFile(file: string, backup: string): Promise<string | null> {
  const replaced = existsSync(file)
    ? `${file}.${new Date().toISOString().replaceAll(':', '-')}`
    : null;
  const temporary = `${file}.new`;
  try {
    await copySynced(backup, temporary, replaced === null ? backup : file);
    if (replaced !== null) await rename(file, replaced);
    await rename(temporary, file);
    return replaced;
  } catch (error) {
    if (replaced !== null && !existsSync(file)) await rename(replaced, file);
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** @param like the file to copy owner and mode from */
async function copySynced(from: string, to: string, like: string): Promise<void> {
  const { uid, gid, mode } = await stat(like);
  await copyFile(from, to);
  syncPath(to);
  // Only root can change the owner.
  if (process.getuid?.() === 0) await chown(to, uid, gid);
  await chmod(to, mode & 0o777);
}
