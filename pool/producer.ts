import { ServiceError } from '../contract/errors.ts';
import type { ImageQuery } from './cache/image-caches.ts';
import { TransformQueue } from './execution/transform-queue.ts';
import type { AllowedFormats } from './formats/source-format.ts';
import { requireSupportedFormat } from './formats/unsupported-formats.ts';
import type { ImageFreshness } from './freshness.ts';
import type { Image } from './image.ts';
import { errorOfInput, type Input, type Inputs } from './inputs.ts';
import { LayerFailures, type LayerInput } from './layer-failures.ts';
import type { EngineSettings } from './settings.ts';
import type { NotModified, Validators } from './source/fetch.ts';
import type { LoaderOf } from './source/source-loader.ts';
import { type AcquireOptions, type SourceLease, Sources } from './source/sources.ts';
import type { StageObserver } from './stages.ts';
import type { Generation } from './validity.ts';
import { plainVariant, type Variant } from './variant.ts';

export interface ImageRequest {
  /** The project's id. Projects have equal shares of everything limited. */
  readonly project: string;
  readonly inputs: Inputs;
  readonly variant: Variant;
  readonly generation: Generation;
  /** Absent for images that are valid until they are purged. */
  readonly freshness?: ImageFreshness | null;
  /** Background work has lower priority than live requests, until a live request waits for it. */
  readonly background: boolean;
  /** Of the same inputs: what a live request gets while no cache has the image. */
  readonly provisional?: { readonly key: string; readonly variant: Variant } | null;
  readonly stages?: StageObserver;
  /** Of all inputs. Default: plain HTTP requests. */
  readonly loaderOf?: LoaderOf;
  /**
   * Called before a render, with nothing fetched yet. Resolves with a function for its end, or rejects with the
   * error of a project that may not render.
   */
  readonly admitRender?: () => Promise<() => void>;
}

/** A request with what is known of its inputs. */
export interface KnownRequest extends ImageRequest, ImageQuery {
  /** Called with the bytes of the inputs. */
  readonly onFetched: (leases: Leases) => void;
}

/** A request for an image that memory has not, in progress. */
export interface Miss extends KnownRequest {
  /** Aborts when no request waits for the image any more. */
  readonly signal: AbortSignal;
  /** Aborted as soon as a live request waits for the image. */
  readonly promoted: AbortSignal;
}

export const isLive = ({ promoted }: Miss): boolean => promoted.aborted;

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

/** The bytes of the inputs, in their order. */
type Leases = readonly [source: SourceLease, ...ofLayers: SourceLease[]];

/** Layers are decoded as this when they are checked. */
const checkedVariant: Variant = {
  ...plainVariant,
  width: 64,
  height: 64,
  fit: 'inside',
  animated: false,
  formats: ['png'],
};

/** Bytes are shared only between requests of one version, and of a project and a generation. */
function versionOf({ version }: Input, { project, generation }: ImageRequest): string | null {
  const { number } = generation;
  const purged = number === 0 ? null : `${project} ${number}`;
  return version === null || purged === null ? (version ?? purged) : `${version} ${purged}`;
}

/** Renders images: fetches the source and transforms it. */
export class Producer {
  readonly sources: Sources;
  readonly transforms: TransformQueue;
  readonly #formats: AllowedFormats;
  readonly #layerFailures: LayerFailures;
  readonly #checkWithinMs: number;

