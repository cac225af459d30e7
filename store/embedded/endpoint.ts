import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** `sun_path` has 108 bytes on Linux (104 on macOS and the BSDs), the last one for its end. */
const MAX_SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103;
const SOCKET_NAME = 'mongodb.sock';
const PRIVATE = 0o700;

/** A folder that is in the place of ours and is not ours. */
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
  const found = await lstat(folder);
  if (!found.isDirectory() || (process.getuid !== undefined && found.uid !== process.getuid())) {
    throw new ForeignFolder(`${folder} is not a folder of this user's`);
  }
  if ((found.mode & 0o777) !== PRIVATE) await chmod(folder, PRIVATE);
}

/**
 * Where the store of a folder listens: in its private folder, or, where that path would be too
 * long for a socket, in a private folder among the temporary ones that is named after it.
 */
export async function prepareSocket(privateFolder: string): Promise<string> {
  const inside = join(privateFolder, SOCKET_NAME);
  if (Buffer.byteLength(inside) <= MAX_SOCKET_PATH_BYTES) return inside;
  const owner = process.getuid?.() ?? 'user';
  const hash = createHash('sha256').update(`${owner}:${privateFolder}`).digest('hex');
  const elsewhere = join(tmpdir(), `embedded-store-${hash.slice(0, 32)}`);
  const found = await lstat(elsewhere).catch(() => null);
  // Anyone may have made it first; one that others can write to is not to be trusted afterwards.
  if (found !== null && (found.mode & 0o777) !== PRIVATE) {
    throw new ForeignFolder(`${elsewhere} is open to others`);
  }
  await makePrivateFolder(elsewhere);
  return join(elsewhere, SOCKET_NAME);
}

export function urlOf(socket: string): string {
  return `mongodb://${encodeURIComponent(socket)}/`;
}
