import { ServiceError } from '../contract/errors.ts';
import { DiskCache, type DiskCacheEvents } from './cache/disk.ts';
import { MemoryCache } from './cache/memory.ts';
import { Cancelled, type Coordination, type Leader } from './coalescer.ts';
import { Flights } from './single-flight.ts';
import type { Image } from './image.ts';
import type { EngineSettings } from './settings.ts';
import { type SourceLease, Sources } from './source/sources.ts';
import { TransformPool } from './transform/transform-queue.ts';
import type { Variant } from './transform/variant.ts';

/** What is to be made. */
export interface Job {
  readonly source: URL;
  readonly variant: Variant;
  /** Whether the project may use a (normalised) host; asked again for every redirect. */
  readonly allowed: (host: string) => boolean;
  /** Background work yields to live requests, until one of them comes to wait for it too. */
  readonly background: boolean;
}

/** A job under way. */
interface Work extends Job {
  /** Aborts when background work becomes live. */
  readonly promoted: AbortSignal;
}

const isLive = ({ background, promoted }: Work): boolean => !background || promoted.aborted;

interface Leases {
  readonly source: SourceLease;
  readonly watermark: SourceLease | null;
}

export interface Obtained {
  readonly image: Image;
  /** Where it came from; what another process rendered for us counts as a miss. */
  readonly from: 'memory' | 'disk' | 'miss';
  /** Durations of a miss, ms; absent where that part was not run for this request. */
  readonly timings: Timings;
}

export interface Timings {
  readonly fetch?: number;
  readonly queue?: number;
  readonly transform?: number;
}

export interface EngineEnvironment {
  readonly coordination: Coordination;
  readonly disk: DiskCacheEvents;
  /** Learns of memory hits, each key at most once a second. */
  readonly onMemoryHit: (key: string) => void;
  /** Learns of each render that begins and of each that succeeded. */
  readonly onRender: (event: 'begun' | 'done', key: string, timings: Timings) => void;
  /** Unix ms; the clock of everybody who asks the memory cache. */
  readonly now: () => number;
}

/** Fetches, transforms and caches images, within the bounds that it was given. */
export class Engine {
  readonly memory: MemoryCache;
  readonly sources: Sources;
  readonly pool: TransformPool;
  readonly #disk: DiskCache | null;
  readonly #flights = new Flights<string, Obtained>();
  readonly #environment: EngineEnvironment;
  /** For each flight that was begun in the background, what makes it live. */
  readonly #promotions = new Map<string, AbortController>();
  #refused = 0;

  constructor(settings: EngineSettings, environment: EngineEnvironment) {
    this.#environment = environment;
    this.memory = new MemoryCache(settings.memoryCacheBytes, environment.onMemoryHit);
    this.#disk =
      settings.diskCacheFolder === null
        ? null
        : new DiskCache(settings.diskCacheFolder, environment.disk);
    this.sources = new Sources(settings);
    this.pool = new TransformPool(settings);
  }

