import { ServiceError } from '../contract/errors.ts';
import type { SharedWait } from './cache/shared-cache.ts';
import { TransformQueue } from './execution/transform-queue.ts';
import { requireSupportedFormat } from './formats/unsupported-formats.ts';
import type { ImageFreshness } from './freshness.ts';
import type { FetchTimes, Image, ImageInput, InputDigests } from './image.ts';
import type { ImagePurges } from './purges.ts';
import { watermarkVariant } from './rendering/watermark.ts';
import type { EngineSettings } from './settings.ts';
import type { NotModified, Validators } from './source/fetch.ts';
import type { OriginOf } from './source/origin.ts';
import { type SourceLease, Sources } from './source/sources.ts';
import type { StageObserver } from './stages.ts';
import type { Variant } from './variant.ts';
import { WatermarkFailures, type WatermarkSource } from './watermark-failures.ts';

export interface ImageRequest {
  /** The project's id. Projects have equal shares of everything limited. */
  readonly project: string;
  readonly source: URL;
  /** Part of the key, and not shared with requests of another version; null for none. */
  readonly version?: string | null;
  readonly variant: Variant;
  readonly purges: ImagePurges;
  /** Absent for images that are valid until they are purged. */
  readonly freshness?: ImageFreshness | null;
  /** Whether the project may use a canonical host; also called for every redirect. */
  readonly allowed: (host: string) => boolean;
  /** Background work has lower priority than live requests, until a live request waits for it. */
  readonly background: boolean;
  /** Set by the engine. */
  readonly sharedWait?: SharedWait;
  readonly stages?: StageObserver;
  /** Of the source and the watermark. Default: plain HTTP requests. */
  readonly originOf?: OriginOf;
  /**
   * Called before a render, with nothing fetched yet. Resolves with a function for its end, or rejects with the
   * error of a project that may not render.
   */
  readonly admitRender?: () => Promise<() => void>;
}

/** A request in progress. */
export interface Work extends ImageRequest {
  /** Bytes that were fetched before are outdated. */
  readonly validFrom: FetchTimes;
  /** Whether an image of a cache, which is not purged, may be used. */
  readonly isValid: (image: Image) => boolean;
  /** Called with the bytes of the source, and of the watermark. */
  readonly onFetched: (input: ImageInput, lease: SourceLease) => void;
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

interface Produced {
  readonly image: Image;
  readonly timings: Timings;
}

interface Inputs {
  readonly source: SourceLease;
  readonly watermark: SourceLease | null;
}

/** Watermarks are decoded at this size, in px, when they are checked. */
const checkedSize = { width: 64, height: 64 };

/** The project configured the watermark's URL, so its host need not be on the allowlist. */
const anyHost = () => true;

/** Bytes are shared only between requests of one version, and of a project with the same purges of the image. */
function sourceVersion({ version = null, project, purges }: ImageRequest): string | null {
  const { validFrom } = purges;
  const purged = validFrom === 0 ? null : `${project} ${validFrom}`;
  return version === null || purged === null ? (version ?? purged) : `${version} ${purged}`;
}

/** Renders images: fetches the source and transforms it. */
export class Producer {
  readonly sources: Sources;
  readonly transforms: TransformQueue;
  readonly #watermarkFailures: WatermarkFailures;
  readonly #checkWithinMs: number;
  readonly #refused = { misses: 0, queue: 0 };

  /** @param now Unix ms */
  constructor(settings: EngineSettings, now: () => number) {
    this.sources = new Sources(settings, { date: now });
    this.transforms = new TransformQueue(settings);
    this.#watermarkFailures = new WatermarkFailures((watermark) =>
      this.checkWatermark(watermark, new AbortController().signal),
    );
    this.#checkWithinMs = settings.sourceTimeoutMs + settings.transformTimeoutMs;
  }

