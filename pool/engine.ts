import { ServiceError } from '../contract/errors.ts';
import { DiskCache, type DiskCacheEvents } from './cache/disk.ts';
import { MemoryCache, type MemoryEntry } from './cache/memory.ts';
import { Cancelled, type Coalescer, type Leader } from './coalescer.ts';
import type { Image } from './image.ts';
import { type ImageRequest, isLive, Producer, type Timings, type Work } from './producer.ts';
import type { EngineSettings } from './settings.ts';
import { SingleFlight } from './single-flight.ts';

export type { ImageRequest, Timings } from './producer.ts';

/** An image, and the cache tier that it came from. */
export interface CacheResult {
  readonly image: Image;
  /** Null when the image is too large for the memory cache, or the cache is disabled. */
  readonly entry: MemoryEntry | null;
  /** An image that was received as a follower counts as a miss. */
  readonly tier: 'memory' | 'disk' | 'miss';
  readonly timings: Timings;
}

export interface EngineEnvironment {
  readonly coalescer: Coalescer;
  readonly disk: DiskCacheEvents;
  /** Called for memory cache hits, for each key at most once a second. */
  readonly onMemoryHit: (key: string) => void;
  /** Called for each render that begins and for each that succeeds. */
  readonly onRender: (event: 'begun' | 'done', key: string, timings: Timings) => void;
  /** Unix ms; all callers of the memory cache must use this clock. */
  readonly now: () => number;
}

/** Returns images from the memory cache, else from the disk cache, else renders them. */
export class Engine {
  readonly memory: MemoryCache;
  readonly producer: Producer;
  readonly #disk: DiskCache | null;
  readonly #misses = new SingleFlight<string, CacheResult>();
  /** For each miss that began as background work, the controller that promotes it to live work. */
  readonly #promotions = new Map<string, AbortController>();
  readonly #environment: EngineEnvironment;

  constructor(settings: EngineSettings, environment: EngineEnvironment) {
    const { memoryCacheBytes, diskCacheFolder } = settings;
    this.#environment = environment;
    this.memory = new MemoryCache(memoryCacheBytes, environment.onMemoryHit);
    this.#disk = diskCacheFolder === null ? null : new DiskCache(diskCacheFolder, environment.disk);
    this.producer = new Producer(settings);
  }

  /** Misses in progress. */
  get misses(): number {
    return this.#misses.size;
  }

  /**
   * The image of a cache key. The caller must have checked that the project may use the source.
   * @throws ServiceError, or the signal's reason
   */
  async get(key: string, request: ImageRequest, signal: AbortSignal): Promise<CacheResult> {
    const entry = this.memory.get(key, this.#environment.now());
    if (entry !== null) return { image: entry.image, entry, tier: 'memory', timings: {} };
    // Joining background work must not admit a live request when the queue for live work is full.
    if (!request.background && !this.#promote(key)) throw this.producer.overloaded();
    return this.#misses.run(key, (work) => this.#miss(key, request, work), signal);
  }

  async close(): Promise<void> {
    await Promise.all([this.producer.close(), this.#disk?.settle()]);
  }

  /** The tiers below the memory cache. Single flight: concurrent requests for a key share it. */
  async #miss(key: string, request: ImageRequest, signal: AbortSignal): Promise<CacheResult> {
    const promotion = new AbortController();
    if (request.background) this.#promotions.set(key, promotion);
    try {
      const work = { ...request, promoted: promotion.signal, signal };
      return (await this.#readDisk(key)) ?? (await this.#coalesce(key, work));
    } finally {
      if (this.#promotions.get(key) === promotion) this.#promotions.delete(key);
    }
  }

  /** Single flight across processes: leads for the key, or receives the image as a follower. */
  async #coalesce(key: string, work: Work): Promise<CacheResult> {
    const role = await this.#environment.coalescer.join(key, {
      live: isLive(work),
      signal: work.signal,
      retain: () => this.#misses.retain(key),
      // Ignored when the queue is full; the followers then wait for the work in the background.
      promote: () => void this.#promote(key),
    });
    if (role.role === 'follower') return this.#keep(key, role.image, 'miss');
    try {
      return await this.#lead(key, work, role);
    } catch (error) {
      const cancelled = work.signal.aborted && !(error instanceof ServiceError);
      role.fail(cancelled ? new Cancelled() : ServiceError.of(error));
      throw error;
    }
  }

  async #lead(key: string, work: Work, leader: Leader): Promise<CacheResult> {
    // The previous leader may have written the image after this process read the disk cache.
    const onDisk = await this.#readDisk(key);
    if (onDisk !== null) {
      leader.succeed(onDisk.image);
      return onDisk;
    }
    this.#environment.onRender('begun', key, {});
    const { image, timings } = await this.producer.produce(work);
    this.#environment.onRender('done', key, timings);
    // Followers in other processes must wait for the disk write; this response need not.
    if (this.#disk === null) leader.succeed(image);
    else this.#disk.write(key, image).then(() => leader.succeed(image));
    return this.#keep(key, image, 'miss', timings);
  }

  async #readDisk(key: string): Promise<CacheResult | null> {
    const image = await this.#disk?.read(key);
    return image ? this.#keep(key, image, 'disk') : null;
  }

  #keep(key: string, image: Image, tier: CacheResult['tier'], timings: Timings = {}): CacheResult {
    const entry = this.memory.set(key, image, this.#environment.now());
    return { image, entry, tier, timings };
  }

  /** Promotes background work to live work; false when the queue for live work is full. */
  #promote(key: string): boolean {
    const promotion = this.#promotions.get(key);
    if (promotion === undefined || promotion.signal.aborted) return true;
    if (this.producer.transforms.full) return false;
    promotion.abort();
    return true;
  }
}
