import { LRUCache } from 'lru-cache';
import { ServiceError } from '../contract/errors.ts';
import { canonicalUrl } from '../contract/hosts.ts';
import { TransformQueue, type TransformSettings } from './execution/transform-queue.ts';
import type { AllowedFormats } from './formats/source-format.ts';
import { requireSupportedFormat } from './formats/source-formats.ts';
import type { Image } from './image.ts';
import { errorOfInput, type Input } from './inputs.ts';
import type { ImageRequest, Miss } from './miss.ts';
import type { Revalidator, RevalidatorEnvironment } from './revalidator.ts';
import { Urgency } from './single-flight.ts';
import type { FindLoader } from './source/source-loader.ts';
import {
  type AcquireOptions,
  type SourceLease,
  type SourceSettings,
  Sources,
} from './source/sources.ts';
import { noObserver } from './stages.ts';
import { plainVariant, type Variant } from './variant.ts';

/** The image or font of a layer, as a project fetches it. */
export interface LayerInput {
  readonly project: string;
  readonly input: Input;
  readonly findLoader: FindLoader;
}

/** As long as other sources' failures are cached: then a request fetches and decodes it again. */
const layerFailureMs = 5_000;
const maxLayerFailures = 500;

/** Returns the same key for all spellings of a URL. */
const layerKey = (project: string, { url, isFont }: Input): string =>
  `${project} ${isFont} ${canonicalUrl(url).href}`;

/** A small variant, to decode layers when checking them. */
const checkedVariant: Variant = {
  ...plainVariant,
  width: 64,
  height: 64,
  fit: 'inside',
  animated: false,
  formats: ['png'],
};

/** The inputs' bytes, in order. */
type Leases = readonly [source: SourceLease, ...ofLayers: SourceLease[]];

export type ProducerSettings = SourceSettings & TransformSettings & AllowedFormats;

