import { readdir, readlink, symlink, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { privateFolderOf, urlOf } from './endpoint.ts';
import { type Holder, hasCode, isAlive, parseHolder, thisProcess } from './holder.ts';

/** The folder has an owner: a live process. */
export class FolderHeld extends Error {
  override readonly name = 'FolderHeld';
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
  /** Null when it was given back. */
  readonly holder: Holder | null;
}

export interface HeldLock {
  release(): Promise<void>;
}

const PREFIX = 'lock.';
const RELEASED = 'released';
const ATTEMPTS = 100;

/**
 * Takes the folder.
 *
 * The lock is a symbolic link `lock.<generation>` whose target says who holds it: made exclusively
 * and with its content in one step. The highest generation counts, and there is always one once
 * there was one: whoever takes the folder over adds the next generation before removing those
 * below, and giving it back adds one that says so. So nobody ever has to remove a lock that looks
 * stale and might be another's fresh one by then.
 *
 * @param socket where the holder is going to listen
 * @throws {FolderHeld}
 */
export async function takeLock(folder: string, socket: string): Promise<HeldLock> {
  const holder = await thisProcess(socket);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const last = await currentLock(folder);
    if (last?.holder && (await isAlive(last.holder))) throw new FolderHeld(last.holder.pid, folder);
    const generation = (last?.generation ?? 0) + 1;
    if (!(await createLock(folder, generation, JSON.stringify(holder)))) continue;
    // A slow process may have created a generation that had been and gone.
    if ((await currentLock(folder))?.generation === generation) {
      await removeBelow(folder, generation);
      return { release: () => releaseLock(folder, generation) };
    }
    await removeLock(folder, generation);
  }
  throw new Error(`the lock in ${folder} changes too fast`);
}

/**
 * The connection URL of the process that owns the folder now, or null when nobody does: for a
 * command or a worker that joins a running service.
 *
 * @param folder as given to `startEmbeddedStore`
 */
export async function runningStoreUrl(folder: string): Promise<string | null> {
  const lock = await currentLock(privateFolderOf(folder));
  return lock?.holder && (await isAlive(lock.holder)) ? urlOf(lock.holder.socket) : null;
}

async function releaseLock(folder: string, generation: number): Promise<void> {
  // The folder itself may be gone by now; then there is nothing to give back.
  await createLock(folder, generation + 1, RELEASED).catch(ignoreMissing);
  await removeLock(folder, generation);
}

async function generations(folder: string): Promise<number[]> {
  const names = await readdir(folder).catch(ignoreMissing);
  return (names ?? [])
    .filter((name) => /^lock\.\d+$/.test(name))
    .map((name) => Number(name.slice(PREFIX.length)));
}

async function currentLock(folder: string): Promise<Lock | null> {
  const generation = Math.max(0, ...(await generations(folder)));
  if (generation === 0) return null;
  const target = await readlink(join(folder, PREFIX + generation)).catch(ignoreMissing);
  // Removed since: then there is a higher one.
  if (target === undefined) return currentLock(folder);
  return { generation, holder: target === RELEASED ? null : parseHolder(target) };
}

async function createLock(folder: string, generation: number, target: string): Promise<boolean> {
  try {
    await symlink(target, join(folder, PREFIX + generation));
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

async function removeLock(folder: string, generation: number): Promise<void> {
  await unlink(join(folder, PREFIX + generation)).catch(ignoreMissing);
}

async function removeBelow(folder: string, generation: number): Promise<void> {
  for (const below of await generations(folder)) {
    if (below < generation) await removeLock(folder, below);
  }
}

function ignoreMissing(error: unknown): undefined {
  if (!hasCode(error, 'ENOENT')) throw error;
  return undefined;
}
