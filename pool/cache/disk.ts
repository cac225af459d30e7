import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Image } from '../image.ts';
import { decodeFile, encodeFile } from './file.ts';

/** What the keeper of the folder's byte limit must hear. */
export interface DiskCacheEvents {
  stored(key: string, bytes: number): void;
  read(key: string): void;
  /** A file was found damaged and has been removed. */
  removed(key: string): void;
  /** Disk trouble: it costs hits, never requests. */
  failed(error: Error): void;
}

/** Two levels of 256 folders each keep every folder small at millions of files. */
export function cacheFilePath(folder: string, key: string): string {
  return join(folder, 'files', key.slice(0, 2), key.slice(2, 4), key);
}

/** Files under way; whatever lies here at a start was torn and may go. */
export function cacheTemporaryFolder(folder: string): string {
  return join(folder, 'tmp');
}

/** More writes at once than this are not worth the memory that their bodies hold: they are skipped. */
const maxWrites = 64;

const errorCode = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;

/**
 * Finished images as files, shared by all processes of the machine. One file an image, written to
 * a temporary name and renamed, so that readers see all of it or nothing; not synced, as a file
 * torn by a crash is found out by its digests and made again. Keys are hexadecimal digests.
 */
export class DiskCache {
  readonly #folder: string;
  readonly #events: DiskCacheEvents;
  readonly #writes = new Set<Promise<void>>();

  constructor(folder: string, events: DiskCacheEvents) {
    this.#folder = folder;
    this.#events = events;
  }

  /** The image of a key, or null. Never rejects. */
  async read(key: string): Promise<Image | null> {
    const path = cacheFilePath(this.#folder, key);
    try {
      const image = decodeFile(key, await readFile(path));
      if (image !== null) {
        this.#events.read(key);
        return image;
      }
      await rm(path, { force: true });
      this.#events.removed(key);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') this.#events.failed(error as Error);
    }
    return null;
  }

  /** Resolves when the file is in its place, or could not be put there. Never rejects. */
  async write(key: string, image: Image): Promise<void> {
    if (this.#writes.size >= maxWrites) return;
    const write = this.#store(key, image);
    this.#writes.add(write);
    await write;
    this.#writes.delete(write);
  }

  /** Resolves when the writes under way are done. */
  async settle(): Promise<void> {
    await Promise.all(this.#writes);
  }

  async #store(key: string, image: Image): Promise<void> {
    const temporary = join(cacheTemporaryFolder(this.#folder), randomBytes(12).toString('hex'));
    try {
      const bytes = await this.#writeFile(temporary, cacheFilePath(this.#folder, key), key, image);
      this.#events.stored(key, bytes);
    } catch (error) {
      this.#events.failed(error as Error);
      await rm(temporary, { force: true }).catch(() => {});
    }
  }

  async #writeFile(temporary: string, path: string, key: string, image: Image): Promise<number> {
    const parts = encodeFile(key, image);
    const bytes = parts[0].byteLength + parts[1].byteLength;
    const file = await makingFolder(temporary, () => open(temporary, 'wx', 0o640));
    try {
      const { bytesWritten } = await file.writev(parts);
      if (bytesWritten !== bytes)
        throw new Error(`the disk took ${bytesWritten} of ${bytes} bytes`);
    } finally {
      await file.close();
    }
    await makingFolder(path, () => rename(temporary, path));
    return bytes;
  }
}

/** Tries first and makes the path's folder when it is missing: also when somebody emptied the cache. */
async function makingFolder<T>(path: string, attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    await mkdir(dirname(path), { recursive: true });
    return attempt();
  }
}
