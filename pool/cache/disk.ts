import { randomBytes } from 'node:crypto';
import { close, existsSync, open, readFile, writev } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Image } from '../image.ts';
import { decodeFile, encodeFile } from './file.ts';

/** Events for the index of the disk cache, which enforces its size limit. */
export interface DiskCacheEvents {
  stored(key: string, bytes: number): void;
  read(key: string): void;
  /** A corrupt file was found and removed. */
  removed(key: string): void;
  /** A file system error. The request goes on as a cache miss. */
  failed(error: Error): void;
}

/**
 * The path of a file, in two levels of 16 folders each. A million files are 4,000 in each, which is no load
 * for indexed folders (ext4, XFS, APFS); more folders would have to be created during misses. The last digits
 * choose them, because keys of one project begin with the same ones.
 */
export function cacheFilePath(folder: string, key: string): string {
  return join(folder, 'files', key.slice(-1), key.slice(-2, -1), key);
}

/** The folder of files being written. At startup its files are incomplete and can be deleted. */
export function cacheTemporaryFolder(folder: string): string {
  return join(folder, 'tmp');
}

/** The names of the files that a process is writing begin with this. After its end they can be deleted. */
export function temporaryPrefix(processId: number): string {
  return `${processId}-`;
}

/** Maximum concurrent writes. Further ones are skipped, because they would keep bodies in memory. */
const maxWrites = 64;

/**
 * The callback functions of `fs`, because those of `fs/promises` create a FileHandle, and a stack for the error of
 * an absent file.
 */
const files = {
  open: promisify(open),
  writev: promisify(writev),
  close: promisify(close),
  read: promisify(readFile),
};

const errorCode = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;

/**
 * The disk cache, shared by all processes of the machine. Each image is one file, written under a temporary
 * name and renamed, so that readers never see a partial file. Files are not synced: digests detect a file
 * truncated by a crash, and it is replaced. Keys end with hexadecimal digits.
 */
export class DiskCache {
  readonly #folder: string;
  readonly #events: DiskCacheEvents;
  readonly #writes = new Set<Promise<void>>();
  /** The random part keeps files of a process that had the same id. */
  readonly #prefix = `${temporaryPrefix(process.pid)}${randomBytes(8).toString('hex')}`;
  #writeCount = 0;
  /** False skips writes. Reads continue. */
  isWritable = true;

  constructor(folder: string, events: DiskCacheEvents) {
    this.#folder = folder;
    this.#events = events;
  }

  /** The image of a cache key, or null if there is no intact file. Never rejects. */
  async read(key: string): Promise<Image | null> {
    const path = cacheFilePath(this.#folder, key);
    try {
      const stored = decodeFile(key, await files.read(path));
      if (stored !== null) {
        this.#events.read(key);
        return stored;
      }
      await rm(path, { force: true });
      this.#events.removed(key);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') this.#events.failed(error as Error);
    }
    return null;
  }

  /**
   * Whether there is a file for a cache key, which may be damaged. It blocks this thread for
   * less time than an asynchronous look takes.
   */
  has(key: string): boolean {
    return existsSync(cacheFilePath(this.#folder, key));
  }

  /** Resolves when the file has been written, or the write failed or was skipped. Never rejects. */
  async write(key: string, image: Image): Promise<void> {
    if (!this.isWritable || this.#writes.size >= maxWrites) return;
    const write = this.#store(key, image);
    this.#writes.add(write);
    await write;
    this.#writes.delete(write);
  }

  /** Resolves when the writes in progress are done. */
  async settle(): Promise<void> {
    await Promise.all(this.#writes);
  }

  async #store(key: string, image: Image): Promise<void> {
    this.#writeCount += 1;
    const name = `${this.#prefix}-${this.#writeCount}`;
    const temporary = join(cacheTemporaryFolder(this.#folder), name);
    try {
      const parts = encodeFile(key, image);
      const bytes = await this.#writeFile(temporary, cacheFilePath(this.#folder, key), parts);
      this.#events.stored(key, bytes);
    } catch (error) {
      this.#events.failed(error as Error);
      await rm(temporary, { force: true }).catch(() => {});
    }
  }

  async #writeFile(
    temporary: string,
    path: string,
    parts: ReturnType<typeof encodeFile>,
  ): Promise<number> {
    const bytes = parts[0].byteLength + parts[1].byteLength;
    const file = await creatingFolder(temporary, () => files.open(temporary, 'wx', 0o640));
    try {
      const { bytesWritten } = await files.writev(file, parts);
      if (bytesWritten !== bytes)
        throw new Error(`only ${bytesWritten} of ${bytes} bytes were written`);
    } finally {
      await files.close(file);
    }
    await creatingFolder(path, () => rename(temporary, path));
    return bytes;
  }
}

/** Creates the folder after ENOENT and tries again; also covers a cache that was emptied at run time. */
async function creatingFolder<T>(path: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    await mkdir(dirname(path), { recursive: true });
    return operation();
  }
}
