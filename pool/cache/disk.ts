import { randomBytes } from 'node:crypto';
import { existsSync, readFile, renameSync, writeFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Settings } from '../../contract/settings/table.ts';
import type { SourceState } from '../freshness.ts';
import type { Image } from '../image.ts';
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

/** Maximum concurrent writes. More writes are skipped, because they would keep bodies in memory. */
const maxWrites = 64;

/** The callback function, because `fs/promises` creates a stack for a missing file's error. */
const read = promisify(readFile);

/** How a file is written. */
interface FileCalls {
  writeFile(path: string, bytes: Uint8Array, options: typeof newFile): void | Promise<void>;
  rename(from: string, to: string): void | Promise<void>;
}

const newFile = { flag: 'wx', mode: 0o640 } as const;
/** For the event loop, which must not wait for a slow disk. */
const queued: FileCalls = { writeFile, rename };
/** For transform threads: trips through libuv's queue would take longer than the calls. */
const blocking: FileCalls = { writeFile: writeFileSync, rename: renameSync };

/** The file of an image that a transform thread renders. */
export interface ImageFile {
  /** The disk cache's folder. */
  readonly folder: string;
  readonly key: string;
  /** What the thread does not know of the image. */
  readonly facts: Pick<Image, 'fetchedAt' | 'sourceBytes' | 'digests'>;
}

/** A file's bytes, or why it was not written; and how long that took. */
export type WrittenFile = ({ readonly bytes: number } | { readonly error: Error }) & {
  readonly ms: number;
};

/** A file that a transform thread is to write, also if the request ends while the thread works. */
export interface ThreadFile {
  readonly folder: string;
  /** Tells the cache's index what the thread did. */
  readonly report: (written: WrittenFile) => void;
  /** Null until it is reported. */
  written: WrittenFile | null;
}

/** Writes an image's file on a transform thread, which waits for the disk. Never rejects. */
export async function writeImageFile(
  { folder, key, facts }: ImageFile,
  rendered: Omit<Image, 'fetchedAt'>,
): Promise<WrittenFile> {
  const { body, contentType, etag, width, height, sourceSize, warnings } = rendered;
  const image = { body, contentType, etag, width, height, ...facts, sourceSize, warnings };
  const startedAt = performance.now();
  const ms = () => performance.now() - startedAt;
  return store(folder, key, image as Image, blocking).then(
    (bytes) => ({ bytes, ms: ms() }),
    (error: Error) => ({ error, ms: ms() }),
  );
}

/** The random part keeps files of a process that had the same id, and of its other threads. */
const prefix = `${temporaryPrefix(process.pid)}${randomBytes(8).toString('hex')}`;
let writeCount = 0;

/** Writes a file under a temporary name and renames it. Returns its bytes. */
async function store(
  folder: string,
  key: string,
  content: Cached,
  { writeFile, rename }: FileCalls,
): Promise<number> {
  writeCount += 1;
  const temporary = join(cacheTemporaryFolder(folder), `${prefix}-${writeCount}`);
  const path = cacheFilePath(folder, key);
  const bytes = Buffer.concat(encodeFile(key, content));
  try {
    await creatingFolder(temporary, () => writeFile(temporary, bytes, newFile));
    await creatingFolder(path, () => rename(temporary, path));
    return bytes.byteLength;
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  }
}

/**
 * The disk cache, shared by all processes on the machine. Each image is one file, written under a
 * temporary name and renamed, so that readers never see a partial file. Files are not synced:
 * digests detect a file truncated by a crash, and the image is rendered again. Keys end with
 * hexadecimal digits.
 */
export class DiskCache {
  readonly #folder: string;
  readonly #events: DiskCacheEvents;
  readonly #writes = new Set<Promise<void>>();
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
      const stored = decode(key, await read(path));
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

  /** Resolves when the write has succeeded, failed or been skipped. Never rejects. */
  async write(key: string, content: Cached): Promise<void> {
    if (!this.isWritable || this.#writes.size >= maxWrites) return;
    const write = this.#store(key, content);
    this.#writes.add(write);
    await write;
    this.#writes.delete(write);
  }

  /** The folder for the files that transform threads write; null while writes are skipped. */
  get writableFolder(): string | null {
    return this.isWritable ? this.#folder : null;
  }

  /** Reports a file that a transform thread has written, or deletes it if nobody would find it. */
  async written(key: string, file: WrittenFile, isCurrent: boolean): Promise<void> {
    if ('error' in file) this.#events.failed(file.error);
    else if (isCurrent) this.#events.stored(key, file.bytes);
    else await rm(cacheFilePath(this.#folder, key), { force: true }).catch(() => {});
  }

  /** Resolves when the writes in progress are done. */
  async settle(): Promise<void> {
    await Promise.all(this.#writes);
  }

  async #store(key: string, content: Cached): Promise<void> {
    try {
      this.#events.stored(key, await store(this.#folder, key, content, queued));
    } catch (error) {
      this.#events.failed(error as Error);
    }
  }
}

/** Creates the folder after ENOENT and retries, so emptying the cache at run time is harmless. */
async function creatingFolder<T>(path: string, operation: () => T | Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await mkdir(dirname(path), { recursive: true });
    return operation();
  }
}
