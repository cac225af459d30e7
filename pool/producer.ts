import { ServiceError } from '../contract/errors.ts';
import { TransformQueue } from './execution/transform-queue.ts';
import { requireSupportedFormat } from './formats/unsupported-formats.ts';
import type { Image } from './image.ts';
import { watermarkVariant } from './rendering/watermark.ts';
import type { EngineSettings } from './settings.ts';
import { type SourceLease, Sources } from './source/sources.ts';
import type { Stages } from './stages.ts';
import type { Variant, Watermark } from './variant.ts';
import { Watermarks } from './watermarks.ts';

/** The requested image. */
export interface ImageRequest {
  /** The project's id: projects have equal shares of what is limited. */
  readonly project: string;
  readonly source: URL;
  readonly variant: Variant;
  /** Whether the project may use a canonical host; called for every redirect too. */
  readonly allowed: (host: string) => boolean;
  /** Background work has lower priority than live requests, until a live request waits for it. */
  readonly background: boolean;
  /** Told the stages that this request is in; by default nobody is. */
  readonly stages?: Stages;
}

/** A request in progress. */
export interface Work extends ImageRequest {
  /** Aborts when no request waits for the image any more. */
  readonly signal: AbortSignal;
  /** Aborted as soon as a live request waits for the image. */
  readonly promoted: AbortSignal;
}

export const isLive = ({ promoted }: Work): boolean => promoted.aborted;

/** Durations of the steps of a miss, in ms; absent for steps that did not run for this request. */
export interface Timings {
  readonly fetch?: number;
  readonly queue?: number;
  readonly transform?: number;
}

export interface Produced {
  readonly image: Image;
  readonly timings: Timings;
}

interface Inputs {
  readonly source: SourceLease;
  readonly watermark: SourceLease | null;
}

function holdBoth({ source, watermark }: Inputs): () => void {
  const holds = [source.hold(), watermark?.hold()];
  return () => {
    for (const release of holds) release?.();
  };
}

/** Requests that were refused, by what was used up. */
export interface Refusals {
  /** Misses in progress. */
  readonly misses: number;
  /** Places in the transform queue, or the time that a transform may wait there. */
  readonly queue: number;
  /** Fetches in flight. */
  readonly fetches: number;
  /** Bytes of sources in memory. */
  readonly heldBytes: number;
}

/** A watermark is decoded at this size, in px, when it is checked. */
const checkedSize = { width: 64, height: 64 };

/** The project configured the watermark's URL, so its host need not be on the allowlist. */
const anyHost = () => true;

/** Makes images that are in no cache: fetches the source and transforms it. */
export class Producer {
  readonly sources: Sources;
  readonly transforms: TransformQueue;
  readonly watermarks: Watermarks;
  readonly #checkWithinMs: number;
  readonly #refused = { misses: 0, queue: 0 };

  constructor(settings: EngineSettings) {
    this.sources = new Sources(settings);
    this.transforms = new TransformQueue(settings);
    this.watermarks = new Watermarks({
      check: (url) => this.checkWatermark(url, new AbortController().signal),
    });
    this.#checkWithinMs = settings.sourceTimeoutMs + settings.transformTimeoutMs;
  }

