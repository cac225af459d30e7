import { ServiceError } from '../contract/errors.ts';
import type { Image } from './image.ts';
import type { EngineSettings } from './settings.ts';
import { type SourceLease, Sources } from './source/sources.ts';
import { TransformQueue } from './transform/transform-queue.ts';
import type { Variant } from './transform/variant.ts';

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

/** Makes images that are in no cache: fetches the source and transforms it. */
export class Producer {
  readonly sources: Sources;
  readonly transforms: TransformQueue;
  #refused = 0;

  constructor(settings: EngineSettings) {
    this.sources = new Sources(settings);
    this.transforms = new TransformQueue(settings);
  }

  /** @throws ServiceError, or the signal's reason */
  async produce(work: Work): Promise<Produced> {
    // Checked before the fetch, which would be wasted if the transform were refused.
    if (isLive(work)) this.admit(work.project);
    const { source, watermark } = await this.#fetch(work);
    try {
      const { queueMs, transformMs, ...image } = await this.transforms.transform(
        source.bytes,
        work.variant,
        { ...work, watermark: watermark?.bytes ?? null },
      );
      const fetched = source.fetchMs === null ? {} : { fetch: source.fetchMs };
      return { image, timings: { ...fetched, queue: queueMs, transform: transformMs } };
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
    if (this.transforms.isFull(project)) throw this.refuse();
  }

  /** Counts a refused request and returns its error. */
  refuse(): ServiceError {
    this.#refused += 1;
    return new ServiceError('overloaded', 'Too many transforms are waiting.');
  }

  /** Requests that were answered with `overloaded`. */
  get refused(): number {
    const { rejected, heldRejected } = this.sources.stats();
    return this.#refused + this.transforms.stats().rejected + rejected + heldRejected;
  }

  async close(): Promise<void> {
    await Promise.all([this.transforms.close(), this.sources.close()]);
  }

  /** Fetches source and watermark in parallel; on failure of one it releases the other. */
  async #fetch(work: Work): Promise<Inputs> {
    const { source, variant } = work;
    const { watermark } = variant;
    const [first, second] = await Promise.allSettled([
      this.sources.acquire(source, work),
      // The project configured this URL, so its host need not be on the allowlist.
      watermark === null
        ? null
        : this.sources.acquire(new URL(watermark.url), { ...work, allowed: () => true }),
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
}
