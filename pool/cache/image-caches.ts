import type { SourceState } from '../freshness.ts';
import type { Image } from '../image.ts';
import type { EngineSettings } from '../settings.ts';
import { noObserver, runStage, type StageObserver } from '../stages.ts';
import type { ImageTier } from '../tiers.ts';
import { type Generation, isUpToDate } from '../validity.ts';
import { DiskCache, type DiskCacheEvents } from './disk.ts';
import { MemoryCache, type MemoryEntry } from './memory.ts';
import { SharedCache, type SharedCacheEnvironment, type SharedWait } from './shared-cache.ts';

/** What a request needs of a cached image. */
export interface ImageQuery {
  /** The project's id. */
  readonly project: string;
  /** As in the key of the image. */
  readonly generation: Generation;
  /** What is known of the inputs that the image follows, in their order; null for nothing. */
  readonly states: () => readonly (SourceState | null)[];
  readonly stages?: StageObserver;
  /** Of all reads of the shared cache for one request; a wait of its own by default. */
  readonly sharedWait?: SharedWait;
}

/** An image and the cache tier that it came from. */
export interface CachedImage {
  readonly image: Image;
  /** Null when the image is too large for the memory cache, or the cache is disabled. */
  readonly entry: MemoryEntry | null;
  readonly tier: ImageTier;
}

export interface ImageCachesEnvironment extends SharedCacheEnvironment {
  readonly disk: DiskCacheEvents;
  /** Called for memory cache hits, at most once a second for each key. */
  readonly onMemoryHit: (key: string) => void;
  /** Unix ms. */
  readonly now: () => number;
}

/** The caches of images: in memory, on the disk, and the shared one. Only valid images come out of them. */
export class ImageCaches {
  readonly memory: MemoryCache;
  /** Null if it is not configured. */
  readonly disk: DiskCache | null;
  /** Null if it is not configured. */
  readonly shared: SharedCache | null;
  readonly #now: () => number;

  constructor(
    settings: Pick<EngineSettings, 'memoryCacheBytes' | 'diskCacheFolder' | 'sharedCache'>,
    environment: ImageCachesEnvironment,
  ) {
    const { memoryCacheBytes, diskCacheFolder, sharedCache } = settings;
    this.memory = new MemoryCache(memoryCacheBytes, environment.onMemoryHit);
    this.disk = diskCacheFolder === null ? null : new DiskCache(diskCacheFolder, environment.disk);
    this.shared = sharedCache && new SharedCache(sharedCache, environment);
    this.#now = environment.now;
  }

  /**
   * Whether a cache may have an image that memory has not. The look for the file does not wait for a thread of libuv:
   * with it a refusal takes 0.75 of the CPU time. The shared cache may have every image.
   */
  mayHave(key: string): boolean {
    return this.shared !== null || this.disk?.has(key) === true;
  }

  readMemory(key: string, query: ImageQuery): CachedImage | null {
    const { stages = noObserver } = query;
    const stage = stages.begin('memory');
    const entry = this.memory.get(key, this.#now());
    const image = this.#valid(entry?.image ?? null, query);
    stage.end({ hit: image !== null });
    if (entry === null || image === null) return null;
    return { image, entry, tier: 'memory' };
  }

  async readDisk(key: string, query: ImageQuery): Promise<CachedImage | null> {
    const { disk } = this;
    if (disk === null) return null;
    const read = async () => this.#valid(await disk.read(key), query);
    const { stages = noObserver } = query;
    const image = await runStage(stages, 'disk', read, (found) => ({ hit: found !== null }));
    return image && this.keep(key, image, 'disk', query);
  }

  /** @param signal aborts when no request waits for the image */
  async readShared(
    key: string,
    query: ImageQuery,
    signal: AbortSignal,
  ): Promise<CachedImage | null> {
    const { shared } = this;
    if (shared === null) return null;
    const { project, stages = noObserver, sharedWait = shared.wait } = query;
    const read = async () =>
      this.#valid(await shared.read(key, project, signal, sharedWait), query);
    const image = await runStage(stages, 'shared', read, (found) => ({ hit: found !== null }));
    return image && this.keep(key, image, 'shared', query);
  }

  /** Keeps an image in memory, unless it was purged while it was rendered. */
  keep(key: string, image: Image, tier: ImageTier, { generation }: ImageQuery): CachedImage {
    const entry = generation.isCurrent() ? this.memory.set(key, image, this.#now()) : null;
    return { image, entry, tier };
  }

  /**
   * Writes an image to the caches behind the one that it came from, unless it was purged meanwhile: nothing would find
   * it. Resolves when the file is written.
   */
  async write(key: string, { image, tier }: CachedImage, query: ImageQuery): Promise<void> {
    const { project, generation, stages = noObserver } = query;
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
      /** Null without a shared cache. */
      shared: this.shared?.stats() ?? null,
    };
  }

  async close(): Promise<void> {
    await Promise.all([this.disk?.settle(), this.shared?.close()]);
  }

  /** The image of a cache, if nothing has outdated one of its inputs since they were fetched. */
  #valid(image: Image | null, { states }: ImageQuery): Image | null {
    return image !== null && isUpToDate(image, states(), this.#now()) ? image : null;
  }
}
