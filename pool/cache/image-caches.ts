import type { Settings } from '../../contract/settings/table.ts';
import type { SourceState } from '../freshness.ts';
import type { Image } from '../image.ts';
import type { ImageRequest } from '../miss.ts';
import { runStage } from '../stages.ts';
import type { ImageTier } from '../tiers.ts';
import { isUpToDate } from '../validity.ts';
import { DiskCache, type DiskCacheEvents, diskCacheFolder } from './disk.ts';
import { FairLru } from './fair-lru.ts';
import { SharedCache, type SharedCacheEnvironment } from './shared-cache.ts';

/**
 * An entry of the memory cache. On eviction the cache sets `image` to null, so that holders of the
 * entry do not keep the bytes in memory.
 */
export interface MemoryEntry {
  readonly key: string;
  image: Image | null;
  /** Time of the last counted hit, Unix ms. */
  touchedAt: number;
}

/**
 * Memory per entry in addition to the image, measured on 85,000 tiny images: the finished response,
 * its headers and strings, and allocators' overhead. A smaller figure would let tiny images exceed
 * the limit several times.
 */
const overheadBytes = 11_264;

const countBytes = ({ image }: MemoryEntry): number =>
  (image?.body.byteLength ?? 0) + overheadBytes;

/**
 * How long to use an image of a source that ended too early, since the fetch: the source might have
 * been uploading. Longer than sources stay cached, so that the next render fetches it again.
 */
const incompleteMs = 60_000;

/** Minimum time between updates of an entry's recency, so that frequent hits stay cheap. */
const touchEveryMs = 1_000;

