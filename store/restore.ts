import { existsSync } from 'node:fs';
import { chmod, chown, copyFile, open, rename, rm, stat, unlink } from 'node:fs/promises';
import { resolve } from 'node:path';
import { privateFolderOf, socketPath } from './embedded/endpoint.ts';
import { hasCode } from './embedded/holder.ts';
import { FolderHeld, takeLock } from './embedded/lock.ts';
import { dataFileIn, lockFileOf } from './embedded/server.ts';
import { backupOf } from './embedded/storage/backup.ts';
import { readBackupTime } from './embedded/storage/backup-time.ts';
import { checkDataFile, DataFileDamaged } from './embedded/storage/file-check.ts';
import { folderErrorText } from './open-error.ts';

/** There is no backup, it is damaged, the store is in use, or the file system returned an error. */
export class RestoreFailed extends Error {
  override readonly name = 'RestoreFailed';

  constructor(reason: string, cause?: unknown) {
    super(`The backup was not restored: ${reason}`, { cause });
  }
}

export interface Restored {
  /** The time of the backup's data; null for a backup of an earlier version, which does not contain it. */
  readonly dataOf: Date | null;
  /** Path of the replaced data file; null if there was none. */
  readonly replaced: string | null;
}

/**
 * Replaces the data file of an embedded store by a copy of a backup; the replaced file gets another
 * name. The new file has the owner and mode of the replaced file, or else of the backup, because the user
 * who restores it may not be the user of the service. After an error the data file is unchanged.
 * @param folder as given to `startEmbeddedStore`
 * @param given the file of a backup; the one that the service makes by default
 * @throws {RestoreFailed}
 */
export async function restoreBackup(folder: string, given?: string): Promise<Restored> {
  const privateFolder = privateFolderOf(folder);
  const file = dataFileIn(privateFolder);
  const backup = given === undefined ? backupOf(file) : resolve(given);
  if (!existsSync(backup)) throw new RestoreFailed(`there is no backup ${backup}.`);
  try {
    const lock = await takeLock(privateFolder, socketPath(privateFolder));
    try {
      checkDataFile(backup);
      const dataOf = await readBackupTime(backup);
      return { dataOf, replaced: await replaceFile(file, backup) };
    } finally {
      await lock.release();
    }
  } catch (error) {
    const expected = error instanceof FolderHeld || error instanceof DataFileDamaged;
    const reason = expected ? `${error.message}.` : folderErrorText(error, folder);
    throw reason === null ? error : new RestoreFailed(reason, error);
  }
}

/** @returns the new path of the replaced file; null if there was none */
async function replaceFile(file: string, backup: string): Promise<string | null> {
  const replaced = existsSync(file)
    ? `${file}.${new Date().toISOString().replaceAll(':', '-')}`
    : null;
  const temporary = `${file}.new`;
  try {
    await copySynced(backup, temporary, replaced === null ? backup : file);
    // lmdb creates one for the new file.
    await unlink(lockFileOf(file)).catch((error) => {
      if (!hasCode(error, 'ENOENT')) throw error;
    });
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

/** @param like the file whose owner and mode the copy gets */
async function copySynced(from: string, to: string, like: string): Promise<void> {
  const { uid, gid, mode } = await stat(like);
  await copyFile(from, to);
  const copy = await open(to, 'r+');
  try {
    await copy.sync();
  } finally {
    await copy.close();
  }
  // Only root can change the owner.
  if (process.getuid?.() === 0) await chown(to, uid, gid);
  await chmod(to, mode & 0o777);
}
