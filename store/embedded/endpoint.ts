import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** `sun_path` has 108 bytes on Linux (104 on macOS and the BSDs), the last one for its end. */
const MAX_SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103;
const SOCKET_NAME = 'mongodb.sock';
const PRIVATE = 0o700;

/** Somebody else's folder, or one that is open to others, is in the place of ours. */
export class ForeignFolder extends Error {
  override readonly name = 'ForeignFolder';
}

/** The folder within the owner's that holds the lock, the data and, as a rule, the socket. */
export function privateFolderOf(folder: string): string {
  return join(resolve(folder), 'store');
}

/** Makes sure of a folder that nobody but this user can look into. */
export async function makePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: PRIVATE });
  await chmod(folder, PRIVATE);
}

/**
 * Where the store of a folder listens: in its private folder, or, where that path would not do for
 * a socket, in a folder among the temporary ones that is named after it.
 */
export function socketPath(privateFolder: string): string {
  const inside = join(privateFolder, SOCKET_NAME);
  // The driver decodes the path from the URL twice, which a percent sign does not survive.
  const usable = Buffer.byteLength(inside) <= MAX_SOCKET_PATH_BYTES && !inside.includes('%');
  if (usable) return inside;
  const owner = process.getuid?.() ?? 'user';
  const hash = createHash('sha256').update(`${owner}:${privateFolder}`).digest('hex');
  return join(tmpdir(), `embedded-store-${hash.slice(0, 32)}`, SOCKET_NAME);
}

/**
 * Makes the place ready to listen at: called by the holder of the lock, so what is left there was
 * left behind.
 * @throws {ForeignFolder} when somebody else may have had a hand in the folder
 */
export async function prepareSocket(socket: string, privateFolder: string): Promise<void> {
  const folder = dirname(socket);
  if (folder !== privateFolder) {
    await mkdir(folder, { mode: PRIVATE }).catch(() => {});
    // Among the temporary files anyone may have been first, and closing a folder that was open to
    // others would not undo what they did in it.
    const found = await lstat(folder);
    const ours = process.getuid === undefined || found.uid === process.getuid();
    if (!found.isDirectory() || !ours || (found.mode & 0o777) !== PRIVATE) {
      throw new ForeignFolder(`${folder} is not a private folder of this user's`);
    }
  }
  await rm(socket, { force: true });
}

/** Removes the socket's folder where it is not the private one. */
export async function removeSocketFolder(socket: string, privateFolder: string): Promise<void> {
  const folder = dirname(socket);
  if (folder !== privateFolder) await rm(folder, { recursive: true, force: true });
}

export function urlOf(socket: string): string {
  return `mongodb://${encodeURIComponent(socket)}/`;
}