  /** As `Engine.checkWatermark`. */
  async checkWatermark(watermark: WatermarkSource, signal: AbortSignal): Promise<void> {
    const { url, originOf } = watermark;
    const deadline = AbortSignal.timeout(this.#checkWithinMs);
    // The check serves every project with this watermark, so it is counted for the host alone.
    const project = `watermarks of ${url.host}`;
    const options = { project, signal: AbortSignal.any([signal, deadline]), background: true };
    try {
      const lease = await this.#acquireSupported(url, { ...options, allowed: anyHost, originOf });
      try {
        const variant = watermarkVariant({ scale: 100, opacity: 100 }, checkedSize);
        await this.transforms.transform(lease.bytes, variant, { ...options, hold: lease.hold });
      } finally {
        lease.release();
      }
      this.#watermarkFailures.delete(watermark);
    } catch (error) {
      if (error !== deadline.reason || signal.aborted) throw error;
      throw new ServiceError('overloaded', 'The watermark was not checked in time.', error);
    }
  }

  /**
   * @param fetched called when source and watermark have arrived, or could not be fetched
   * @throws ServiceError, with the detail `watermark` when the variant's watermark cannot be used; or the
   *   signal's reason
   */
  async produce(work: Work, fetched: () => void): Promise<Produced> {
    try {
      return await this.#transform(await this.#fetch(work).finally(fetched), work);
    } catch (error) {
      const url = work.variant.watermark?.url;
      if (url !== undefined && error instanceof ServiceError && error.details.watermark === true) {
        this.#watermarkFailures.set({ url: new URL(url), originOf: work.originOf }, error);
      }
      throw error;
    }
  }

  /**
   * Asks the origin of a request's source or watermark whether its bytes have changed, as background work until
   * `promoted` aborts.
   * @throws ServiceError, also for changed bytes that are no supported image, or the signal's reason
   */
  async revalidate(
    request: ImageRequest,
    input: ImageInput,
    validators: Validators,
    { signal, promoted }: Pick<Work, 'signal' | 'promoted'>,
  ): Promise<SourceLease | NotModified> {
    const { source, variant, project } = request;
    const isSource = input === 'source';
    const url = isSource ? source : new URL(variant.watermark?.url ?? '');
    const answer = await this.sources.revalidate(url, validators, {
      project,
      version: sourceVersion(isSource ? request : { ...request, version: null }),
      allowed: isSource ? request.allowed : anyHost,
      originOf: request.originOf,
      background: true,
      promoted,
      signal,
    });
    return answer.bytes === null ? answer : supported(answer);
  }

  /** @throws ServiceError of a watermark that could not be used recently */
  requireUsableWatermark({ variant, originOf }: ImageRequest): void {
    if (variant.watermark === null) return;
    this.#watermarkFailures.requireUsable({ url: new URL(variant.watermark.url), originOf });
  }

  /** @throws ServiceError overloaded, when the transform queue has no place for a live request */
  requirePlace(project: string): void {
    if (this.transforms.isFull(project)) throw this.refuse('queue');
  }

  /**
   * Reserves a place in the transform queue for a live request, until the returned function is called.
   * @throws ServiceError overloaded
   */
  reserve(project: string): () => void {
    this.requirePlace(project);
    return this.transforms.reserve(project);
  }

  /** Counts a refused request and returns its error. */
  refuse(reason: 'misses' | 'queue'): ServiceError {
    this.#refused[reason] += 1;
    return new ServiceError('overloaded', 'Too many transforms are waiting.');
  }

  /** Total requests refused as `overloaded`, by the exhausted limit. */
  get refusals() {
    const { rejected, heldRejected } = this.sources.stats();
    const { misses, queue } = this.#refused;
    return {
      /** Misses in progress. */
      misses,
      /** Places in the transform queue, or the time that a transform may wait there. */
      queue: queue + this.transforms.stats().rejected,
      /** Fetches in flight. */
      fetches: rejected,
      /** Bytes of sources in memory. */
      heldBytes: heldRejected,
    };
  }

  async close(): Promise<void> {
    await Promise.all([this.transforms.close(), this.sources.close()]);
  }

  /** Fetches source and watermark in parallel; on failure of one it releases the other. */
  async #fetch(work: Work): Promise<Inputs> {
    const { watermark } = work.variant;
    const version = sourceVersion(work);
    const [first, second] = await Promise.allSettled([
      this.#acquireSupported(work.source, { ...work, version, notBefore: work.validFrom.source }),
      watermark === null ? null : this.#fetchWatermark(watermark.url, work),
    ]);
    if (first.status === 'fulfilled' && second.status === 'fulfilled') {
      work.onFetched('source', first.value);
      if (second.value !== null) work.onFetched('watermark', second.value);
      return { source: first.value, watermark: second.value };
    }
    for (const one of [first, second]) if (one.status === 'fulfilled') one.value?.release();
    throw first.status === 'rejected' ? first.reason : (second as PromiseRejectedResult).reason;
  }

  async #fetchWatermark(url: string, work: Work): Promise<SourceLease> {
    try {
      return await this.#acquireSupported(new URL(url), {
        ...work,
        version: sourceVersion({ ...work, version: null }),
        notBefore: work.validFrom.watermark,
        allowed: anyHost,
      });
    } catch (error) {
      // `overloaded` is not a failure of the watermark.
      const isOwn = error instanceof ServiceError && error.code !== 'overloaded';
      throw isOwn ? error.ofWatermark() : error;
    }
  }

  /** A source in a supported format. */
  async #acquireSupported(...args: Parameters<Sources['acquire']>): Promise<SourceLease> {
    return supported(await this.sources.acquire(...args));
  }

  async #transform({ source, watermark }: Inputs, work: Work): Promise<Produced> {
    const hold = () => {
      const holds = [source.hold(), watermark?.hold()];
      return () => {
        for (const release of holds) release?.();
      };
    };
    try {
      const options = { ...work, watermark: watermark?.bytes ?? null, hold };
      const transformed = await this.transforms.transform(source.bytes, work.variant, options);
      const { body, contentType, etag, width, height, queueMs, transformMs } = transformed;
      const fetched = source.fetchMs === null ? {} : { fetch: source.fetchMs };
      const fetchedAt = { source: source.fetchedAt, watermark: watermark?.fetchedAt ?? 0 };
      // With Node 20 an object that is spread and extended has a hidden class of its own, 230 bytes.
      const image = { body, contentType, etag, width, height, fetchedAt };
      const digests = digestsOf(work, source, watermark);
      return {
        image: digests === null ? image : { ...image, digests },
        timings: { ...fetched, queue: queueMs, transform: transformMs },
      };
    } finally {
      source.release();
      watermark?.release();
    }
  }
}

/** The lease, unless its format is not supported. */
function supported(lease: SourceLease): SourceLease {
  try {
    requireSupportedFormat(lease);
    return lease;
  } catch (error) {
    lease.release();
    throw error;
  }
}

/** The digests of what was fetched for a project whose images follow their sources. */
function digestsOf(
  { freshness = null }: ImageRequest,
  source: SourceLease,
  watermark: SourceLease | null,
): InputDigests | null {
  if (freshness === null) return null;
  return { source: source.digest(), watermark: watermark?.digest() ?? null };
}