  /**
   * Fetches and decodes a watermark, as background work: live requests are served first.
   *
   * @throws ServiceError about the watermark as a source; `overloaded` when live requests left no
   *   time for the check; or the signal's reason
   */
  async checkWatermark(url: URL, signal: AbortSignal): Promise<void> {
    const deadline = AbortSignal.timeout(this.#checkWithinMs);
    // The check serves every project with this watermark, so it is counted for the host alone.
    const project = `watermarks of ${url.host}`;
    const options = { project, signal: AbortSignal.any([signal, deadline]), background: true };
    try {
      const lease = await this.sources.acquire(url, { ...options, allowed: anyHost });
      try {
        requireSupportedFormat(lease);
        const opaque = { scale: 100, opacity: 100 };
        const variant = watermarkVariant(opaque, checkedSize);
        await this.transforms.transform(lease.bytes, variant, { ...options, hold: lease.hold });
      } finally {
        lease.release();
      }
      this.watermarks.works(url);
    } catch (error) {
      if (error !== deadline.reason || signal.aborted) throw error;
      throw new ServiceError('overloaded', 'The watermark was not checked in time.', error);
    }
  }

  /**
   * @throws ServiceError with the detail `watermark` when the variant's watermark cannot be used, and
   *   not its source; any other ServiceError; or the signal's reason
   */
  async produce(work: Work): Promise<Produced> {
    const { source, watermark } = await this.#fetchAdmitted(work);
    try {
      requireSupportedFormat(source);
      const { queueMs, transformMs, ...image } = await this.transforms.transform(
        source.bytes,
        work.variant,
        {
          ...work,
          watermark: watermark?.bytes ?? null,
          hold: () => holdBoth({ source, watermark }),
        },
      );
      const fetched = source.fetchMs === null ? {} : { fetch: source.fetchMs };
      return { image, timings: { ...fetched, queue: queueMs, transform: transformMs } };
    } catch (error) {
      throw this.#noting(error, work.variant.watermark);
    } finally {
      source.release();
      watermark?.release();
    }
  }

  /**
   * Refuses a live request for which the transform queue has no place.
   * @throws ServiceError overloaded
   */
  admit(project: string): void {
    if (this.transforms.isFull(project)) throw this.refuse('queue');
  }

  /** Counts a refused request and returns its error. */
  refuse(reason: 'misses' | 'queue'): ServiceError {
    this.#refused[reason] += 1;
    return new ServiceError('overloaded', 'Too many transforms are waiting.');
  }

  /** Requests that were answered with `overloaded`, by what was used up. */
  get refusals(): Refusals {
    const { rejected, heldRejected } = this.sources.stats();
    const { misses, queue } = this.#refused;
    return {
      misses,
      queue: queue + this.transforms.stats().rejected,
      fetches: rejected,
      heldBytes: heldRejected,
    };
  }

  /** Requests that were answered with `overloaded`. */
  get refused(): number {
    const { misses, queue, fetches, heldBytes } = this.refusals;
    return misses + queue + fetches + heldBytes;
  }

  async close(): Promise<void> {
    await Promise.all([this.transforms.close(), this.sources.close()]);
  }

  /** A live request's fetch has a place in the transform queue. */
  async #fetchAdmitted(work: Work): Promise<Inputs> {
    if (!isLive(work)) return this.#fetch(work);
    this.admit(work.project);
    const arrived = this.transforms.reserve(work.project);
    return this.#fetch(work).finally(arrived);
  }

  /** Fetches source and watermark in parallel; on failure of one it releases the other. */
  async #fetch(work: Work): Promise<Inputs> {
    const { source, variant } = work;
    const { watermark } = variant;
    const [first, second] = await Promise.allSettled([
      this.sources.acquire(source, work),
      watermark === null ? null : this.#fetchWatermark(watermark, work),
    ]);
    if (first.status === 'fulfilled' && second.status === 'fulfilled') {
      return { source: first.value, watermark: second.value };
    }
    if (first.status === 'rejected') {
      if (second.status === 'fulfilled') second.value?.release();
      throw first.reason;
    }
    first.value.release();
    throw this.#noting((second as PromiseRejectedResult).reason, watermark);
  }

  async #fetchWatermark({ url }: Watermark, work: Work): Promise<SourceLease> {
    try {
      const lease = await this.sources.acquire(new URL(url), { ...work, allowed: anyHost });
      try {
        requireSupportedFormat(lease);
        return lease;
      } catch (error) {
        lease.release();
        throw error;
      }
    } catch (error) {
      // `overloaded` is no failure of the watermark.
      const its = error instanceof ServiceError && error.code !== 'overloaded';
      throw its ? error.ofWatermark() : error;
    }
  }

  /** Remembers an error of the watermark; returns the error. */
  #noting(error: unknown, watermark: Watermark | null): unknown {
    if (watermark !== null && error instanceof ServiceError && error.details.watermark === true) {
      this.watermarks.failed(watermark.url, error);
    }
    return error;
  }
}
