import { existsSync } from 'node:fs';
import { chmod, chown, copyFile, open, rename, rm, stat, unlink } from 'node:fs/promises';
import { privateFolderOf, socketPath } from './embedded/endpoint.ts';
import { hasCode } from './embedded/holder.ts';
import { takeLock } from './embedded/lock.ts';
import { dataFileIn, lockFileOf } from './embedded/server.ts';
import { backupOf } from './embedded/storage/backup.ts';
import { checkDataFile, type DataFileDamaged } from './embedded/storage/file-check.ts';

/** There is no copy to go back to. */
export class BackupMissing extends Error {
  override readonly name = 'BackupMissing';
}

export interface Restored {
  /** When the copy was made: what was written later is lost. */
  readonly copiedAt: Date;
  /** Where the replaced data file is now, or null if there was none. */
  readonly replaced: string | null;
}

/**
 * Puts the last backup of an embedded store in the place of its data file, which is kept under another
 * name, as is the backup. It has the owner and the mode of the replaced file, or else of the backup: whoever
 * restores it may not be the user of the service. When it fails, the data file stays as it is.
 *
 * @param folder as given to `startEmbeddedStore`
 * @throws {BackupMissing}
 * @throws {FolderHeld} while a service uses the store
 * @throws {DataFileDamaged} when the backup is damaged
 * @throws an error of the file system
 */
export async function restoreBackup(folder: string, now = new Date()): Promise<Restored> {
  const privateFolder = privateFolderOf(folder);
  const file = dataFileIn(privateFolder);
  const backup = backupOf(file);
  const temporary = `${file}.new`;
  if (!existsSync(backup)) throw new BackupMissing(`there is no backup ${backup}`);
  const lock = await takeLock(privateFolder, socketPath(privateFolder));
  try {
    checkDataFile(backup);
    const { mtime } = await stat(backup);
    const replaced = existsSync(file) ? `${file}.${now.toISOString().replaceAll(':', '-')}` : null;
    try {
      await copySynced(backup, temporary, replaced === null ? backup : file);
      // It belongs to the replaced file; lmdb creates it anew.
      await unlink(lockFileOf(file)).catch((error) => {
        if (!hasCode(error, 'ENOENT')) throw error;
      });
      if (replaced !== null) await rename(file, replaced);
      await rename(temporary, file);
    } catch (error) {
      if (replaced !== null && !existsSync(file)) await rename(replaced, file);
      throw error;
    }
    return { copiedAt: mtime, replaced };
  } finally {
    await rm(temporary, { force: true });
    await lock.release();
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
  // Others cannot give a file away.
  if (process.getuid?.() === 0) await chown(to, uid, gid);
  await chmod(to, mode & 0o777);
}

/** A sentence for the operator: what is wrong, and what can be done. */
export async function damageInWords({ file, message }: DataFileDamaged): Promise<string> {
  const copied = await stat(backupOf(file)).catch(() => null);
  const advice =
    copied === null
      ? 'There is no backup of it; without the file the store starts empty'
      : `Its backup of ${copied.mtime.toISOString()} can be put in its place: npm run admin -- store restore`;
  return `The store cannot be opened: ${message}. ${advice}.`;
}
