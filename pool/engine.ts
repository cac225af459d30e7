import { ServiceError } from '../contract/errors.ts';
import { DiskCache, type DiskCacheEvents } from './cache/disk.ts';
import { MemoryCache, type MemoryEntry } from './cache/memory.ts';
import { Cancelled, type Coalescer, type Role } from './coalescer.ts';
import { FairShare } from './fair-share.ts';
import type { Image } from './image.ts';
import { type ImageRequest, isLive, Producer, type Timings, type Work } from './producer.ts';
import type { EngineSettings } from './settings.ts';
import { SingleFlight } from './single-flight.ts';
import { inStage, type Stages, unobserved } from './stages.ts';

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

/** Requests that waited for an image that was already being rendered, since the start. */
export interface Followers {
  /** Of another request of this process. */
  process: number;
  /** Of another process of this machine. */
  machine: number;
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

/**
 * Misses in progress. Those that begin a fetch or a transform have bounds of their own; this one is
 * for those that wait for the same source, at a few kilobytes each.
 */
const maxMisses = 2_048;
const guaranteedMisses = 32;

/** Returns images from the memory cache, else from the disk cache, else renders them. */
export class Engine {
  readonly memory: MemoryCache;
  readonly producer: Producer;
  readonly #disk: DiskCache | null;
  /** Whether new images are written to the disk cache, which is read in any case. */
  writesToDisk = true;
  readonly #misses = new SingleFlight<string, CacheResult>();
  readonly followers: Followers = { process: 0, machine: 0 };
  readonly #missShare = new FairShare(maxMisses, guaranteedMisses);
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
   * @throws ServiceError, with the detail `watermark` when it is the variant's watermark that cannot be
   *   used, or the signal's reason
   */
  async get(key: string, request: ImageRequest, signal: AbortSignal): Promise<CacheResult> {
    signal.throwIfAborted();
    const { background, project, stages = unobserved } = request;
    const entry = this.#readMemory(key, stages);
    if (entry !== null) return { image: entry.image, entry, tier: 'memory', timings: {} };
    if (!background && this.#misses.isBackground(key)) {
      this.producer.admit(project);
    }
    const owner = { project, host: request.source.host };
    const follows = this.#misses.has(key);
    if (!follows && !this.#missShare.take(owner, 1)) throw this.producer.refuse('misses');
    const miss = (work: AbortSignal, promoted: AbortSignal) =>
      this.#miss(key, { ...request, signal: work, promoted }).finally(() =>
        this.#missShare.release(owner, 1),
      );
    const run = () => this.#misses.run(key, miss, signal, background);
    if (!follows) return run();
    this.followers.process += 1;
    return inStage(stages, 'coalesce', run, () => ({ role: 'follower' }));
  }

  async close(): Promise<void> {
    await Promise.all([this.producer.close(), this.#disk?.settle()]);
  }

  /** Single flight within this process: concurrent requests for a key share it. */
  async #miss(key: string, work: Work): Promise<CacheResult> {
    const stored = await this.#readDisk(key, work);
    if (stored !== null) return stored;
    // Before the messages to the primary and the fetch, which would be wasted. Not before the look at
    // the disk: hits are served however full the queue is, and an absent file costs one failed `open`.
    if (isLive(work)) this.producer.admit(work.project);
    const { watermark } = work.variant;
    if (watermark !== null) this.producer.watermarks.requireUsable(watermark.url);
    return this.#coalesce(key, work);
  }

  /** Single flight across processes: leads for the key, or receives the image as a follower. */
  async #coalesce(key: string, work: Work): Promise<CacheResult> {
    const role = await this.#join(key, work);
    if (role.role === 'follower') {
      this.followers.machine += 1;
      return this.#keep(key, role.image, 'miss');
    }
    try {
      const stored = role.mayBeStored ? await this.#readDisk(key, work) : null;
      const result = stored ?? (await this.#produce(key, work));
      // Followers in other processes must wait for the disk write; this response need not.
      void this.#write(key, result, work).then(() => role.succeed(result.image));
      return result;
    } catch (error) {
      const cancelled = work.signal.aborted && !(error instanceof ServiceError);
      role.fail(cancelled ? new Cancelled() : ServiceError.of(error));
      throw error;
    }
  }

  #join(key: string, work: Work): Promise<Role> {
    const participant = {
      live: isLive(work),
      signal: work.signal,
      retain: () => this.#misses.retain(key),
      promote: () => {
        // Not when the queue is full; the followers then wait for the work in the background.
        if (!this.producer.transforms.isFull(work.project)) this.#misses.promote(key);
      },
    };
    const { stages = unobserved } = work;
    const join = () => this.#environment.coalescer.join(key, participant);
    return inStage(stages, 'coalesce', join, ({ role }) => ({ role }));
  }

  async #produce(key: string, work: Work): Promise<CacheResult> {
    this.#environment.onRender('begun', key, {});
    const { image, timings } = await this.producer.produce(work);
    this.#environment.onRender('done', key, timings);
    return this.#keep(key, image, 'miss', timings);
  }

  #readMemory(key: string, stages: Stages) {
    const stage = stages.begin('memory');
    const entry = this.memory.get(key, this.#environment.now());
    stage.end({ hit: entry !== null });
    return entry;
  }

  async #readDisk(key: string, { stages = unobserved }: Work): Promise<CacheResult | null> {
    const disk = this.#disk;
    if (disk === null) return null;
    const image = await inStage(
      stages,
      'disk',
      () => disk.read(key),
      (found) => ({ hit: found !== null }),
    );
    return image === null ? null : this.#keep(key, image, 'disk');
  }

  async #write(key: string, result: CacheResult, { stages = unobserved }: Work): Promise<void> {
    const disk = this.#disk;
    if (disk === null || result.tier !== 'miss' || !this.writesToDisk) return;
    await inStage(stages, 'write', () => disk.write(key, result.image));
  }

  #keep(key: string, image: Image, tier: CacheResult['tier'], timings: Timings = {}): CacheResult {
    const entry = this.memory.set(key, image, this.#environment.now());
    return { image, entry, tier, timings };
  }
}