  /**
   * The image of a key: from memory, else from disk, else by joining or leading the one flight that
   * renders it. The caller has checked that the project may have it.
   * @throws ServiceError, or the signal's reason
   */
  async obtain(key: string, job: Job, signal: AbortSignal): Promise<Obtained> {
    const entry = this.memory.get(key, this.#environment.now());
    if (entry !== null) return { image: entry.image, from: 'memory', timings: {} };
    if (!job.background) this.promote(key);
    return this.#flights.join(key, (flight) => this.#fly(key, job, flight), signal);
  }

  /**
   * A live request has come to wait for the flight of a key: if that was begun in the background,
   * it goes on as live work.
   * @throws ServiceError overloaded, as for any other live request
   */
  promote(key: string): void {
    const promotion = this.#promotions.get(key);
    if (promotion === undefined || promotion.signal.aborted) return;
    if (this.pool.full) throw this.#overloaded();
    promotion.abort();
  }

  /** Keeps a flight of this process in the air for a follower elsewhere; see Flights.hold. */
  hold(key: string): (() => void) | null {
    return this.#flights.hold(key);
  }

  /** Flights under way. */
  get flights(): number {
    return this.#flights.size;
  }

  /** Requests that were answered with `overloaded`. */
  get refused(): number {
    return this.#refused + this.pool.stats().rejected + this.sources.stats().rejected;
  }

  async close(): Promise<void> {
    await Promise.all([this.pool.close(), this.sources.close(), this.#disk?.settle()]);
  }

  /** One flight, from memory's miss to the image. */
  async #fly(key: string, job: Job, signal: AbortSignal): Promise<Obtained> {
    const promotion = new AbortController();
    if (job.background) this.#promotions.set(key, promotion);
    try {
      return await this.#look(key, { ...job, promoted: promotion.signal }, signal);
    } finally {
      if (this.#promotions.get(key) === promotion) this.#promotions.delete(key);
    }
  }

  async #look(key: string, work: Work, signal: AbortSignal): Promise<Obtained> {
    const onDisk = await this.#disk?.read(key);
    if (onDisk) return this.#keep(key, { image: onDisk, from: 'disk', timings: {} });

    const { coordination } = this.#environment;
    const place = await coordination.enter(key, isLive(work), signal);
    if (place.role === 'follower') {
      return this.#keep(key, { image: place.image, from: 'miss', timings: {} });
    }
    try {
      return await this.#lead(key, work, signal, place);
    } catch (error) {
      place.fail(this.#asFailure(error, signal));
      throw error;
    }
  }

  async #lead(key: string, work: Work, signal: AbortSignal, place: Leader): Promise<Obtained> {
    // Another process may have landed between this one's look at the disk and its turn to lead.
    const landed = await this.#disk?.read(key);
    if (landed) {
      place.land(landed);
      return this.#keep(key, { image: landed, from: 'disk', timings: {} });
    }
    this.#environment.onRender('begun', key, {});
    const rendered = await this.#render(work, signal);
    this.#environment.onRender('done', key, rendered.timings);
    const obtained = this.#keep(key, rendered);
    const { image } = obtained;
    // The response does not wait for the disk; who follows from elsewhere does.
    if (this.#disk === null) place.land(image);
    else this.#disk.write(key, image).then(() => place.land(image));
    return obtained;
  }

  async #render(work: Work, signal: AbortSignal): Promise<Obtained> {
    if (this.pool.full && isLive(work)) throw this.#overloaded();
    const leases = await this.#acquire(work, signal);
    try {
      const { source, watermark } = leases;
      const made = await this.pool.transform(source.bytes, work.variant, {
        ...work,
        watermark: watermark?.bytes ?? null,
        signal,
      });
      const { body, contentType, etag, width, height } = made;
      return {
        image: { body, contentType, etag, width, height },
        from: 'miss',
        timings: {
          ...(source.fetchMs === null ? {} : { fetch: source.fetchMs }),
          queue: made.queueMs,
          transform: made.transformMs,
        },
      };
    } finally {
      leases.source.release();
      leases.watermark?.release();
    }
  }

  /** The source and the watermark, which are fetched side by side: of both or of none. */
  async #acquire(work: Work, signal: AbortSignal): Promise<Leases> {
    const { source, variant, allowed } = work;
    const mark = variant.watermark;
    const [first, second] = await Promise.allSettled([
      this.#acquireOne(source, allowed, work, signal),
      // The project chose it, so its host needs no place on the allowlist.
      mark === null ? null : this.#acquireOne(new URL(mark.url), () => true, work, signal),
    ]);
    if (first.status === 'fulfilled' && second.status === 'fulfilled') {
      return { source: first.value, watermark: second.value };
    }
    if (first.status === 'rejected') {
      if (second.status === 'fulfilled') second.value?.release();
      throw first.reason;
    }
    first.value.release();
    const { reason } = second as PromiseRejectedResult;
    throw reason instanceof ServiceError ? reason.ofWatermark() : reason;
  }

  async #acquireOne(
    url: URL,
    allowed: Job['allowed'],
    work: Work,
    signal: AbortSignal,
  ): Promise<SourceLease> {
    const promote = () => this.sources.promote(url);
    work.promoted.addEventListener('abort', promote, { once: true });
    try {
      return await this.sources.acquire(url, { allowed, background: !isLive(work), signal });
    } finally {
      work.promoted.removeEventListener('abort', promote);
    }
  }

  #overloaded(): ServiceError {
    this.#refused += 1;
    return new ServiceError('overloaded', 'Too many transforms are waiting.');
  }

  #keep(key: string, obtained: Obtained): Obtained {
    this.memory.set(key, obtained.image, this.#environment.now());
    return obtained;
  }

  #asFailure(error: unknown, signal: AbortSignal): ServiceError | Cancelled {
    if (error instanceof ServiceError) return error;
    if (signal.aborted) return new Cancelled();
    return new ServiceError('internal_error', 'The image could not be made.', error);
  }
}
