import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const inMemory = '/dev/shm';
/** `TMPFS_MAGIC` of Linux, statfs(2). */
const tmpfs = 0x01021994;
/** Containers often have 64 MiB there. */
const leastBytes = 2 * 2 ** 30;

/**
 * The parent of the tests' temporary folders, in memory if there is room: every write of the store waits
 * for the disk, and a busy disk may take longer than the store's deadline.
 */
export const temporaryRoot: string = isRoomy() ? inMemory : tmpdir();

function isRoomy(): boolean {
  try {
    const { type, bavail, bsize } = statfsSync(inMemory);
    return type === tmpfs && bavail * bsize >= leastBytes;
  } catch {
    return false;
  }
}
