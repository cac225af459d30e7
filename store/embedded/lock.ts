import { createHash } from 'node:crypto';
import { readdir, readFile, readlink, symlink, unlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { defaultSocketPath, privateFolderPath, toStoreUrl } from './endpoint.ts';

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

const separator = '|';

/** The process that holds a lock. */
export interface LockOwner {
  readonly pid: number;
  /** Distinguishes the process from a later one with the same pid; null where not available. */
  readonly started: string | null;
  /** The pid's namespace; null on systems without namespaces. */
  readonly namespace: string | null;
  /** The socket path. The process might not listen yet. */
  readonly socket: string;
}

export async function thisProcess(socket: string): Promise<LockOwner> {
  return {
    pid: process.pid,
    started: await processStart(process.pid),
    namespace: await pidNamespace(),
    socket,
  };
}

/**
 * Formats a lock's text. File systems such as ext4 store a symbolic link's target in the directory
 * entry if it is shorter than 60 bytes, so the lock can be created on a full disk.
 * @param defaultSocket omitted from the text if the holder uses it
 */
export function formatLockOwner(
  { pid, started, namespace, socket }: LockOwner,
  defaultSocket: string,
) {
  const fields = [pid, started ?? '', namespace ?? ''];
  return (socket === defaultSocket ? fields : [...fields, socket]).join(separator);
}

/** Null for text that {@link formatLockOwner} did not write. */
export function parseLockOwner(target: string, defaultSocket: string): LockOwner | null {
  const [pid = '', started = '', namespace = '', ...path] = target.split(separator);
  if (!/^\d+$/.test(pid)) return null;
  const socket = path.length > 0 ? path.join(separator) : defaultSocket;
  return { pid: Number(pid), started: started || null, namespace: namespace || null, socket };
}

/** Whether the process is still running. */
export async function isAlive(holder: LockOwner): Promise<boolean> {
  // A pid from another container is meaningless here, so check the socket instead.
  if (holder.namespace !== (await pidNamespace())) return listens(holder.socket);
  const started = await processStart(holder.pid);
  // Last, because the parent can reap the process while its start time is being read.
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  return started === null || started === holder.started;
}

/**
 * Identifies a process among others with the same pid: a hash of the boot id and the start time since
 * boot. `dead` for a zombie process; null on systems without /proc.
 */
async function processStart(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (stat === null) return null;
  // The second field is a name in parentheses with arbitrary characters, so count from its end.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
  if (state === 'Z' || state === 'X') return 'dead';
  const hash = createHash('sha256').update(`${boot.trim()}/${fields[19] ?? ''}`);
  return hash.digest('base64url').slice(0, 16);
}

async function pidNamespace(): Promise<string | null> {
  const name = await readlink('/proc/self/ns/pid').catch(() => null);
  return name?.replace(/\D/g, '') ?? null;
}

function listens(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(socket);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', () => resolve(false));
  });
}
