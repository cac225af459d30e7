import { ServiceError } from '../contract/errors.ts';
import type { Image } from './image.ts';
import type { EngineSettings } from './settings.ts';
import { type SourceLease, Sources } from './source/sources.ts';
import { TransformQueue } from './transform/transform-queue.ts';
import type { Variant } from './transform/variant.ts';

/** The image that is wanted. */
export interface ImageRequest {
  readonly source: URL;
  readonly variant: Variant;
  /** Whether the project may use a canonical host; asked again for every redirect. */
  readonly allowed: (host: string) => boolean;
  /** Background work yields to live requests, until one of them waits for it too. */
  readonly background: boolean;
}

/** A request that is being worked on. */
export interface Work extends ImageRequest {
  /** Aborts when no request waits for it any more. */
  readonly signal: AbortSignal;
  /** Is aborted once a live request waits for it. */
  readonly promoted: AbortSignal;
}

export const isLive = ({ promoted }: Work): boolean => promoted.aborted;

/** Durations of a miss, ms; those of steps that were not run for this request are absent. */
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

/** Makes images that no cache has: fetches the source and transforms it. */
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
    // Before anything is fetched: a source whose transform would be refused is of no use.
    if (isLive(work)) this.admit();
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
   * Lets a live request in, as far as the queue of transforms decides that.
   * @throws ServiceError overloaded
   */
  admit(): void {
    if (!this.transforms.full) return;
    this.#refused += 1;
    throw new ServiceError('overloaded', 'Too many transforms are waiting.');
  }

  /** Requests that were answered with `overloaded`. */
  get refused(): number {
    return this.#refused + this.transforms.stats().rejected + this.sources.stats().rejected;
  }

  async close(): Promise<void> {
    await Promise.all([this.transforms.close(), this.sources.close()]);
  }

  /** The source and the watermark, side by side: leases of both, or of none. */
  async #fetch(work: Work): Promise<Inputs> {
    const { source, variant } = work;
    const mark = variant.watermark;
    const [first, second] = await Promise.allSettled([
      this.sources.acquire(source, work),
      // The project chose it, so its host needs no place on the allowlist.
      mark === null
        ? null
        : this.sources.acquire(new URL(mark.url), { ...work, allowed: () => true }),
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
