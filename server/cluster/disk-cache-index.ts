import { lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cacheFilePath, cacheTemporaryFolder, temporaryPrefix } from '../../pool/cache/disk.ts';
import { FairLru } from '../../pool/cache/fair-lru.ts';
import { makePrivateFolder } from '../../store/make-folder.ts';
import { keyPattern } from '../image/key.ts';

/** Files occupy whole blocks; ext4, XFS and APFS default to this size. */
const blockBytes = 4_096;
/** Fraction of the limit to keep when deleting, to make room for many writes. */
const lowWaterMark = 0.9;
/** Concurrent `lstat` calls during the scan: few, to leave libuv threads for requests. */
const scanBatch = 16;
/** Minimum time between scans after missing files. */
const compareEveryMs = 10_000;

/** The last two digits of keys, which determine a file's folder. */
const folderEndings = Array.from({ length: 256 }, (_, n) => n.toString(16).padStart(2, '0'));

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

const occupied = (bytes: number): number => Math.ceil(bytes / blockBytes) * blockBytes;

interface CacheFile {
  readonly key: string;
  readonly bytes: number;
  readonly modifiedMs: number;
}

/**
 * The disk cache index: file sizes, from least to most recently used. The primary owns it, receives
 * the front ends' writes and hits, and keeps the folder below its limit.
 */
export class DiskCacheIndex {
  readonly maxBytes: number;
  readonly #folder: string;
  readonly #onError: (error: Error) => void;
  /** Sizes by key. This class enforces the limit itself, with a low-water mark. */
  readonly #files = new FairLru<number>((bytes) => Math.max(1, bytes));
  #scanning: Promise<void> = Promise.resolve();
  /** The next scan, before it starts. */
  #nextScan: Promise<void> | null = null;
  /** Keys used and removed during a running scan. */
  #duringScan: { readonly used: Set<string>; readonly removed: Set<string> } | null = null;
  #deleting: Promise<void> = Promise.resolve();
  #comparedAt = Number.NEGATIVE_INFINITY;
  #closed = false;
  /** Number of images deleted to make room. */
  evictions = 0;

  constructor(folder: string, maxBytes: number, onError: (error: Error) => void) {
    this.#folder = folder;
    this.maxBytes = maxBytes;
    this.#onError = onError;
  }

  get bytes(): number {
    return this.#files.bytes;
  }

  get count(): number {
    return this.#files.count;
  }

