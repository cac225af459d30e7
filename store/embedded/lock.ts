import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type FileHandle, link, open, readdir, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import {
  isPrivateFolder,
  makeTemporarySocketFolder,
  privateFolderPath,
  socketPath,
  temporarySocketFolder,
  toStoreUrl,
} from './endpoint.ts';

/** Another process holds the folder's lock. */
export class DataDirLockedError extends Error {
  override readonly name = 'DataDirLockedError';
  /** 0 if the process does not respond. */
  readonly pid: number;
  readonly folder: string;

  constructor(pid: number, folder: string) {
    super(`the embedded store in ${folder} belongs to the running process ${pid}`);
    this.pid = pid;
    this.folder = folder;
  }
}

export interface FolderLock {
  /** The folder of its sockets. */
  readonly folder: string;
  release(): Promise<void>;
}

const lockPrefix = 'lock.';
/** Empty files that exist while the disk has free inodes for them. */
const spareNames = ['lock.spare.1', 'lock.spare.2'];
const maxAttempts = 100;
/** Until a process that holds the lock has responded. */
const responseMs = 1000;

/**
 * The lock is a listening socket `lock.<generation>`: linking it to this name is exclusive, and it
 * accepts connections exactly as long as its process runs, also for other containers of the machine.
 * Only the highest generation is valid, and after the first start at least one exists: a new holder
 * creates the next generation before it removes lower generations, and a release leaves a socket
 * that nobody listens on. So no process removes a seemingly stale lock that another process has
 * replaced in the meantime.
 *
 * On a file system without sockets or links, such as vfat, SMB and some FUSE, the lock is in a
 * temporary folder, which other containers do not share.
 *
 * @throws {DataDirLockedError}
 */
export async function takeLock(privateFolder: string): Promise<FolderLock> {
  try {
    return await takeLockIn(privateFolder);
  } catch (error) {
    if (!isWithoutSockets(error)) throw error;
    return takeLockIn(await makeTemporarySocketFolder(privateFolder));
  }
}

/** FUSE reports EIO, vfat and SMB EPERM or ENOTSUP. */
function isWithoutSockets(error: unknown): boolean {
  const { code = '', syscall = '' } = error as NodeJS.ErrnoException;
  return (
    /^(?:listen|bind|link)$/.test(syscall) &&
    /^(?:EPERM|EIO|ENOTSUP|EOPNOTSUPP|ENOSYS|EINVAL)$/.test(code)
  );
}

async function takeLockIn(folder: string): Promise<FolderLock> {
  const server = createServer((socket) => {
    socket.on('error', () => {}).end(String(process.pid));
  }).unref();
  // On a disk without a free inode, the socket and its link take these.
  for (const name of spareNames) await rm(join(folder, name), { force: true });
  const directory = await open(folder);
  const release = async () => {
    server.close();
    await directory.close();
  };
  const own = socketIn(directory, folder, `${lockPrefix}${randomBytes(4).toString('hex')}.new`);
  try {
    await once(server.listen(own), 'listening');
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const last = await lastGeneration(folder);
      const pid = await findHolder(folder, last);
      if (pid !== null) throw new DataDirLockedError(pid, folder);
      const lock = socketIn(directory, folder, lockPrefix + (last + 1));
      if (!(await createLock(own, lock))) continue;
      // A slow process can create a generation that others have already superseded and removed.
      if ((await lastGeneration(folder)) === last + 1) {
        await rm(own);
        await removeBelow(folder, last + 1);
        return { folder, release };
      }
      await rm(lock, { force: true });
    }
    throw new Error(`other processes keep taking the lock in ${folder}`);
  } catch (error) {
    // A failed listen can leave a file.
    await rm(own, { force: true }).catch(() => {});
    await release();
    throw error;
  } finally {
    for (const name of spareNames) await writeFile(join(folder, name), '').catch(() => {});
  }
}

/**
 * Returns the owning process's connection URL; null if the folder has no owner.
 * @param folder as given to `startEmbeddedStore`
 */
export async function runningStoreUrl(folder: string): Promise<string | null> {
  const inside = privateFolderPath(folder);
  for (const lockFolder of [inside, temporarySocketFolder(inside)]) {
    if (lockFolder !== inside && !(await isPrivateFolder(lockFolder))) continue;
    const pid = await findHolder(lockFolder, await lastGeneration(lockFolder));
    if (pid !== null) return toStoreUrl(socketPath(inside, lockFolder));
  }
  return null;
}

/**
 * The path of a socket for a lock. On Linux it is short for any folder, because a socket's address
 * has space for about 100 bytes only.
 */
function socketIn(directory: FileHandle, folder: string, name: string): string {
  return join(process.platform === 'linux' ? `/proc/self/fd/${directory.fd}` : folder, name);
}

/** @returns false if the lock exists */
async function createLock(own: string, lock: string): Promise<boolean> {
  try {
    await link(own, lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}

/** The pid of the process that listens on a lock; null if there is none. */
async function findHolder(folder: string, generation: number): Promise<number | null> {
  if (generation === 0) return null;
  const directory = await open(folder);
  try {
    const socket = connect(socketIn(directory, folder, lockPrefix + generation));
    await once(socket, 'connect');
    let pid = '';
    socket.setEncoding('utf8').on('data', (text) => {
      pid += text;
    });
    socket.setTimeout(responseMs, () => socket.destroy()).on('error', () => {});
    await new Promise((resolve) => socket.once('close', resolve));
    return Number(pid);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ECONNREFUSED' || code === 'ENOENT') return null;
    throw error;
  } finally {
    await directory.close();
  }
}

async function generations(folder: string): Promise<number[]> {
  const names = await readdir(folder).catch((error) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names
    .filter((name) => /^lock\.\d+$/.test(name))
    .map((name) => Number(name.slice(lockPrefix.length)));
}

const lastGeneration = async (folder: string): Promise<number> =>
  Math.max(0, ...(await generations(folder)));

async function removeBelow(folder: string, generation: number): Promise<void> {
  for (const below of await generations(folder)) {
    if (below < generation) await rm(join(folder, lockPrefix + below), { force: true });
  }
}
