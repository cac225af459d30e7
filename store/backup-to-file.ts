import { existsSync } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { dataFilePath } from './embedded/server.ts';
import { copyLog, DataFileDamaged, syncPath } from './embedded/storage/log-file.ts';

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
  const source = dataFilePath(folder);
  if (existsSync(file)) throw new BackupFailed(`${file} exists already`);
  if (!existsSync(source)) throw new BackupFailed(`there is no store in ${resolve(folder)}`);
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
    throw isExpected ? new BackupFailed(message, error) : error;
  }
}