/** The memory cache of this process, bounded by bytes. */
export class MemoryCache {
  readonly #entries = new FairLru<MemoryEntry>(countBytes, (entry) => {
    entry.image = null;
  });
  readonly #onHit: (key: string) => void;
  readonly maxBytes: number;
  /** Total entries evicted since the start. */
  evictions = 0;

  /** @param onHit called for hits, at most once a second per key */
  constructor(maxBytes: number, onHit: (key: string) => void) {
    this.maxBytes = maxBytes;
    this.#onHit = onHit;
  }

  get(key: string, now: number): (MemoryEntry & { readonly image: Image }) | null {
    const entry = this.#entries.peek(key);
    if (entry?.image == null) return null;
    this.touch(entry, now);
    return entry as MemoryEntry & { image: Image };
  }

  /** Counts a hit on an entry that the caller holds. @param now Unix ms */
  touch(entry: MemoryEntry, now: number): void {
    if (now - entry.touchedAt < touchEveryMs) return;
    entry.touchedAt = now;
    this.#entries.use(entry.key);
    this.#onHit(entry.key);
  }

  /** Returns null if the image is too large for the cache, or the cache is disabled. */
  set(key: string, image: Image, now: number): MemoryEntry | null {
    const entry: MemoryEntry = { key, image, touchedAt: now };
    if (countBytes(entry) > this.maxBytes) {
      this.#entries.delete(key);
      return null;
    }
    this.#entries.set(key, entry);
    this.evictions += this.#entries.evictTo(this.maxBytes).length;
    return entry.image === null ? null : entry;
  }

  /** Deletes the images of some keys. */
  deleteWhere(matches: (key: string) => boolean): void {
    for (const key of [...this.#entries.keys()].filter(matches)) this.#entries.delete(key);
  }

  get bytes(): number {
    return this.#entries.bytes;
  }

  get count(): number {
    return this.#entries.count;
  }
}

/**
 * Returns the states of the inputs that a request's image follows, in order; null for an unknown
 * state.
 */
export type GetStates = (
  request: Pick<ImageRequest, 'freshness'>,
) => readonly (SourceState | null)[];

/** An image and the cache tier that it came from. */
export interface CachedImage {
  readonly image: Image;
  /** Null if the image is too large for the memory cache, or the cache is disabled. */
  readonly entry: MemoryEntry | null;
  readonly tier: ImageTier;
}

export interface ImageCachesEnvironment extends SharedCacheEnvironment {
  readonly disk: DiskCacheEvents;
  /** Called for memory cache hits, at most once a second per key. */
  readonly onMemoryHit: (key: string) => void;
  /** Unix ms. */
  readonly now: () => number;
}

export type ImageCacheSettings = Pick<
  Settings,
  | 'memoryCacheBytes'
  | 'processes'
  | 'dataDir'
  | 'diskCacheBytes'
  | 'sharedCacheUrl'
  | 'sharedCacheTimeoutMs'
  | 'sharedCacheQueueBytes'
>;

/** The memory, disk and shared caches of images. They return only valid images. */
export class ImageCaches {
  readonly memory: MemoryCache;
  /** Null if not configured. */
  readonly disk: DiskCache | null;
  /** Null if not configured. */
  readonly shared: SharedCache | null;
  readonly #getStates: GetStates;
  readonly #now: () => number;

  constructor(
    settings: ImageCacheSettings,
    environment: ImageCachesEnvironment,
    getStates: GetStates,
  ) {
    const { memoryCacheBytes, processes, diskCacheBytes, sharedCacheUrl } = settings;
    const { disk, onMemoryHit } = environment;
    this.memory = new MemoryCache(Math.floor(memoryCacheBytes / processes), onMemoryHit);
    this.disk = diskCacheBytes === 0 ? null : new DiskCache(diskCacheFolder(settings), disk);
    this.shared = sharedCacheUrl && new SharedCache({ ...settings, sharedCacheUrl }, environment);
    this.#getStates = getStates;
    this.#now = environment.now;
  }

  /**
   * Returns whether a cache other than memory could contain an image. Checks for the file without
   * waiting for a libuv thread, which reduces a refusal's CPU time by 25%. The shared cache could
   * contain any image.
   */
  mightContain(key: string): boolean {
    return this.shared !== null || this.disk?.has(key) === true;
  }

  readMemory(request: ImageRequest): CachedImage | null {
    const stage = request.stages.begin('memory');
    const entry = this.memory.get(request.key, this.#now());
    const image = this.#valid(entry?.image ?? null, request);
    stage.end({ hit: image !== null });
    if (entry === null || image === null) return null;
    return { image, entry, tier: 'memory' };
  }

  async readDisk(request: ImageRequest): Promise<CachedImage | null> {
    const { disk } = this;
    if (disk === null) return null;
    const read = async () => this.#valid(await disk.read(request.key), request);
    const image = await runStage(request.stages, 'disk', read, isHit);
    return image && this.keep(request, image, 'disk');
  }

  /** @param signal aborts when no request waits for the image */
  async readShared(request: ImageRequest, signal: AbortSignal): Promise<CachedImage | null> {
    const { shared } = this;
    if (shared === null) return null;
    const { key, project } = request;
    const read = async () => this.#valid(await shared.read(key, project, signal), request);
    const image = await runStage(request.stages, 'shared', read, isHit);
    return image && this.keep(request, image, 'shared');
  }

  /** Keeps an image in memory, unless a purge happened during its render. */
  keep({ key, generation }: ImageRequest, image: Image, tier: ImageTier): CachedImage {
    const entry = generation.isCurrent() ? this.memory.set(key, image, this.#now()) : null;
    return { image, entry, tier };
  }

  /**
   * Writes an image to the caches behind its origin tier, unless a purge happened meanwhile: no
   * request would find it. Resolves when the file is written.
   */
  async write(request: ImageRequest, { image, tier }: CachedImage): Promise<void> {
    const { key, project, generation, stages } = request;
    const { disk } = this;
    if (!generation.isCurrent()) return;
    if (tier === 'miss') this.shared?.write(key, project, image);
    if (disk === null || tier === 'disk' || !disk.isWritable) return;
    await runStage(stages, 'write', () => disk.write(key, image));
  }

  /** Stops writes to the disk, or continues them. Reads continue. */
  pauseDiskWrites(paused: boolean): void {
    if (this.disk !== null) this.disk.isWritable = !paused;
  }

  stats() {
    const { bytes, maxBytes, count, evictions } = this.memory;
    return {
      memory: { bytes, maxBytes, count, evictions },
      /** Null if there is no shared cache. */
      shared: this.shared?.stats() ?? null,
    };
  }

  async close(): Promise<void> {
    await Promise.all([this.disk?.settle(), this.shared?.close()]);
  }

  /** Returns whether the image's inputs are still current since their fetches. */
  isValid(image: Image, request: ImageRequest): boolean {
    const now = this.#now();
    const isIncomplete = image.warnings?.includes('source_incomplete') === true;
    if (isIncomplete && now - Math.min(...image.fetchedAt) > incompleteMs) return false;
    return request.freshness === null || isUpToDate(image, this.#getStates(request), now);
  }

  #valid(image: Image | null, request: ImageRequest): Image | null {
    return image !== null && this.isValid(image, request) ? image : null;
  }
}

const isHit = (found: Image | null) => ({ hit: found !== null });
