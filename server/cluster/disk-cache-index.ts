import { lstat, mkdir, opendir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { cacheFilePath, cacheTemporaryFolder } from '../../pool/cache/disk.ts';

/** Files occupy whole blocks; ext4, xfs and APFS all default to this size. */
const blockBytes = 4_096;
/** Clearing down to here makes room for many writes at once instead of one file a write. */
const lowWaterMark = 0.9;
const keyPattern = /^[0-9a-f]{64}$/;
/** Stats at once during the scan: enough to be quick, few enough to leave libuv's pool to others. */
const scanBatch = 16;

const occupied = (bytes: number): number => Math.ceil(bytes / blockBytes) * blockBytes;

interface Found {
  readonly key: string;
  readonly bytes: number;
  readonly modifiedMs: number;
}

/**
 * The disk cache's index: which files there are, how big, and which were used last. One process
 * owns it, hears of the others' writes and hits, and keeps the folder below its limit.
 */
export class DiskCacheIndex {
  readonly maxBytes: number;
  readonly #folder: string;
  readonly #onTrouble: (error: Error) => void;
  /** Sizes by key; the limit is kept by hand, with a low-water mark, so it has none of its own. */
  #files = DiskCacheIndex.#newIndex();
  /** What happened, while a scan runs, to files that it may find or have found. */
  #meanwhile: { readonly used: Set<string>; readonly gone: Set<string> } | null = null;
  #deleting: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(folder: string, maxBytes: number, onTrouble: (error: Error) => void) {
    this.#folder = folder;
    this.maxBytes = maxBytes;
    this.#onTrouble = onTrouble;
  }

  get bytes(): number {
    return this.#files.calculatedSize;
  }

  get count(): number {
    return this.#files.size;
  }

  /** Makes the folders and removes torn temporary files. To be called before anybody writes. */
  async prepare(): Promise<void> {
    const temporary = cacheTemporaryFolder(this.#folder);
    await rm(temporary, { recursive: true, force: true });
    await mkdir(temporary, { recursive: true });
  }

  /** Takes stock of the files there are, oldest first; the service already serves meanwhile. */
  async scan(): Promise<void> {
    const meanwhile = { used: new Set<string>(), gone: new Set<string>() };
    this.#meanwhile = meanwhile;
    const found: Found[] = [];
    for await (const batch of this.#walk()) found.push(...batch);
    found.sort((a, b) => a.modifiedMs - b.modifiedMs);
    const index = DiskCacheIndex.#newIndex();
    for (const { key, bytes } of found) {
      if (!meanwhile.gone.has(key)) index.set(key, occupied(bytes));
    }
    for (const key of meanwhile.used) index.get(key);
    for (const [key, bytes] of [...this.#files.entries()].reverse()) index.set(key, bytes);
    this.#files = index;
    this.#meanwhile = null;
    this.#clear();
  }

  stored(key: string, bytes: number): void {
    this.#files.set(key, occupied(bytes));
    this.#meanwhile?.gone.delete(key);
    this.#clear();
  }

  used(key: string): void {
    this.#files.get(key);
    this.#meanwhile?.used.add(key);
  }

  removed(key: string): void {
    this.#files.delete(key);
    this.#meanwhile?.gone.add(key);
  }

  /** Resolves when deletions that were begun are done. */
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

  #clear(): void {
    if (this.bytes <= this.maxBytes) return;
    const keys: string[] = [];
    while (this.bytes > this.maxBytes * lowWaterMark) {
      const oldest = this.#files.rkeys().next();
      if (oldest.done) break;
      this.removed(oldest.value);
      keys.push(oldest.value);
    }
    this.#deleting = this.#deleting.then(() => this.#delete(keys));
  }

  async #delete(keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      // Written again since it was chosen: it is new and stays.
      if (this.#files.has(key)) continue;
      await rm(cacheFilePath(this.#folder, key), { force: true }).catch(this.#onTrouble);
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
          batch.push(this.#look(name, join(root, first, second, name)));
          if (batch.length < scanBatch) continue;
          yield (await Promise.all(batch)).filter((one) => one !== null);
          batch = [];
        }
      }
    }
    yield (await Promise.all(batch)).filter((one) => one !== null);
  }

  async #look(name: string, path: string): Promise<Found | null> {
    if (!keyPattern.test(name) || path !== cacheFilePath(this.#folder, name)) return null;
    const facts = await lstat(path).catch(() => null);
    return facts?.isFile() ? { key: name, bytes: facts.size, modifiedMs: facts.mtimeMs } : null;
  }
}

async function foldersIn(path: string): Promise<string[]> {
  const names: string[] = [];
  const directory = await opendir(path).catch(() => null);
  for await (const entry of directory ?? []) if (entry.isDirectory()) names.push(entry.name);
  return names;
}