/** Renders images: fetches the source and transforms it. */
export class Producer {
  readonly sources: Sources;
  readonly transforms: TransformQueue;
  readonly #formats: AllowedFormats;
  readonly #revalidator: Revalidator;
  /** Errors of unusable layers, so that images without them are not rendered on every request. */
  readonly #layerFailures = new LRUCache<string, ServiceError>({
    max: maxLayerFailures,
    ttl: layerFailureMs,
  });
  readonly #checkWithinMs: number;

  /** @param now Unix ms */
  constructor(settings: ProducerSettings, revalidator: Revalidator, now: () => number) {
    this.#revalidator = revalidator;
    this.sources = new Sources(settings, { date: now });
    this.transforms = new TransformQueue(settings);
    this.#formats = settings;
    this.#checkWithinMs = settings.sourceTimeoutMs + settings.transformTimeoutMs;
  }

  /** See `Engine.checkLayer`. */
  async checkLayer({ project, input, findLoader }: LayerInput, given: AbortSignal): Promise<void> {
    const deadline = AbortSignal.timeout(this.#checkWithinMs);
    const signal = AbortSignal.any([given, deadline]);
    const { isAllowedHost } = input;
    const urgency = new Urgency('background');
    try {
      const options = { project, isAllowedHost, signal, urgency, findLoader };
      const lease = await this.#acquire(input, options);
      try {
        const given = { project, inputs: [input], variant: checkedVariant, stages: noObserver };
        const request = { ...given, background: true };
        await this.transforms.transform({ request, signal, urgency, timings: {} }, [lease]);
      } finally {
        lease.release();
      }
      this.#layerFailures.delete(layerKey(project, input));
    } catch (error) {
      if (error !== deadline.reason || given.aborted) throw error;
      throw new ServiceError('overloaded', 'The layer was not checked in time.', error);
    }
  }

  /**
   * Fetches a miss's inputs with a reserved queue slot, and transforms the inputs.
   * @throws ServiceError, with the detail `layer` if a layer is unusable; or the signal's reason
   */
  async produce(miss: Miss): Promise<Image> {
    const leave = miss.urgency.isLive ? this.transforms.reserve(miss.request.project) : () => {};
    try {
      return await this.#transform(await this.#fetch(miss).finally(leave), miss);
    } catch (error) {
      this.#recordLayerFailure(error, miss.request);
      throw error;
    }
  }

  /** @throws ServiceError of a layer that failed recently */
  requireUsableLayers({ inputs, variant, project }: ImageRequest): void {
    for (const input of inputs) {
      if (input.layer === null) continue;
      const error = this.#layerFailures.get(layerKey(project, input));
      if (error !== undefined) throw errorOfInput(variant, input, error);
    }
  }

  #recordLayerFailure(error: unknown, { inputs, project }: ImageRequest): void {
    if (!(error instanceof ServiceError)) return;
    const input = inputs.find(({ layer }) => layer !== null && layer === error.details.layer);
    // Any client can cause errors by its text. Their codes differ from font errors.
    if (input === undefined || (input.isFont && !error.code.startsWith('source_'))) return;
    this.#layerFailures.set(layerKey(project, input), error);
  }

  readonly revalidate: RevalidatorEnvironment['revalidate'] = async (
    request,
    input,
    validators,
    work,
  ) => {
    const options = { ...inputOptions(request, input), ...work };
    const response = await this.sources.revalidate(input.url, validators, options);
    return response.bytes === null ? response : this.#supported(input, response);
  };

  async close(): Promise<void> {
    await Promise.all([this.transforms.close(), this.sources.close()]);
  }

  /** Fetches the inputs in parallel; if a fetch fails, releases the others. */
  async #fetch(miss: Miss): Promise<Leases> {
    const { request, timings } = miss;
    const results = await Promise.allSettled(
      request.inputs.map((input, index) => this.#fetchInput(input, index, miss)),
    );
    const failures = results.filter((result) => result.status === 'rejected');
    const leases = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
    const [first, ...others] = leases;
    if (first !== undefined && failures.length === 0) {
      if (first.fetchMs !== null) timings.fetch = first.fetchMs;
      if (request.freshness !== null) this.#revalidator.fetched(request, leases);
      return [first, ...others];
    }
    for (const lease of leases) lease.release();
    throw failures[0]?.reason;
  }

  async #fetchInput(input: Input, index: number, miss: Miss): Promise<SourceLease> {
    const { request, signal, urgency } = miss;
    const { stages, variant, freshness } = request;
    const state = freshness && this.#revalidator.states(request)[index];
    try {
      return await this.#acquire(input, {
        ...inputOptions(request, input),
        notBefore: state?.changedAt ?? 0,
        signal,
        urgency,
        stages,
      });
    } catch (error) {
      throw errorOfInput(variant, input, error);
    }
  }

  async #acquire(input: Input, options: AcquireOptions): Promise<SourceLease> {
    return this.#supported(input, await this.sources.acquire(input.url, options));
  }

  /** Returns the lease if its format is supported. */
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

  async #transform(leases: Leases, miss: Miss): Promise<Image> {
    try {
      const rendered = await this.transforms.transform(miss, leases);
      const { body, contentType, etag, width, height, sourceSize, warnings } = rendered;
      const fetchedAt = leases.map((lease) => lease.fetchedAt);
      const isFollowing = miss.request.freshness !== null;
      // In Node 20, each object that is spread and extended gets a separate hidden class of 230
      // bytes.
      const sourceBytes = leases[0].bytes.byteLength;
      const image = { body, contentType, etag, width, height, fetchedAt, sourceBytes };
      if (!isFollowing && sourceSize === undefined && warnings === undefined) return image;
      const digests = isFollowing && { digests: leases.map((lease) => lease.digest()) };
      return {
        ...image,
        ...digests,
        ...(sourceSize && { sourceSize }),
        ...(warnings && { warnings }),
      };
    } finally {
      for (const lease of leases) lease.release();
    }
  }
}

/** Returns the fetch options for an input. */
function inputOptions(request: ImageRequest, input: Input) {
  const { project, generation, findLoader } = request;
  return {
    project,
    findLoader,
    version: sharedVersion(input, project, generation.number),
    isAllowedHost: input.isAllowedHost,
  };
}

/** Returns a version shared only by requests for the same version, project and generation. */
function sharedVersion({ version }: Input, project: string, generation: number): string | null {
  const purged = generation === 0 ? null : `${project} ${generation}`;
  return version === null || purged === null ? (version ?? purged) : `${version} ${purged}`;
}
