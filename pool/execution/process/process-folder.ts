import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Containers that share a temporary folder have different host names, and their process ids are
 * unrelated.
 */
const prefix = `image-delivery-process-${hostname()}-`;

/** Creates an empty folder in the temporary folder, named after this process. */
export const createProcessFolder = (): string =>
  mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`));

/** Blocks, so that a stop does not end before. Never throws, because a later start removes leftovers. */
export function removeProcessFolder(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {}
}

let searched = false;

/**
 * Removes folders of killed processes, once in this process's life and before it creates a folder,
 * because an earlier process could have had the same id. Never throws.
 */
export function removeLeftFolders(): void {
  if (searched) return;
  searched = true;
  for (const name of leftFolders()) removeProcessFolder(join(tmpdir(), name));
}

function leftFolders(): string[] {
  try {
    return readdirSync(tmpdir()).filter((name) => {
      if (!name.startsWith(prefix)) return false;
      const [, owner] = /^(\d+)-/.exec(name.slice(prefix.length)) ?? [];
      return owner !== undefined && !isOther(Number(owner));
    });
  } catch {
    return [];
  }
}

/** Returns whether another process has this id. */
function isOther(processId: number): boolean {
  if (processId === process.pid) return false;
  try {
    return process.kill(processId, 0);
  } catch (error) {
    // EPERM means that the process runs, for another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
