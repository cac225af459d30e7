import { backgroundHeader } from '../../contract/background-token.ts';
import { ServiceError } from '../../contract/errors.ts';
import type { CacheResult, Engine } from '../../pool/engine.ts';
import type { Image } from '../../pool/image.ts';
import { runStage } from '../../pool/stages.ts';
import type { Variant } from '../../pool/variant.ts';
import type { Project } from '../../store/projects.ts';
import type { Headers, HttpRequest } from '../http/request.ts';
import { type ProjectCache, projectNotFound } from '../project-cache.ts';
import type { ImageTelemetry, ObservedRequest } from '../telemetry/image-telemetry.ts';
import { allows, checkSignature, checkSource } from './access.ts';
import { readAddress } from './address.ts';
import { bothFailed, fallbackHeaders, isReplaceable, ofAnotherSource } from './fallback.ts';
import { variantKey } from './key.ts';
import { type Negotiated, type NegotiationHeaders, negotiate } from './negotiate.ts';
import { readOptions } from './options.ts';
import { withPreset } from './preset.ts';
import { resolveVariant } from './resolve-variant.ts';
import {
  type Conditions,
  cacheControl,
  imageHeaders,
  imageResponse,
  readConditions,
  warmResponse,
} from './response.ts';
import { type CachedResponse, ResponseCache } from './response-cache.ts';

/** The parts of the process that image delivery uses. */
export interface DeliveryEnvironment {
  readonly engine: Engine;
  readonly projects: ProjectCache;
  readonly telemetry: ImageTelemetry;
  /** Whether a request has a valid token that marks it as background work. */
  readonly isBackground: (target: string, token: string) => Promise<boolean>;
  /** Called when an image is delivered without its project's watermark, which cannot be used. */
  readonly onWatermarkFailure: (projectId: string, error: ServiceError) => void;
  /** Unix ms. */
  readonly now: () => number;
}

/** The headers that the response depends on. */
function negotiationHeaders(request: HttpRequest): NegotiationHeaders {
  return {
    accept: request.header('accept'),
    'sec-ch-dpr': request.header('sec-ch-dpr'),
    dpr: request.header('dpr'),
    'sec-ch-width': request.header('sec-ch-width'),
    width: request.header('width'),
    'sec-ch-viewport-width': request.header('sec-ch-viewport-width'),
    'viewport-width': request.header('viewport-width'),
  };
}

/** The key of the response cache: everything in a request that the cached response depends on. */
const responseKey = ({ path, query }: HttpRequest, { form }: Negotiated): string =>
  `${path}?${query}\n${form}`;

/** The image endpoint (spec 4.3). */
export class Delivery {
  readonly #engine: Engine;
  readonly #projects: ProjectCache;
  readonly #telemetry: ImageTelemetry;
  readonly #isBackground: DeliveryEnvironment['isBackground'];
  readonly #onUnmarked: DeliveryEnvironment['onWatermarkFailure'];
  readonly #now: () => number;
  readonly responses = new ResponseCache();

  constructor(environment: DeliveryEnvironment) {
    const {
      engine,
      projects,
      telemetry,
      isBackground,
      onWatermarkFailure: onUnmarked,
      now,
    } = environment;
    this.#engine = engine;
    this.#projects = projects;
    this.#telemetry = telemetry;
    this.#isBackground = isBackground;
    this.#onUnmarked = onUnmarked;
    this.#now = now;
  }

  /** Serves a repeated request from the response cache, synchronously, and any other by `#deliver`. */
  handle(request: HttpRequest): void | Promise<void> {
    const negotiated = negotiate(negotiationHeaders(request));
    const conditions = readConditions(request);
    const token = request.header(backgroundHeader);
    const requestKey = responseKey(request, negotiated);
    const now = this.#now();
    // The response to a worker has other headers than the cached response.
    const cached = token === '' ? this.responses.get(requestKey, now) : undefined;
    if (cached === undefined || cached.entry.image === null) {
      if (!request.isWellFormed()) return;
      const observed = this.#telemetry.observe(request);
      return observed.untilDone(
        this.#deliver(request, observed, requestKey, negotiated, conditions, token),
      );
    }
    this.#engine.touch(cached.entry, now);
    this.#telemetry.hit(request, cached.project.project._id);
    const { image } = cached.entry;
    request.respond(imageResponse(image, headersNow(image, cached, now), conditions));
  }

