import { readdir, readlink, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultSocketPath, privateFolderPath, toStoreUrl } from './endpoint.ts';
import { formatLockOwner, isAlive, type LockOwner, parseLockOwner, thisProcess } from './holder.ts';

/** Another process holds the folder's lock. */
export class DataDirLockedError extends Error {
  override readonly name = 'DataDirLockedError';
  readonly pid: number;
  readonly folder: string;

  constructor(pid: number, folder: string) {
    super(`the embedded store in ${folder} belongs to the running process ${pid}`);
    this.pid = pid;
    this.folder = folder;
  }
}

interface Lock {
  readonly generation: number;
  /** Null after the lock's release. */
  readonly holder: LockOwner | null;
}

export interface FolderLock {
  release(): Promise<void>;
}

const lockPrefix = 'lock.';
const releasedTarget = 'released';
/** An empty file that exists while the disk has a free inode for it. */
const spareName = 'lock.spare';
const maxAttempts = 100;

/**
 * The lock is a symbolic link `lock.<generation>` with a target that describes the holder. Creating
 * a symbolic link is exclusive and writes its content in the same step. Only the highest generation
 * is valid, and after the first start at least one exists: a new holder creates the next generation
 * before it removes lower generations, and a release creates a generation marked as released. So no
 * process removes a seemingly stale lock that another process has replaced in the meantime.
 *
 * @param socket the path where the holder will listen
 * @throws {DataDirLockedError}
 */
export async function takeLock(folder: string, socket: string): Promise<FolderLock> {
  const holder = await thisProcess(socket);
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const last = await currentLock(folder);
    if (last?.holder && (await isAlive(last.holder)))
      throw new DataDirLockedError(last.holder.pid, folder);
    const generation = (last?.generation ?? 0) + 1;
    if (!(await createLock(folder, generation, formatLockOwner(holder, defaultSocketPath(folder)))))
      continue;
    // A slow process can create a generation that others have already superseded and removed.
    if ((await currentLock(folder))?.generation === generation) {
      await removeBelow(folder, generation);
      await writeFile(join(folder, spareName), '').catch(() => {});
      return { release: () => releaseLock(folder, generation) };
    }
    await removeLock(folder, generation);
  }
  throw new Error(`the lock in ${folder} changes too fast`);
}

/**
 * Returns the owning process's connection URL; null if the folder has no owner.
 * @param folder as given to `startEmbeddedStore`
 */
export async function runningStoreUrl(folder: string): Promise<string | null> {
  const lock = await currentLock(privateFolderPath(folder));
  return lock?.holder && (await isAlive(lock.holder)) ? toStoreUrl(lock.holder.socket) : null;
}

async function releaseLock(folder: string, generation: number): Promise<void> {
  // The folder might no longer exist.
  await createLock(folder, generation + 1, releasedTarget).catch(ignoreMissing);
  await removeLock(folder, generation);
}

async function generations(folder: string): Promise<number[]> {
  const names = await readdir(folder).catch(ignoreMissing);
  return (names ?? [])
    .filter((name) => /^lock\.\d+$/.test(name))
    .map((name) => Number(name.slice(lockPrefix.length)));
}

async function currentLock(folder: string): Promise<Lock | null> {
  const generation = Math.max(0, ...(await generations(folder)));
  if (generation === 0) return null;
  const target = await readlink(join(folder, lockPrefix + generation)).catch(ignoreMissing);
  // Removed in the meantime: a higher generation exists.
  if (target === undefined) return currentLock(folder);
  return {
    generation,
    holder: target === releasedTarget ? null : parseLockOwner(target, defaultSocketPath(folder)),
  };
}

async function createLock(folder: string, generation: number, target: string): Promise<boolean> {
  try {
    await symlink(target, join(folder, lockPrefix + generation));
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    // Without a free inode, the link takes the spare file's.
    if (code !== 'ENOSPC' || (await removeSpare(folder)) === undefined) throw error;
    return createLock(folder, generation, target);
  }
}

const removeSpare = (folder: string): Promise<true | undefined> =>
  unlink(join(folder, spareName)).then(() => true as const, ignoreMissing);

async function removeLock(folder: string, generation: number): Promise<void> {
  await unlink(join(folder, lockPrefix + generation)).catch(ignoreMissing);
}

async function removeBelow(folder: string, generation: number): Promise<void> {
  for (const below of await generations(folder)) {
    if (below < generation) await removeLock(folder, below);
  }
}

function ignoreMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  return undefined;
}
