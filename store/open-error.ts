import { type Stats, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { adminCommand } from '../contract/package.ts';
import { ForeignFolder } from './embedded/endpoint.ts';
import { DataDirLockedError } from './embedded/lock.ts';
import { backupFilePath, DataFileDamaged, readLog } from './embedded/storage/log-file.ts';
import { StoreUnavailable, StoreUrlInvalid } from './outage.ts';

/** Explains in one sentence why the store did not open; returns null for an unexpected error. */
export function openErrorText(error: unknown, dataDir: string): string | null {
  if (error instanceof DataDirLockedError) {
    return `The data folder ${resolve(dataDir)} (SERVICE_DATA_DIR) belongs to process ${error.pid}, which is running: stop that service, or choose another folder for this one (--data-dir).`;
  }
  if (error instanceof DataFileDamaged) return damageText(error);
  if (error instanceof ForeignFolder) return `The store cannot be opened: ${error.message}.`;
  if (error instanceof StoreUrlInvalid || error instanceof StoreUnavailable) return error.message;
  return folderErrorText(error, dataDir);
}

function damageText({ file, message }: DataFileDamaged): string {
  const backup = backupFilePath(file);
  let advice = 'There is no backup of it; without the file the store starts empty';
  try {
    const { backupTime } = readLog(backup);
    const time = backupTime === null ? '' : ` of ${backupTime.toISOString()}`;
    advice = `Restore its backup${time} (${backup}): ${adminCommand('store restore')}`;
  } catch {
    // The backup is missing or damaged, too.
  }
  return `The store cannot be opened: ${message}. ${advice}.`;
}

const folderCauses: Readonly<Record<string, string>> = {
  EROFS: 'its file system is read-only',
  ENOTDIR: 'a part of its path is a file',
  EEXIST: 'there is a file with this name',
  EISDIR: 'there is a folder with this name',
  ENOENT: 'its path does not exist',
  ELOOP: 'its path has circular symbolic links',
  ENAMETOOLONG: 'its path is too long',
  ENOSPC: 'the disk is full',
  EDQUOT: "the user's disk quota is exhausted",
  EMFILE: 'this process has too many open files',
};

/** Describes a file system error in one sentence with the data folder; null for other errors. */
export function folderErrorText(error: unknown, dataDir: string): string | null {
  const { code, path } = error as NodeJS.ErrnoException;
  const folder = resolve(dataDir);
  const cause =
    code === 'EACCES' || code === 'EPERM'
      ? accessText(path ?? folder, folder)
      : folderCauses[String(code)];
  if (cause === undefined) return null;
  const at = path === undefined || path === folder ? '' : ` at ${path}`;
  return `The data folder ${folder} (SERVICE_DATA_DIR) cannot be used: ${cause} (${code}${at}).`;
}

/** Describes who has access to a file or, if this user cannot see it, to the folder that contains it. */
function accessText(path: string, folder: string): string {
  const [uid, gid] = [process.getuid?.(), process.getgid?.()];
  const found = statOrNull(path);
  if (uid === undefined || (found === null && path === dirname(path))) {
    return 'this user has no permission there';
  }
  if (found === null) return accessText(dirname(path), folder);
  const mode = (found.mode & 0o7777).toString(8);
  return `user ${uid} with group ${gid} has no permission, because ${path} belongs to user ${found.uid} and group ${found.gid} with mode ${mode}; run "chown -R ${uid}:${gid} ${folder}" as root, or start the service as user ${found.uid}`;
}

function statOrNull(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}
