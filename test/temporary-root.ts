import { statfsSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const inMemory = '/dev/shm';
/** `TMPFS_MAGIC` of Linux, statfs(2). */
const tmpfs = 0x01021994;
/** Containers often have 64 MiB there. */
const leastBytes = 2 * 2 ** 30;

/**
 * Parent of the tests' temporary folders, in memory if there is room. Every store write waits for
 * the disk, and a busy disk can exceed the store's deadline.
 */
export const temporaryRoot: string = isRoomy() ? inMemory : tmpdir();

/** Creates a temporary folder and deletes it at the end of the test. */
export async function temporaryFolder(t: {
  teardown(action: () => Promise<unknown>): void;
}): Promise<string> {
  const folder = await realpath(await mkdtemp(join(temporaryRoot, 'image-delivery-')));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

function isRoomy(): boolean {
  try {
    const { type, bavail, bsize } = statfsSync(inMemory);
    return type === tmpfs && bavail * bsize >= leastBytes;
  } catch {
    return false;
  }
}
