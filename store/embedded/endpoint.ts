import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { makeFolder } from '../make-folder.ts';

/** `sun_path` has 108 bytes on Linux (104 on macOS and the BSDs), including the terminating NUL. */
const maxSocketPathBytes = process.platform === 'linux' ? 107 : 103;
const socketName = 'mongodb.sock';
const privateMode = 0o700;

/** The socket's folder belongs to another user or is accessible to others. */
export class ForeignFolder extends Error {
  override readonly name = 'ForeignFolder';
}

/** The folder for the lock, the data and usually the socket, within the data folder. */
export function privateFolderPath(folder: string): string {
  return join(resolve(folder), 'store');
}

/** Creates a folder that only this user can access. */
export async function makePrivateFolder(folder: string): Promise<void> {
  await makeFolder(folder, privateMode);
  await chmod(folder, privateMode);
}

/**
 * Returns the socket path: in the private folder or, if the path is too long for a socket, in a
 * folder within the system's temporary folder, named by a hash.
 */
export function socketPath(privateFolder: string): string {
  const inside = join(privateFolder, socketName);
  // The driver decodes the path in the URL twice, which corrupts percent signs.
  const usable = Buffer.byteLength(inside) <= maxSocketPathBytes && !inside.includes('%');
  if (usable) return inside;
  const owner = process.getuid?.() ?? 'user';
  const hash = createHash('sha256').update(`${owner}:${privateFolder}`).digest('hex');
  return join(tmpdir(), `embedded-store-${hash.slice(0, 32)}`, socketName);
}

/**
 * Creates the socket's folder and removes a stale socket. The caller must hold the lock.
 * @throws {ForeignFolder} if another user could have modified the folder
 */
export async function prepareSocket(socket: string, privateFolder: string): Promise<void> {
  const folder = dirname(socket);
  if (folder !== privateFolder) {
    await mkdir(folder, { mode: privateMode }).catch(() => {});
    // Any user can create this folder first, and restricting the mode of a folder that was
    // accessible to others would not undo their changes.
    const found = await lstat(folder);
    const ours = process.getuid === undefined || found.uid === process.getuid();
    if (!found.isDirectory() || !ours || (found.mode & 0o777) !== privateMode) {
      throw new ForeignFolder(`${folder} is not a private folder of this user`);
    }
  }
  await rm(socket, { force: true });
}

/** Removes the socket's folder, unless it is the private folder. */
export async function removeSocketFolder(socket: string, privateFolder: string): Promise<void> {
  const folder = dirname(socket);
  if (folder !== privateFolder) await rm(folder, { recursive: true, force: true });
}

export function toStoreUrl(socket: string): string {
  return `mongodb://${encodeURIComponent(socket)}/`;
}