  /** @param now Unix ms */
  constructor(settings: EngineSettings, now: () => number) {
    this.sources = new Sources(settings, { date: now });
    this.transforms = new TransformQueue(settings);
    this.#formats = settings.formats;
    this.#layerFailures = new LayerFailures((layer) =>
      this.checkLayer(layer, new AbortController().signal),
    );
    this.#checkWithinMs = settings.sourceTimeoutMs + settings.transformTimeoutMs;
  }

  /** As `Engine.checkLayer`. */
  async checkLayer(layer: LayerInput, signal: AbortSignal): Promise<void> {
    const { project, input, loaderOf } = layer;
    const deadline = AbortSignal.timeout(this.#checkWithinMs);
    const options = { project, signal: AbortSignal.any([signal, deadline]), background: true };
    try {
      const { isAllowedHost } = input;
      const lease = await this.#acquire(input, { ...options, isAllowedHost, loaderOf });
      try {
        // The next picture with a font checks its bytes.
        if (!input.isFont) {
          const { bytes, hold } = lease;
          await this.transforms.transform(bytes, checkedVariant, { ...options, hold });
        }
      } finally {
        lease.release();
      }
      this.#layerFailures.delete(layer);
    } catch (error) {
      if (error !== deadline.reason || signal.aborted) throw error;
      throw new ServiceError('overloaded', 'The layer was not checked in time.', error);
    }
  }

  /**
   * @param fetched called when the inputs have arrived, or could not be fetched
   * @throws ServiceError, with the detail `layer` when one of them cannot be used; or the signal's reason
   */
  async produce(miss: Miss, fetched: () => void): Promise<Produced> {
    try {
      return await this.#transform(await this.#fetch(miss).finally(fetched), miss);
    } catch (error) {
      this.#remember(error, miss);
      throw error;
    }
  }

  /**
   * Asks the origin of an input whether its bytes have changed, as background work until `promoted` aborts.
   * @throws ServiceError, also for changed bytes that are no supported image, or the signal's reason
   */
  async revalidate(
    request: ImageRequest,
    input: Input,
    validators: Validators,
    { signal, promoted }: Pick<Miss, 'signal' | 'promoted'>,
  ): Promise<SourceLease | NotModified> {
    const answer = await this.sources.revalidate(input.url, validators, {
      project: request.project,
      version: versionOf(input, request),
      isAllowedHost: input.isAllowedHost,
      loaderOf: request.loaderOf,
      background: true,
      promoted,
      signal,
    });
    return answer.bytes === null ? answer : this.#supported(input, answer);
  }

  /** @throws ServiceError of a layer that could not be used recently */
  requireUsableLayers({ inputs, variant, project, loaderOf }: ImageRequest): void {
    for (const input of inputs) {
      if (input.layer === null) continue;
      try {
        this.#layerFailures.requireUsable({ project, input, loaderOf });
      } catch (error) {
        throw errorOfInput(variant, input, error);
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.transforms.close(), this.sources.close()]);
  }

  /** Fetches the inputs in parallel; on failure of one it releases the others. */
  async #fetch(miss: Miss): Promise<Leases> {
    const results = await Promise.allSettled(
      miss.inputs.map((input, index) => this.#fetchInput(input, index, miss)),
    );
    const failures = results.filter((one) => one.status === 'rejected');
    const leases = results.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    const [first, ...others] = leases;
    if (first !== undefined && failures.length === 0) {
      const fetched: Leases = [first, ...others];
      miss.onFetched(fetched);
      return fetched;
    }
    for (const lease of leases) lease.release();
    for (const { reason } of failures) this.#remember(reason, miss);
    throw failures[0]?.reason;
  }

  async #fetchInput(input: Input, index: number, miss: Miss): Promise<SourceLease> {
    try {
      return await this.#acquire(input, {
        ...miss,
        version: versionOf(input, miss),
        notBefore: miss.states()[index]?.changedAt ?? 0,
        isAllowedHost: input.isAllowedHost,
      });
    } catch (error) {
      throw errorOfInput(miss.variant, input, error);
    }
  }

  /** Remembers the failure of a layer. */
  #remember(error: unknown, { inputs, project, loaderOf }: Miss): void {
    if (!(error instanceof ServiceError)) return;
    const input = inputs.find(({ layer }) => layer !== null && layer === error.details.layer);
    // The words, which anyone may give, fail with other codes than the font.
    if (input === undefined || (input.isFont && !error.code.startsWith('source_'))) return;
    this.#layerFailures.set({ project, input, loaderOf }, error);
  }

  async #acquire(input: Input, options: AcquireOptions): Promise<SourceLease> {
    return this.#supported(input, await this.sources.acquire(input.url, options));
  }

  /** The lease, unless its format is not supported. */
  #supported({ isFont }: Input, lease: SourceLease): SourceLease {
    if (isFont) return lease;
    try {
      requireSupportedFormat(lease, this.#formats);
      return lease;
    } catch (error) {
      lease.release();
      throw error;
    }
  }

  async #transform(leases: Leases, miss: Miss): Promise<Produced> {
    const hold = () => {
      const holds = leases.map((lease) => lease.hold());
      return () => {
        for (const release of holds) release();
      };
    };
    const { inputs, variant, freshness = null } = miss;
    const [source] = leases;
    const layers = (variant.layers ?? []).map(
      (_, layer) => leases[inputs.findIndex((input) => input.layer === layer)]?.bytes ?? null,
    );
    try {
      const options = { ...miss, layers, hold };
      const transformed = await this.transforms.transform(source.bytes, variant, options);
      const { body, contentType, etag, width, height, warnings, queueMs, transformMs } =
        transformed;
      const fetched = source.fetchMs === null ? {} : { fetch: source.fetchMs };
      const fetchedAt = leases.map((lease) => lease.fetchedAt);
      // With Node 20 an object that is spread and extended has a hidden class of its own, 230 bytes.
      const image = { body, contentType, etag, width, height, fetchedAt };
      const digests = freshness === null ? null : leases.map((lease) => lease.digest());
      const more = { ...(digests && { digests }), ...(warnings && { warnings }) };
      const isPlain = digests === null && warnings === undefined;
      return {
        image: isPlain ? image : { ...image, ...more },
        timings: { ...fetched, queue: queueMs, transform: transformMs },
      };
    } finally {
      for (const lease of leases) lease.release();
    }
  }
}