  /** Handles a request without the response cache, from its URL to its response. */
  async #deliver(
    request: HttpRequest,
    observed: ObservedRequest,
    requestKey: string,
    negotiated: Negotiated,
    conditions: Conditions,
    token: string,
  ): Promise<void> {
    const { path, query } = request;
    if (this.#engine.isOwnFetch(request.header('cdn-loop'))) {
      throw new ServiceError('source_blocked', 'The source is an image of this service itself.');
    }
    const { address, asked } = await runStage(observed, 'parse', () => readTarget(path, query));
    observed.addressed(address.projectId, address.source.hostname);

    const find = () => this.#projects.find(address.projectId);
    const state = await runStage(observed, 'project', find);
    if (state === null) {
      throw projectNotFound(address.projectId);
    }
    const { project } = state;
    observed.found();
    const background = token !== '' && (await this.#isBackground(`${path}?${query}`, token));
    checkSource(project, address.source);
    // A worker needs no signature: clients still need one for the images that it warms.
    const expires = background ? null : checkSignature(project, address, path, query, this.#now());

    const options = withPreset(asked, project);
    const fallback = options.fallback === undefined ? null : new URL(options.fallback);
    if (fallback !== null) checkSource(project, fallback);
    const variant = resolveVariant(options, negotiated.hints, negotiated.accepted, project);
    const { source } = address;
    const { result, complete, replaces } = await this.#withFallback(
      { project, source, variant, background, stages: observed },
      fallback,
      request,
    );
    observed.delivered(result.tier);

    const { image, entry } = result;
    const now = this.#now();
    const mayStore = complete ? cacheControl(expires, now) : 'no-store';
    const download = options.download ?? null;
    const responseHeaders = imageHeaders(image, result, mayStore, download);
    if (replaces !== null) {
      const headers = fallbackHeaders(responseHeaders, replaces);
      request.respond({ status: 200, headers, body: image.body });
      return;
    }
    request.respond(
      background
        ? warmResponse(responseHeaders)
        : imageResponse(image, responseHeaders, conditions),
    );
    if (entry === null || expires === null || !complete) return;
    const hitHeaders = imageHeaders(image, fromMemory, cacheControl(expires, now), download);
    this.responses.set(requestKey, {
      project: state,
      entry,
      headers: hitHeaders,
      download,
      expires,
    });
  }

  /**
   * The image, or that of another source in its place; then not `complete`, and with the error that it
   * `replaces`. Each has its own place in the caches.
   */
  async #withFallback(
    checked: Checked,
    fallback: URL | null,
    request: HttpRequest,
  ): Promise<Found> {
    try {
      return await this.#image(checked, request);
    } catch (error) {
      // A worker warms the image of the source, or has failed.
      const isWanted = fallback !== null && !checked.background && !request.signal.aborted;
      if (!isWanted || !isReplaceable(error)) throw error;
      const variant = ofAnotherSource(checked.variant);
      try {
        const { result } = await this.#image({ ...checked, source: fallback, variant }, request);
        checked.stages.replaced(error);
        return { result, complete: false, replaces: error };
      } catch (second) {
        throw bothFailed(error, second);
      }
    }
  }

  /**
   * The image; not `complete` when its watermark cannot be used. The image without it is the one that
   * the project would have without a watermark, so it has that one's place in the caches.
   */
  async #image(
    { project, source, variant, background, stages }: Checked,
    { signal }: HttpRequest,
  ): Promise<Found> {
    const get = (wanted: Variant) => {
      const key = variantKey(project._id, source, wanted);
      const allowed = (host: string) => allows(project, host);
      const wants = { project: project._id, source, variant: wanted, allowed, background, stages };
      return this.#engine.get(key, wants, signal);
    };
    try {
      return { result: await get(variant), complete: true, replaces: null };
    } catch (error) {
      const ofWatermark = error instanceof ServiceError && error.details.watermark === true;
      // A worker warms the image with the watermark, or has failed.
      if (!ofWatermark || background) throw error;
      this.#onUnmarked(project._id, error);
      const result = await get({ ...variant, watermark: null });
      return { result, complete: false, replaces: null };
    }
  }
}

/** A request for an image, checked. */
interface Checked {
  readonly project: Project;
  readonly source: URL;
  readonly variant: Variant;
  readonly background: boolean;
  readonly stages: ObservedRequest;
}

function readTarget(path: string, query: string) {
  const address = readAddress(path, query);
  return { address, asked: readOptions(address.parameters) };
}

interface Found {
  readonly result: CacheResult;
  /** Whether it is the whole of what was asked for, so that it may be stored. */
  readonly complete: boolean;
  /** The error of the URL's source, when the image is that of the fallback. */
  readonly replaces: ServiceError | null;
}

const fromMemory = { tier: 'memory', timings: {} } as const;

/** The headers of a cached response; those of a signed URL change every second. */
function headersNow(image: Image, cached: CachedResponse, now: number): Headers {
  const { headers, download, expires } = cached;
  return expires === Number.POSITIVE_INFINITY
    ? headers
    : imageHeaders(image, fromMemory, cacheControl(expires, now), download);
}
