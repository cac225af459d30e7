import { existsSync } from 'node:fs';
import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { cacheFilePath } from '../../../pool/cache/disk.ts';
import { DiskCacheIndex } from '../../../server/cluster/disk-cache-index.ts';
import { toKey } from '../../pool/cache/pictures.ts';

export const block = 4_096;

/** Creates a folder's index, limited to a number of blocks. */
export function createIndex(folder: string, blocks: number) {
  const errors: Error[] = [];
  const index = new DiskCacheIndex(folder, blocks * block, (error) => errors.push(error));
  const exists = (name: string) => existsSync(cacheFilePath(folder, toKey(name)));
  /** Writes an unreported file with an age in seconds. */
  const write = async (name: string, { bytes = block, age = 0 } = {}): Promise<void> => {
    const path = cacheFilePath(folder, toKey(name));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, Buffer.alloc(bytes));
    const modified = Date.now() / 1_000 - age;
    await utimes(path, modified, modified);
  };
  return {
    index,
    errors,
    exists,
    write,
    /** Writes one-block files like a front end, and reports them to the index. */
    async store(...names: string[]): Promise<void> {
      for (const name of names) {
        await write(name);
        index.stored(toKey(name), block);
      }
    },
    /** Returns the names of existing files. */
    remaining: (names: readonly string[]) => names.filter(exists),
  };
}

export const numbered = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, i) => String(from + i));
