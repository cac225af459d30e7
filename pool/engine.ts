import { ServiceError } from '../contract/errors.ts';
import { DiskCache, type DiskCacheEvents } from './cache/disk.ts';
import { MemoryCache, type MemoryEntry } from './cache/memory.ts';
import { Cancelled, type Coalescer } from './coalescer.ts';
import type { Image } from './image.ts';
import { type ImageRequest, isLive, Producer, type Timings, type Work } from './producer.ts';
import type { EngineSettings } from './settings.ts';
import { SingleFlight } from './single-flight.ts';

export type { ImageRequest, Timings } from './producer.ts';

/** An image, and the tier of the cache that had it. */
export interface CacheResult {
  readonly image: Image;
  /** Null when the image is too large for the memory cache, or that is off. */
  readonly entry: MemoryEntry | null;
  /** What another process rendered meanwhile counts as a miss. */
  readonly tier: 'memory' | 'disk' | 'miss';
  readonly timings: Timings;
}

export interface EngineEnvironment {
  readonly coalescer: Coalescer;
  readonly disk: DiskCacheEvents;
  /** Called for memory hits, for each key at most once a second. */
  readonly onMemoryHit: (key: string) => void;
  /** Called for each render that begins and for each that succeeded. */
  readonly onRender: (event: 'begun' | 'done', key: string, timings: Timings) => void;
  /** Unix ms; the clock of every caller of the memory cache. */
  readonly now: () => number;
}

/** Delivers images from memory, else from disk, else makes them, within the bounds it was given. */
export class Engine {
  readonly memory: MemoryCache;
  readonly producer: Producer;
  readonly #disk: DiskCache | null;
  readonly #misses = new SingleFlight<string, CacheResult>();
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
   * The image of a key. The caller has checked that the project may have it.
   * @throws ServiceError, or the signal's reason
   */
  async get(key: string, request: ImageRequest, signal: AbortSignal): Promise<CacheResult> {
    const { background } = request;
    const entry = this.memory.get(key, this.#environment.now());
    if (entry !== null) return { image: entry.image, entry, tier: 'memory', timings: {} };
    if (!background && this.#misses.isBackground(key)) this.producer.admit();
    const miss = (work: AbortSignal, promoted: AbortSignal) =>
      this.#miss(key, { ...request, signal: work, promoted });
    return this.#misses.run(key, miss, signal, background);
  }

  async close(): Promise<void> {
    await Promise.all([this.producer.close(), this.#disk?.settle()]);
  }

  /** Once in this process, for all requests that want the key meanwhile. */
  async #miss(key: string, work: Work): Promise<CacheResult> {
    return (await this.#readDisk(key)) ?? (await this.#coalesce(key, work));
  }

  /** Once on the machine: as the leader for the key, or with the image of a process that leads. */
  async #coalesce(key: string, work: Work): Promise<CacheResult> {
    const role = await this.#environment.coalescer.join(key, {
      live: isLive(work),
      signal: work.signal,
      retain: () => this.#misses.retain(key),
      promote: () => {
        // A full queue would refuse; the followers then wait as the background work does.
        if (!this.producer.transforms.full) this.#misses.promote(key);
      },
    });
    if (role.role === 'follower') return this.#keep(key, role.image, 'miss');
    try {
      // Another process may have written it between this one's look at the disk and its turn to lead.
      const result = (await this.#readDisk(key)) ?? (await this.#produce(key, work));
      // The response does not wait for the disk; followers in other processes do.
      void this.#write(key, result).then(() => role.succeed(result.image));
      return result;
    } catch (error) {
      const cancelled = work.signal.aborted && !(error instanceof ServiceError);
      role.fail(cancelled ? new Cancelled() : ServiceError.of(error));
      throw error;
    }
  }

  async #produce(key: string, work: Work): Promise<CacheResult> {
    this.#environment.onRender('begun', key, {});
    const { image, timings } = await this.producer.produce(work);
    this.#environment.onRender('done', key, timings);
    return this.#keep(key, image, 'miss', timings);
  }

  async #readDisk(key: string): Promise<CacheResult | null> {
    const image = await this.#disk?.read(key);
    return image ? this.#keep(key, image, 'disk') : null;
  }

  async #write(key: string, { tier, image }: CacheResult): Promise<void> {
    if (tier === 'miss') await this.#disk?.write(key, image);
  }

  #keep(key: string, image: Image, tier: CacheResult['tier'], timings: Timings = {}): CacheResult {
    const entry = this.memory.set(key, image, this.#environment.now());
    return { image, entry, tier, timings };
  }
}
