import { ServiceError } from '../contract/errors.ts';
import type { SharedWait } from './cache/shared-cache.ts';
import { TransformQueue } from './execution/transform-queue.ts';
import type { AllowedFormats } from './formats/optional-formats.ts';
import { requireSupportedFormat } from './formats/unsupported-formats.ts';
import type { ImageFreshness } from './freshness.ts';
import type { FetchTimes, Image, ImageInput, InputDigests } from './image.ts';
import type { ImagePurges } from './purges.ts';
import { failedLayer, imageLayerVariant, layersOf, ofLayer } from './rendering/layer.ts';
import type { EngineSettings } from './settings.ts';
import type { NotModified, Validators } from './source/fetch.ts';
import type { OriginOf } from './source/origin.ts';
import { type SourceLease, Sources } from './source/sources.ts';
import type { StageObserver } from './stages.ts';
import { type Layer, layerUrl, type Variant } from './variant.ts';
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
  /** Of the source, the watermark and the layers. Default: plain HTTP requests. */
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
  /** Of the images and fonts of `layersOf` the variant; null for texts without a font of their own. */
  readonly layers: readonly (SourceLease | null)[];
}

/** Watermarks are decoded at this size, in px, when they are checked. */
const checkedSize = { width: 64, height: 64 };

/** One for all, because an error's stack is a twelfth of the CPU time of a refusal. */
const refusal = new ServiceError('overloaded', 'Too many transforms are waiting.');

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
  readonly #formats: AllowedFormats;
  readonly #watermarkFailures: WatermarkFailures;
  readonly #checkWithinMs: number;
  readonly #refused = { misses: 0, queue: 0 };

  /** @param now Unix ms */
  constructor(settings: EngineSettings, now: () => number) {
    this.sources = new Sources(settings, { date: now });
    this.transforms = new TransformQueue(settings);
    this.#formats = settings.formats;
    this.#watermarkFailures = new WatermarkFailures((watermark) =>
      this.checkWatermark(watermark, new AbortController().signal),
    );
    this.#checkWithinMs = settings.sourceTimeoutMs + settings.transformTimeoutMs;
  }

  /** As `Engine.checkWatermark`. */
  async checkWatermark(watermark: WatermarkSource, signal: AbortSignal): Promise<void> {
    const { url, originOf, allowed, isFont = false } = watermark;
    const deadline = AbortSignal.timeout(this.#checkWithinMs);
    // The check serves every project with this watermark, so it is counted for the host alone.
    const project = `watermarks of ${url.host}`;
    const options = { project, signal: AbortSignal.any([signal, deadline]), background: true };
    try {
      const lease = await this.#acquireLayer(isFont, url, {
        ...options,
        allowed: allowed?.isAllowed ?? anyHost,
        originOf,
      });
      try {
        const variant = imageLayerVariant({ scale: 100, opacity: 100, rotate: 0 }, checkedSize);
        // The next picture with a font checks its bytes.
        if (!isFont) {
          await this.transforms.transform(lease.bytes, variant, { ...options, hold: lease.hold });
        }
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
   * @param fetched called when source, watermark and layers have arrived, or could not be fetched
   * @throws ServiceError, with the detail `watermark` or `layer` when one of them cannot be used; or the signal's
   *   reason
   */
  async produce(work: Work, fetched: () => void): Promise<Produced> {
    try {
      return await this.#transform(await this.#fetch(work).finally(fetched), work);
    } catch (error) {
      this.#remember(error, work);
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
    return answer.bytes === null ? answer : supported(answer, this.#formats);
  }

  /** @throws ServiceError of a watermark or a layer that could not be used recently */
  requireUsableLayers(request: ImageRequest): void {
    const { variant } = request;
    for (const [index, layer] of layersOf(variant).entries()) {
      const source = layerSource(request, index, layer);
      if (source === null) continue;
      try {
        this.#watermarkFailures.requireUsable(source);
      } catch (error) {
        throw error instanceof ServiceError ? ofLayer(variant, index, error) : error;
      }
    }
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
    return refusal;
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

  /** Fetches source, watermark and layers in parallel; on failure of one it releases the others. */
  async #fetch(work: Work): Promise<Inputs> {
    const version = sourceVersion(work);
    const layers = layersOf(work.variant);
    const [source, ...others] = await Promise.allSettled([
      this.#acquireSupported(work.source, { ...work, version, notBefore: work.validFrom.source }),
      ...layers.map((layer, index) => this.#fetchLayer(layer, index, work)),
    ]);
    const all = [source, ...others];
    const failed = all.filter((one) => one.status === 'rejected');
    if (source.status === 'fulfilled' && failed.length === 0) {
      const leases = others.map((one) => (one.status === 'fulfilled' ? one.value : null));
      work.onFetched('source', source.value);
      const watermark = watermarkOf(work.variant, leases);
      if (watermark !== null) work.onFetched('watermark', watermark);
      return { source: source.value, layers: leases };
    }
    for (const one of all) if (one.status === 'fulfilled') one.value?.release();
    for (const { reason } of failed) this.#remember(reason, work);
    throw failed[0]?.reason;
  }

  async #fetchLayer(layer: Layer, index: number, work: Work): Promise<SourceLease | null> {
    const url = layerUrl(layer);
    if (url === null) return null;
    const isWatermark = index === 0 && work.variant.watermark !== null;
    try {
      return await this.#acquireLayer(layer.kind === 'text', new URL(url), {
        ...work,
        version: sourceVersion({ ...work, version: null }),
        notBefore: isWatermark ? work.validFrom.watermark : 0,
        allowed: isWatermark ? anyHost : work.allowed,
      });
    } catch (error) {
      // `overloaded` is not a failure of the layer.
      const isOwn = error instanceof ServiceError && error.code !== 'overloaded';
      throw isOwn ? ofLayer(work.variant, index, error) : error;
    }
  }

  /** Remembers the failure of a watermark or a layer. */
  #remember(error: unknown, work: Work): void {
    const index = failedLayer(work.variant, error);
    const layer = index === null ? undefined : layersOf(work.variant)[index];
    if (index === null || layer === undefined) return;
    const source = layerSource(work, index, layer);
    const failure = error as ServiceError;
    // The words, which anyone may give, fail with other codes than the font.
    if (source === null || (source.isFont && !failure.code.startsWith('source_'))) return;
    this.#watermarkFailures.set(source, failure);
  }

  /** The image or the font of a layer. */
  #acquireLayer(isFont: boolean, ...args: Parameters<Sources['acquire']>): Promise<SourceLease> {
    return isFont ? this.sources.acquire(...args) : this.#acquireSupported(...args);
  }

  /** A source in a supported format. */
  async #acquireSupported(...args: Parameters<Sources['acquire']>): Promise<SourceLease> {
    return supported(await this.sources.acquire(...args), this.#formats);
  }

  async #transform({ source, layers }: Inputs, work: Work): Promise<Produced> {
    const hold = () => {
      const holds = [source, ...layers].map((lease) => lease?.hold());
      return () => {
        for (const release of holds) release?.();
      };
    };
    try {
      const options = { ...work, layers: layers.map((lease) => lease?.bytes ?? null), hold };
      const transformed = await this.transforms.transform(source.bytes, work.variant, options);
      const { body, contentType, etag, width, height, warnings, queueMs, transformMs } =
        transformed;
      const fetched = source.fetchMs === null ? {} : { fetch: source.fetchMs };
      const watermark = watermarkOf(work.variant, layers);
      const fetchedAt = { source: source.fetchedAt, watermark: watermark?.fetchedAt ?? 0 };
      // With Node 20 an object that is spread and extended has a hidden class of its own, 230 bytes.
      const image = { body, contentType, etag, width, height, fetchedAt };
      const digests = digestsOf(work, source, watermark);
      const more = { ...(digests && { digests }), ...(warnings && { warnings }) };
      const isPlain = digests === null && warnings === undefined;
      return {
        image: isPlain ? image : { ...image, ...more },
        timings: { ...fetched, queue: queueMs, transform: transformMs },
      };
    } finally {
      for (const lease of [source, ...layers]) lease?.release();
    }
  }
}

/** The first of the leases, if the variant has a watermark. */
function watermarkOf(
  { watermark }: Variant,
  [first = null]: readonly (SourceLease | null)[],
): SourceLease | null {
  return watermark === null ? null : first;
}

/**
 * How the image or font of one of `layersOf` a request is fetched, null for none: the allowlist applies to layers, and
 * not to the watermark.
 */
function layerSource(
  { variant, project, originOf, allowed }: ImageRequest,
  index: number,
  layer: Layer,
): WatermarkSource | null {
  const url = layerUrl(layer);
  if (url === null) return null;
  const isWatermark = index === 0 && variant.watermark !== null;
  const hosts = isWatermark ? {} : { allowed: { project, isAllowed: allowed } };
  return { url: new URL(url), originOf, ...hosts, isFont: layer.kind === 'text' };
}

/** The lease, unless its format is not supported. */
function supported(lease: SourceLease, allowed: AllowedFormats): SourceLease {
  try {
    requireSupportedFormat(lease, allowed);
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
