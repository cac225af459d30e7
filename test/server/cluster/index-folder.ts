import { existsSync } from 'node:fs';
import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { cacheFilePath } from '../../../pool/cache/disk.ts';
import { DiskCacheIndex } from '../../../server/cluster/disk-cache-index.ts';
import { keyOf } from '../../pool/cache/pictures.ts';

export const block = 4_096;

/** A folder with an index limited to a number of blocks. */
export function kept(folder: string, blocks: number) {
  const troubles: Error[] = [];
  const index = new DiskCacheIndex(folder, blocks * block, (error) => troubles.push(error));
  const there = (name: string) => existsSync(cacheFilePath(folder, keyOf(name)));
  return {
    index,
    troubles,
    there,
    /** The given names that have a file. */
    remaining: (names: readonly string[]) => names.filter(there),
    /** Writes a file as a front end does, with an age in seconds. */
    async put(name: string, { bytes = block, age = 0 } = {}): Promise<void> {
      const path = cacheFilePath(folder, keyOf(name));
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, Buffer.alloc(bytes));
      const then = Date.now() / 1_000 - age;
      await utimes(path, then, then);
    },
  };
}

export const numbered = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, i) => String(from + i));
