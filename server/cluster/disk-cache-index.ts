import { chmod, lstat, mkdir, opendir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { makeFolder } from '../../contract/make-folder.ts';
import { cacheFilePath, cacheTemporaryFolder } from '../../pool/cache/disk.ts';

/** Files occupy whole blocks; ext4, XFS and APFS default to this size. */
const blockBytes = 4_096;
/** Part of the limit to which it clears, to make room for many writes. */
const lowWaterMark = 0.9;
const privateMode = 0o700;
const keyPattern = /^[0-9a-f]{64}$/;
/** Concurrent `lstat` calls of the scan: few, to leave libuv threads for requests. */
const scanBatch = 16;

const occupied = (bytes: number): number => Math.ceil(bytes / blockBytes) * blockBytes;

interface Found {
  readonly key: string;
  readonly bytes: number;
  readonly modifiedMs: number;
}

/**
 * The index of the disk cache: its files with their sizes, in the order of their use. The primary owns it,
 * receives the writes and hits of the front ends, and keeps the folder below its limit.
 */
export class DiskCacheIndex {
  readonly maxBytes: number;
  readonly #folder: string;
  readonly #onError: (error: Error) => void;
  /** Sizes by key. This class enforces the limit itself, with a low-water mark. */
  #files = DiskCacheIndex.#newIndex();
  /** Keys that were used or removed while a scan runs. */
  #duringScan: { readonly used: Set<string>; readonly removed: Set<string> } | null = null;
  #deleting: Promise<void> = Promise.resolve();
  #closed = false;
  /** Images that were deleted to make room. */
  evictions = 0;

  constructor(folder: string, maxBytes: number, onError: (error: Error) => void) {
    this.#folder = folder;
    this.maxBytes = maxBytes;
    this.#onError = onError;
  }

  get bytes(): number {
    return this.#files.calculatedSize;
  }

  get count(): number {
    return this.#files.size;
  }

  /** Creates the folders and removes temporary files. Call it before any write. */
  async prepare(): Promise<void> {
    const temporary = cacheTemporaryFolder(this.#folder);
    await rm(temporary, { recursive: true, force: true });
    // Other users of the machine must not read images of projects that require signed URLs.
    await makeFolder(this.#folder, privateMode);
    await chmod(this.#folder, privateMode);
    await mkdir(temporary, { recursive: true });
  }

  /** Adds the files on the disk, oldest first, while the service runs. */
  async scan(): Promise<void> {
    const duringScan = { used: new Set<string>(), removed: new Set<string>() };
    this.#duringScan = duringScan;
    const found: Found[] = [];
    for await (const batch of this.#walk()) found.push(...batch);
    found.sort((a, b) => a.modifiedMs - b.modifiedMs);
    const index = DiskCacheIndex.#newIndex();
    for (const { key, bytes } of found) {
      if (!duringScan.removed.has(key)) index.set(key, occupied(bytes));
    }
    for (const key of duringScan.used) index.get(key);
    for (const [key, bytes] of [...this.#files.entries()].reverse()) index.set(key, bytes);
    this.#files = index;
    this.#duringScan = null;
    this.#clear();
  }

  stored(key: string, bytes: number): void {
    this.#files.set(key, occupied(bytes));
    this.#duringScan?.removed.delete(key);
    this.#clear();
  }

  used(key: string): void {
    this.#files.get(key);
    this.#duringScan?.used.add(key);
  }

  /**
   * A front end has removed a damaged file. It may exist again, so the folder is checked. Never rejects.
   */
  async removed(key: string): Promise<void> {
    const facts = await lstat(cacheFilePath(this.#folder, key)).catch(() => null);
    if (facts?.isFile()) this.stored(key, facts.size);
    else this.#forget(key);
  }

  /**
   * A front end has died before it reported that a file was written. Never rejects.
   * @param name of the temporary file
   */
  async abandoned(name: string, key: string): Promise<void> {
    const temporary = join(cacheTemporaryFolder(this.#folder), name);
    await rm(temporary, { force: true }).catch(this.#onError);
    await this.removed(key);
  }

  /** Deletes the least recently used images until the others have this size. */
  shrinkTo(bytes: number): void {
    const keys: string[] = [];
    while (this.bytes > bytes) {
      const oldest = this.#files.rkeys().next();
      if (oldest.done) break;
      this.#forget(oldest.value);
      keys.push(oldest.value);
    }
    if (keys.length === 0) return;
    this.evictions += keys.length;
    this.#deleting = this.#deleting.then(() => this.#delete(keys));
  }

  /** Resolves after the deletions in progress. */
  get settled(): Promise<void> {
    return this.#deleting;
  }

  /** Ends a scan; resolves as {@link settled}. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#deleting;
  }

  static #newIndex(): LRUCache<string, number> {
    return new LRUCache({
      maxSize: Number.MAX_SAFE_INTEGER,
      maxEntrySize: Number.MAX_SAFE_INTEGER,
      sizeCalculation: (bytes) => Math.max(1, bytes),
    });
  }

  #forget(key: string): void {
    this.#files.delete(key);
    this.#duringScan?.removed.add(key);
  }

  #clear(): void {
    if (this.bytes > this.maxBytes) this.shrinkTo(this.maxBytes * lowWaterMark);
  }

  async #delete(keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      // A file that was written again stays.
      if (this.#files.has(key)) continue;
      await rm(cacheFilePath(this.#folder, key), { force: true }).catch(this.#onError);
    }
  }

  async *#walk(): AsyncGenerator<Found[]> {
    const root = join(this.#folder, 'files');
    let batch: Promise<Found | null>[] = [];
    for (const first of await foldersIn(root)) {
      for (const second of await foldersIn(join(root, first))) {
        const directory = await opendir(join(root, first, second)).catch(() => null);
        for await (const { name } of directory ?? []) {
          if (this.#closed) return;
          batch.push(this.#inspect(name, join(root, first, second, name)));
          if (batch.length < scanBatch) continue;
          yield (await Promise.all(batch)).filter((one) => one !== null);
          batch = [];
        }
      }
    }
    yield (await Promise.all(batch)).filter((one) => one !== null);
  }

  async #inspect(name: string, path: string): Promise<Found | null> {
    if (!keyPattern.test(name)) return null;
    const facts = await lstat(path).catch(() => null);
    if (!facts?.isFile() || !(await this.#isInPlace(name, path))) return null;
    return { key: name, bytes: facts.size, modifiedMs: facts.mtimeMs };
  }

  /** Moves a file of an earlier version, which had two levels of 256 folders. */
  async #isInPlace(key: string, path: string): Promise<boolean> {
    const place = cacheFilePath(this.#folder, key);
    if (path === place) return true;
    if (path !== join(this.#folder, 'files', key.slice(0, 2), key.slice(2, 4), key)) return false;
    try {
      await mkdir(dirname(place), { recursive: true });
      await rename(path, place);
      return true;
    } catch (error) {
      this.#onError(error as Error);
      return false;
    }
  }
}

async function foldersIn(path: string): Promise<string[]> {
  const names: string[] = [];
  const directory = await opendir(path).catch(() => null);
  for await (const entry of directory ?? []) if (entry.isDirectory()) names.push(entry.name);
  return names;
}