  /** Creates the folders and removes temporary files. Call it before any write. */
  async prepare(): Promise<void> {
    const temporary = cacheTemporaryFolder(this.#folder);
    await rm(temporary, { recursive: true, force: true });
    // Other users of the machine must not read images of projects that require signed URLs.
    await makePrivateFolder(this.#folder);
    await mkdir(temporary, { recursive: true });
  }

  /**
   * Adds files on disk that the index lacks, and forgets files that the disk lacks, while the service
   * runs. Scans run one at a time; calls during a scan share the next one. Never rejects.
   */
  scan(): Promise<void> {
    if (this.#nextScan !== null) return this.#nextScan;
    const scan = this.#scanning.then(() => {
      this.#nextScan = null;
      return this.#scan();
    });
    this.#nextScan = scan;
    this.#scanning = scan;
    return scan;
  }

  stored(key: string, bytes: number): void {
    this.#files.set(key, occupied(bytes));
    this.#duringScan?.removed.delete(key);
    this.#duringScan?.used.add(key);
    this.#keepLimit();
  }

  used(key: string): void {
    this.#files.use(key);
    this.#duringScan?.used.add(key);
  }

  /**
   * Handles a file that a front end missed, or removed because it was damaged. Another process might
   * have written the file again, so this checks the folder. Never rejects.
   */
  async removed(key: string): Promise<void> {
    // Not for each miss of an image that was never stored.
    if (!this.#files.has(key) && this.#duringScan === null) return;
    // First, because a process can report a new file during the check.
    this.#forget(key);
    const stats = await lstat(cacheFilePath(this.#folder, key)).catch(() => null);
    if (stats?.isFile()) this.stored(key, stats.size);
    else this.#compareFolder();
  }

  /**
   * Cleans up after an ended front end: removes its unfinished files, and adds files that it did
   * not report. Never rejects.
   */
  async ended(processId: number): Promise<void> {
    const folder = cacheTemporaryFolder(this.#folder);
    const names = await readdir(folder).catch(() => []);
    for (const name of names.filter((fileName) =>
      fileName.startsWith(temporaryPrefix(processId)),
    )) {
      await rm(join(folder, name), { force: true }).catch(this.#onError);
    }
    await this.scan();
  }

  /**
   * Deletes the least recently used images, as chosen by `FairLru`, until the rest have this size.
   */
  shrinkTo(bytes: number): void {
    const keys = this.#files.evictTo(Math.max(0, bytes));
    for (const key of keys) this.#duringScan?.removed.add(key);
    if (keys.length === 0) return;
    this.evictions += keys.length;
    void this.#deleteLater(keys);
  }

  /** Deletes the images of matching keys. Never rejects. @returns the number of deleted images */
  async deleteWhere(matches: (key: string) => boolean): Promise<number> {
    const keys = [...this.#files.keys()].filter(matches);
    let deleted = 0;
    for (const key of keys) {
      if (this.#closed) break;
      this.#forget(key);
      await this.#deleteLater([key]);
      deleted += 1;
    }
    return deleted;
  }

  /** Resolves after the current deletions. */
  get settled(): Promise<void> {
    return this.#deleting;
  }

  /** Stops a scan. Resolves after the current deletions. */
  close(): Promise<void> {
    this.#closed = true;
    return this.#deleting;
  }

  async #scan(): Promise<void> {
    const duringScan = { used: new Set<string>(), removed: new Set<string>() };
    this.#duringScan = duringScan;
    // The index no longer lists files with a pending deletion.
    await this.#deleting;
    const found = await this.#compareFiles();
    found.sort((a, b) => a.modifiedMs - b.modifiedMs);
    for (const { key, bytes } of found) {
      if (duringScan.removed.has(key) || this.#files.has(key)) continue;
      this.#files.set(key, occupied(bytes));
    }
    for (const key of duringScan.used) this.#files.use(key);
    this.#duringScan = null;
    this.#keepLimit();
  }

  #forget(key: string): void {
    this.#files.delete(key);
    this.#duringScan?.removed.add(key);
  }

  #keepLimit(): void {
    if (this.bytes > this.maxBytes) this.shrinkTo(this.maxBytes * lowWaterMark);
  }

  #deleteLater(keys: readonly string[]): Promise<void> {
    this.#deleting = this.#deleting.then(() => this.#delete(keys));
    return this.#deleting;
  }

  async #delete(keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      // Keep a file that a process has written again.
      if (this.#files.has(key)) continue;
      await rm(cacheFilePath(this.#folder, key)).catch((error: Error) => {
        if (isMissing(error)) this.#compareFolder();
        else this.#onError(error);
      });
    }
  }

  /** Scans after a file was missing, because somebody might have emptied the cache by hand. */
  #compareFolder(): void {
    const now = performance.now();
    if (now - this.#comparedAt < compareEveryMs) return;
    this.#comparedAt = now;
    void this.scan();
  }

  /** Returns the files that the index lacks, and forgets the files that the disk lacks. */
  async #compareFiles(): Promise<CacheFile[]> {
    const found: CacheFile[] = [];
    for (const [folder, known] of this.#keysByFolder()) {
      const names = await readdir(folder).catch((error: unknown) => (isMissing(error) ? [] : null));
      if (names === null) continue;
      const onDisk = new Set(names);
      const differing = [
        ...names.filter((name) => !this.#files.has(name)),
        ...known.filter((key) => !onDisk.has(key)),
      ];
      for (let at = 0; at < differing.length && !this.#closed; at += scanBatch) {
        const batch = differing.slice(at, at + scanBatch);
        const files = await Promise.all(batch.map((name) => this.#inspect(name, folder)));
        for (const [index, file] of files.entries()) {
          const name = batch[index] ?? '';
          if (file === null) this.#files.delete(name);
          else if (!this.#files.has(name)) found.push(file);
        }
      }
    }
    return found;
  }

  /** Returns the keys in the index for each folder that can contain files. */
  #keysByFolder(): ReadonlyMap<string, string[]> {
    const folders = new Map<string, string[]>();
    for (const ending of folderEndings) {
      folders.set(dirname(cacheFilePath(this.#folder, ending)), []);
    }
    for (const key of this.#files.keys()) {
      folders.get(dirname(cacheFilePath(this.#folder, key)))?.push(key);
    }
    return folders;
  }

  /** Returns a folder's file; null for a foreign or a missing file. */
  async #inspect(key: string, folder: string): Promise<CacheFile | null> {
    const path = join(folder, key);
    if (!keyPattern.test(key) || path !== cacheFilePath(this.#folder, key)) return null;
    const stats = await lstat(path).catch(() => null);
    return stats?.isFile() ? { key, bytes: stats.size, modifiedMs: stats.mtimeMs } : null;
  }
}
