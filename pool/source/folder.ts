import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, open, readlink, realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

/**
 * Returns whether a name is hidden, such as `.git` and `.env`, or is `.` or `..`. The service does
 * not serve them.
 */
const isHidden = (name: string): boolean => name.startsWith('.');

/** Control characters, and path separators of all systems. */
const ambiguous = /[\p{Cc}/\\]/u;

/**
 * Returns a URL path's segments, each decoded once. Returns null for a path that cannot name a
 * file, or that programs interpret differently, with an encoded separator, a control character or a
 * malformed encoding.
 */
export function fileNames(path: string): readonly string[] | null {
  try {
    const parts = path.slice(1).split('/').map(decodeURIComponent);
    const isName = (part: string) => part !== '' && !isHidden(part) && !ambiguous.test(part);
    return path.startsWith('/') && parts.every(isName) ? parts : null;
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
 * Opens a regular file in a folder or its subfolders for reading. Follows symbolic links if their
 * targets are in the folder and not hidden.
 *
 * @param names as from `fileNames`
 * @returns null for anything else, such as a folder, a pipe, or a link that leaves the folder
 * @throws the system's error, such as ENOENT and EACCES
 */
export async function openInFolder(
  folder: string,
  names: readonly string[],
): Promise<FolderFile | null> {
  const root = await realpath(folder);
  const real = await realpath(join(root, ...names));
  if (!isVisibleIn(root, real)) return null;
  // Since the check, a pipe, which must not block, or a link can have replaced the file.
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stats = await file.stat({ bigint: true });
    if (stats.isFile() && (await resolvePath(file, real)) === real) return { file, stats };
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  return null;
}

function isVisibleIn(root: string, path: string): boolean {
  const within = relative(root, path);
  return within !== '' && !within.startsWith(sep) && !within.split(sep).some(isHidden);
}

/**
 * Returns an open file's path: a folder in its path can have become a link since the check. Systems
 * other than Linux only reveal the name's current path.
 */
function resolvePath(file: FileHandle, name: string): Promise<string> {
  return process.platform === 'linux' ? readlink(`/proc/self/fd/${file.fd}`) : realpath(name);
}
