import { randomBytes } from 'node:crypto';
import { close, existsSync, open, readFile, writev } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Settings } from '../../contract/settings/table.ts';
import type { SourceState } from '../freshness.ts';
import type { Image } from '../image.ts';
import { Semaphore } from '../semaphore.ts';
import { type Cached, decodeFile, decodeState, encodeFile } from './file.ts';

/** Events for the index of the disk cache, which enforces its size limit. */
export interface DiskCacheEvents {
  stored(key: string, bytes: number): void;
  read(key: string): void;
  /** Called for a key without a file, and after removing a corrupt file. */
  removed(key: string, reason: 'missing' | 'damaged'): void;
  /** Called after a file system error. The request continues as a cache miss. */
  failed(error: Error): void;
}

/** Returns the folder of a deployment's disk cache. */
export const diskCacheFolder = ({ dataDir }: Pick<Settings, 'dataDir'>): string =>
  resolve(join(dataDir, 'cache'));

/**
 * Returns a file's path, in two levels of 16 folders each. With a million files each folder
 * contains 4,000, which indexed folders (ext4, XFS, APFS) handle easily; more folders would have to
 * be created during misses. The key's last digits select the folder, because a project's keys share
 * their first digits.
 */
export function cacheFilePath(folder: string, key: string): string {
  return join(folder, 'files', key.slice(-1), key.slice(-2, -1), key);
}

/**
 * Returns the folder for files being written. At startup its files are incomplete and can be
 * deleted.
 */
export function cacheTemporaryFolder(folder: string): string {
  return join(folder, 'tmp');
}

/**
 * Returns the prefix of files that a process is writing. After the process ends they can be
 * deleted.
 */
export function temporaryPrefix(processId: number): string {
  return `${processId}-`;
}

/**
 * A write to a disk that does not respond blocks a thread of libuv's pool. The other threads must
 * keep reading and rendering.
 */
const maxConcurrentWrites = 2;
/** Maximum writes, with waiting ones. More are skipped, because they would keep bodies in memory. */
const maxWrites = 64;
/** Further writes are skipped while the bodies of these writes have this many bytes. */
const maxWriteBytes = 64 * 2 ** 20;
/** How long a write's caller waits for a slow disk. Requests in other processes might wait too. */
const waitForWriteMs = 1_000;

/**
 * The callback functions in `fs`, because `fs/promises` creates a FileHandle, and a stack for a
 * missing file's error.
 */
const files = {
  open: promisify(open),
  writev: promisify(writev),
  close: promisify(close),
  read: promisify(readFile),
};

/**
 * The disk cache, shared by all processes on the machine. Each image is one file, written under a
 * temporary name and renamed, so that readers never see a partial file. Files are not synced:
 * digests detect a file truncated by a crash, and the image is rendered again. Keys end with
 * hexadecimal digits.
 */
export class DiskCache {
  readonly #folder: string;
  readonly #events: DiskCacheEvents;
  readonly #turns = new Semaphore(maxConcurrentWrites);
  readonly #writes = new Set<Promise<unknown>>();
  #writeBytes = 0;
  /** The random part keeps files of a process that had the same id. */
  readonly #prefix = `${temporaryPrefix(process.pid)}${randomBytes(8).toString('hex')}`;
  #writeCount = 0;
  /** False skips writes. Reads continue. */
  isWritable = true;

  constructor(folder: string, events: DiskCacheEvents) {
    this.#folder = folder;
    this.#events = events;
  }

  /** Returns a cache key's image, or null if the file is missing or damaged. Never rejects. */
  read(key: string): Promise<Image | null> {
    return this.#read(key, decodeFile);
  }

  /** Returns a source's state like `read`. */
  readState(key: string): Promise<SourceState | null> {
    return this.#read(key, decodeState);
  }

  async #read<T>(key: string, decode: (key: string, file: Buffer) => T | null): Promise<T | null> {
    const path = cacheFilePath(this.#folder, key);
    try {
      const stored = decode(key, await files.read(path));
      if (stored !== null) {
        this.#events.read(key);
        return stored;
      }
      await rm(path, { force: true });
      this.#events.removed(key, 'damaged');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') this.#events.removed(key, 'missing');
      else this.#events.failed(error as Error);
    }
    return null;
  }

  /**
   * Returns whether a cache key's file exists, even if damaged. Blocks this thread for less time
   * than an asynchronous check takes.
   */
  has(key: string): boolean {
    return existsSync(cacheFilePath(this.#folder, key));
  }

  /**
   * Resolves when the write has succeeded, failed, been skipped, or taken too long to wait for.
   * Never rejects.
   */
  async write(key: string, content: Cached): Promise<void> {
    if (!this.isWritable || this.#writes.size >= maxWrites || this.#writeBytes >= maxWriteBytes) {
      return;
    }
    const bytes = 'body' in content ? content.body.byteLength : 0;
    this.#writeBytes += bytes;
    const write = this.#store(key, content).finally(() => {
      this.#writes.delete(write);
      this.#writeBytes -= bytes;
    });
    this.#writes.add(write);
    await Promise.race([write, sleep(waitForWriteMs, null, { ref: false })]);
  }

  /** Resolves when the writes in progress are done. */
  async settle(): Promise<void> {
    await Promise.all(this.#writes);
  }

  async #store(key: string, content: Cached): Promise<void> {
    this.#writeCount += 1;
    const name = `${this.#prefix}-${this.#writeCount}`;
    const temporary = join(cacheTemporaryFolder(this.#folder), name);
    const leave = await this.#turns.enter();
    try {
      const parts = encodeFile(key, content);
      const bytes = await this.#writeFile(temporary, cacheFilePath(this.#folder, key), parts);
      this.#events.stored(key, bytes);
    } catch (error) {
      this.#events.failed(error as Error);
      await rm(temporary, { force: true }).catch(() => {});
    } finally {
      leave();
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

/** Creates the folder after ENOENT and retries, so emptying the cache at run time is harmless. */
async function creatingFolder<T>(path: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await mkdir(dirname(path), { recursive: true });
    return operation();
  }
}
