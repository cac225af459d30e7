import type { BigIntStats } from 'node:fs';
import { constants } from 'node:fs';
import { type FileHandle, open, readlink, realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { partsOfPath } from './path-parts.ts';

/** Also `.` and `..`, and what nobody means to publish, such as `.git` and `.env`. */
export const isHidden = (name: string): boolean => name.startsWith('.');

/** The names that lead from a folder to the file of a URL's path; null for a path that cannot name one. */
export function fileNames(path: string): readonly string[] | null {
  const parts = partsOfPath(path);
  return parts?.every((part) => part !== '' && !isHidden(part)) ? parts : null;
}

/** An open file. The caller closes it. */
export interface FolderFile {
  readonly file: FileHandle;
  readonly stats: BigIntStats;
}

/**
 * Opens a regular file below a folder for reading. Symbolic links are followed if they lead to a file that is
 * below the folder and not hidden.
 *
 * @param names as from `fileNames`
 * @returns null for what is no such file
 * @throws the system's error, such as ENOENT and EACCES
 */
export async function openInFolder(
  folder: string,
  names: readonly string[],
): Promise<FolderFile | null> {
  const root = await realpath(folder);
  const real = await realpath(join(root, ...names));
  if (!isVisibleBelow(root, real)) return null;
  // Opening a pipe must not block; the file may have been replaced by one, or by a link.
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stats = await file.stat({ bigint: true });
    if (stats.isFile() && (await pathOf(file, real)) === real) return { file, stats };
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  return null;
}

function isVisibleBelow(root: string, path: string): boolean {
  const below = relative(root, path);
  return below !== '' && !below.startsWith(sep) && !below.split(sep).some(isHidden);
}

/**
 * The path of an open file, because a folder of its path may have become a link since the check. Other systems
 * than Linux tell only the path that the name has now.
 */
function pathOf(file: FileHandle, name: string): Promise<string> {
  return process.platform === 'linux' ? readlink(`/proc/self/fd/${file.fd}`) : realpath(name);
}
