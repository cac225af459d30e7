import { once } from 'node:events';
import { type FileHandle, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { privateFolderPath, socketPath, toStoreUrl } from './endpoint.ts';

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
  release(): Promise<void>;
}

const lockPrefix = 'lock.';
/** An empty file that exists while the disk has a free inode for it. */
const spareName = 'lock.spare';
const maxAttempts = 100;
/** Until a process that holds the lock has responded. */
const responseMs = 1000;

/**
 * The lock is a listening socket `lock.<generation>`: creating it is exclusive, and it accepts
 * connections exactly as long as its process runs, also for other containers of the machine. Only
 * the highest generation is valid, and after the first start at least one exists: a new holder
 * creates the next generation before it removes lower generations, and a release leaves a socket
 * that nobody listens on. So no process removes a seemingly stale lock that another process has
 * replaced in the meantime.
 *
 * @throws {DataDirLockedError}
 */
export async function takeLock(folder: string): Promise<FolderLock> {
  const server = createServer((socket) => {
    socket.on('error', () => {}).end(String(process.pid));
  }).unref();
  // On a disk without a free inode, the lock takes this one.
  await rm(join(folder, spareName), { force: true });
  const directory = await open(folder);
  try {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const last = await lastGeneration(folder);
      const pid = await holder(folder, last);
      if (pid !== null) throw new DataDirLockedError(pid, folder);
      const generation = last + 1;
      if (!(await listen(server, shortPath(directory, folder, generation)))) continue;
      // A slow process can create a generation that others have already superseded and removed.
      if ((await lastGeneration(folder)) === generation) {
        await removeBelow(folder, generation);
        return { release: () => release(server, directory, folder, generation) };
      }
      await close(server);
    }
    throw new Error(`the lock in ${folder} changes too fast`);
  } catch (error) {
    await directory.close();
    throw error;
  } finally {
    await writeFile(join(folder, spareName), '').catch(() => {});
  }
}

/**
 * Returns the owning process's connection URL; null if the folder has no owner.
 * @param folder as given to `startEmbeddedStore`
 */
export async function runningStoreUrl(folder: string): Promise<string | null> {
  const inside = privateFolderPath(folder);
  const pid = await holder(inside, await lastGeneration(inside));
  return pid === null ? null : toStoreUrl(socketPath(inside));
}

/**
 * The lock's path. On Linux it is short for any folder, because a socket's address has space for
 * about 100 bytes only.
 */
function shortPath(directory: FileHandle, folder: string, generation: number): string {
  const within =
    process.platform === 'linux' ? `/proc/self/fd/${directory.fd}` : dirname(socketPath(folder));
  return join(within, lockPrefix + generation);
}

/** @returns false if the path exists */
async function listen(server: Server, path: string): Promise<boolean> {
  server.listen(path);
  return once(server, 'listening').then(
    () => true,
    (error) => {
      if (error.code === 'EADDRINUSE') return false;
      throw error;
    },
  );
}

/** The pid of the process that listens on a lock; null if there is none. */
async function holder(folder: string, generation: number): Promise<number | null> {
  if (generation === 0) return null;
  const directory = await open(folder);
  try {
    const socket = connect(shortPath(directory, folder, generation)).setEncoding('utf8');
    await once(socket, 'connect');
    socket.setTimeout(responseMs, () => socket.destroy());
    let pid = '';
    for await (const text of socket.on('error', () => socket.destroy())) pid += text;
    return Number(pid);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ECONNREFUSED' || code === 'ENOENT') return null;
    throw error;
  } finally {
    await directory.close();
  }
}

async function release(
  server: Server,
  directory: FileHandle,
  folder: string,
  generation: number,
): Promise<void> {
  const lock = join(folder, lockPrefix + generation);
  // Closing would remove it. The folder might no longer exist.
  await rename(lock, join(folder, lockPrefix + (generation + 1))).catch(() => {});
  await close(server);
  await directory.close();
}

async function close(server: Server): Promise<void> {
  server.close();
  await once(server, 'close');
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
