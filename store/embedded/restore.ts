import { existsSync } from 'node:fs';
import { copyFile, open, rename, rm, stat } from 'node:fs/promises';
import { privateFolderOf, socketPath } from './endpoint.ts';
import { takeLock } from './lock.ts';
import { dataFileIn } from './server.ts';
import { backupOf } from './storage/backup.ts';
import { checkDataFile, type DataFileDamaged } from './storage/file-check.ts';

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
 * name, as is the backup.
 *
 * @param folder as given to `startEmbeddedStore`
 * @throws {BackupMissing}
 * @throws {FolderHeld} while a service uses the store
 * @throws {DataFileDamaged} when the backup is damaged
 */
export async function restoreBackup(folder: string, now = new Date()): Promise<Restored> {
  const privateFolder = privateFolderOf(folder);
  const file = dataFileIn(privateFolder);
  const backup = backupOf(file);
  if (!existsSync(backup)) throw new BackupMissing(`there is no backup ${backup}`);
  const lock = await takeLock(privateFolder, socketPath(privateFolder));
  try {
    checkDataFile(backup);
    const { mtime } = await stat(backup);
    const temporary = `${file}.new`;
    await copyFile(backup, temporary);
    const copy = await open(temporary, 'r+');
    await copy.sync();
    await copy.close();
    const replaced = existsSync(file) ? `${file}.${now.toISOString().replaceAll(':', '-')}` : null;
    if (replaced !== null) await rename(file, replaced);
    await rename(temporary, file);
    // It belongs to the replaced file; lmdb creates it anew.
    await rm(`${file}-lock`, { force: true });
    return { copiedAt: mtime, replaced };
  } finally {
    await lock.release();
  }
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
