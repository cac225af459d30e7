import { existsSync } from 'node:fs';
import { chmod, rename, rm, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { runningStoreUrl } from './embedded/lock.ts';
import { toDataFile } from './embedded/server.ts';
import { writeBackupTime } from './embedded/storage/backup-time.ts';
import { checkDataFile, DataFileDamaged } from './embedded/storage/file-check.ts';
import { copyDataFile } from './embedded/storage/journal.ts';
import { syncPath } from './embedded/storage/sync-path.ts';

/**
 * The file exists, the store does not, the store is damaged, or the file system returned an error.
 */
export class BackupFailed extends Error {
  override readonly name = 'BackupFailed';

  constructor(reason: string, cause?: unknown) {
    super(`No backup was made: ${reason}.`, { cause });
  }
}

/**
 * Writes a consistent snapshot of an embedded store to a new file with mode 0600, even while a
 * service uses the store.
 * @param folder as given to `startEmbeddedStore`
 * @returns the file size in bytes
 * @throws {BackupFailed}
 */
export async function backUpToFile(folder: string, path: string): Promise<number> {
  const file = resolve(path);
  const source = toDataFile(folder);
  if (existsSync(file)) throw new BackupFailed(`${file} exists already`);
  if (!existsSync(source)) throw new BackupFailed(`there is no store in ${resolve(folder)}`);
  const temporary = `${file}.new`;
  const mask = process.umask(0o077);
  try {
    // A running service has checked its file.
    if ((await runningStoreUrl(folder)) === null) checkDataFile(source);
    const time = new Date();
    await copyDataFile(source, temporary);
    await writeBackupTime(temporary, time);
    checkDataFile(temporary);
    await chmod(temporary, 0o600);
    syncPath(temporary);
    await rename(temporary, file);
    return (await stat(file)).size;
  } catch (error) {
    await rm(temporary, { force: true });
    const { code, message } = error as NodeJS.ErrnoException;
    const isExpected = error instanceof DataFileDamaged || code !== undefined;
    throw isExpected ? new BackupFailed(message, error) : error;
  } finally {
    process.umask(mask);
  }
}
