import { resolve } from 'node:path';
import { adminCommand } from '../contract/launch-command.ts';
import { ForeignFolder } from './embedded/endpoint.ts';
import { FolderHeld } from './embedded/lock.ts';
import { toBackupFile } from './embedded/storage/backup.ts';
import { readBackupTime } from './embedded/storage/backup-time.ts';
import { DataFileDamaged } from './embedded/storage/file-check.ts';
import { StoreUnavailable, StoreUrlInvalid } from './outage.ts';

/** Explains in one sentence why the store did not open; returns null for an unexpected error. */
export async function openErrorText(error: unknown, dataDir: string): Promise<string | null> {
  if (error instanceof FolderHeld) {
    return `The data folder ${resolve(dataDir)} (SERVICE_DATA_DIR) belongs to process ${error.pid}, which is running: stop that service, or choose another folder for this one (--data-dir).`;
  }
  if (error instanceof DataFileDamaged) return damageText(error);
  if (error instanceof ForeignFolder) return `The store cannot be opened: ${error.message}.`;
  if (error instanceof StoreUrlInvalid || error instanceof StoreUnavailable) return error.message;
  return folderErrorText(error, dataDir);
}

async function damageText({ file, message }: DataFileDamaged): Promise<string> {
  const time = await readBackupTime(toBackupFile(file)).catch(() => undefined);
  const advice =
    time === undefined
      ? 'There is no backup of it; without the file the store starts empty'
      : `Its backup${time === null ? '' : ` of ${time.toISOString()}`} can be put in its place: ${adminCommand('store restore')}`;
  return `The store cannot be opened: ${message}. ${advice}.`;
}

const user = process.getuid === undefined ? 'user' : `user ${process.getuid()} of this process`;

const folderCauses: Readonly<Record<string, string>> = {
  EROFS: 'its file system is read-only',
  EACCES: `the ${user} has no permission there`,
  EPERM: `the ${user} has no permission there`,
  ENOTDIR: 'a part of its path is a file',
  EEXIST: 'there is a file with this name',
  EISDIR: 'there is a folder with this name',
  ENOENT: 'its path does not exist',
  ELOOP: 'its path has circular symbolic links',
  ENAMETOOLONG: 'its path is too long',
  ENOSPC: 'the disk is full',
  EDQUOT: "the user's quota of the disk is used up",
  ENOTSUP: 'its file system has no Unix sockets',
  EMFILE: 'this process has too many open files',
};

/** Describes a file system error in one sentence with the data folder; null for other errors. */
export function folderErrorText(error: unknown, dataDir: string): string | null {
  const { code, path } = error as NodeJS.ErrnoException;
  const cause = folderCauses[String(code)];
  if (cause === undefined) return null;
  const at = path === undefined || path === resolve(dataDir) ? '' : ` at ${path}`;
  return `The data folder ${resolve(dataDir)} (SERVICE_DATA_DIR) cannot be used: ${cause} (${code}${at}).`;
}
