import { createHash } from 'node:crypto';
import { lstat, mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

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

/**
 * Returns the folder for sockets that the private folder cannot contain, named by a hash, within
 * the system's temporary folder.
 */
export function temporarySocketFolder(privateFolder: string): string {
  const owner = process.getuid?.() ?? 'user';
  const hash = createHash('sha256').update(`${owner}:${privateFolder}`).digest('hex');
  return join(tmpdir(), `embedded-store-${hash.slice(0, 32)}`);
}

/**
 * Returns the socket path: beside the lock or, if the path is too long for a socket, in the
 * temporary folder.
 * @param lockFolder the private folder, or the temporary one
 */
export function socketPath(privateFolder: string, lockFolder: string): string {
  const inside = join(lockFolder, socketName);
  // The driver decodes the path in the URL twice, which corrupts percent signs.
  const usable = Buffer.byteLength(inside) <= maxSocketPathBytes && !inside.includes('%');
  return usable ? inside : join(temporarySocketFolder(privateFolder), socketName);
}

/** Whether only this user can have modified a folder; false if it does not exist. */
export async function isPrivateFolder(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => null);
  const isOwn = process.getuid === undefined || found?.uid === process.getuid();
  return found?.isDirectory() === true && isOwn && (found.mode & 0o777) === privateMode;
}

/**
 * Creates the temporary folder.
 * @throws {ForeignFolder} if another user could have modified the folder
 */
export async function makeTemporarySocketFolder(privateFolder: string): Promise<string> {
  const folder = temporarySocketFolder(privateFolder);
  await mkdir(folder, { mode: privateMode }).catch(() => {});
  // Any user can create this folder first, and restricting the mode of a folder that was
  // accessible to others would not undo their changes.
  if (await isPrivateFolder(folder)) return folder;
  throw new ForeignFolder(`${folder} is not a private folder of this user`);
}

/**
 * Creates the socket's folder and removes a stale socket. The caller must hold the lock.
 * @throws {ForeignFolder} if another user could have modified the folder
 */
export async function prepareSocket(socket: string, privateFolder: string): Promise<void> {
  if (dirname(socket) !== privateFolder) await makeTemporarySocketFolder(privateFolder);
  await rm(socket, { force: true });
}

/** Removes the socket's folder, unless it contains the lock. */
export async function removeSocketFolder(socket: string, lockFolder: string): Promise<void> {
  const folder = dirname(socket);
  if (folder !== lockFolder) await rm(folder, { recursive: true, force: true });
}

export function toStoreUrl(socket: string): string {
  return `mongodb://${encodeURIComponent(socket)}/`;
}
