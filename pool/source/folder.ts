import type { BigIntStats } from 'node:fs';
import { constants } from 'node:fs';
import { type FileHandle, open, readlink, realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

/** Files that nobody can mean to publish, such as `.git` and `.env`. */
export const isHidden = (name: string): boolean => name.startsWith('.');

/** Control characters, and separators of any system. */
const forbidden = /[\p{Cc}/\\]/u;

/**
 * The parts of a URL's path, each decoded once; null for a path that names no file: with an empty or hidden
 * part (also `..`), a separator or control character within a part, or a malformed encoding.
 */
export function partsOfPath(path: string): readonly string[] | null {
  if (!path.startsWith('/')) return null;
  try {
    const parts = path.slice(1).split('/').map(decodeURIComponent);
    const isName = (part: string) => part !== '' && !isHidden(part) && !forbidden.test(part);
    return parts.every(isName) ? parts : null;
  } catch {
    return null;
  }
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
 * @param parts as from `partsOfPath`
 * @returns null for what is no such file
 * @throws the system's error, such as ENOENT and EACCES
 */
export async function openInFolder(
  folder: string,
  parts: readonly string[],
): Promise<FolderFile | null> {
  const root = await realpath(folder);
  const real = await realpath(join(root, ...parts));
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
