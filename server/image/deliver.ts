import { backgroundHeader } from '../../contract/background-token.ts';
import { ServiceError } from '../../contract/errors.ts';
import type { CacheResult, Engine } from '../../pool/engine.ts';
import { runStage } from '../../pool/stages.ts';
import type { Variant } from '../../pool/variant.ts';
import type { Project } from '../../store/projects.ts';
import type { HttpRequest } from '../http/request.ts';
import { type ProjectCache, type ProjectState, projectNotFound } from '../project-cache.ts';
import type { ImageTelemetry, ObservedRequest } from '../telemetry/image-telemetry.ts';
import { allows, checkSignature, checkSource } from './access.ts';
import { readAddress } from './address.ts';
import { bothFailed, fallbackHeaders, isReplaceable, withoutSourceArea } from './fallback.ts';
import { variantKey } from './key.ts';
import { type Negotiated, negotiate } from './negotiate.ts';
import { readOptions } from './options.ts';
import { withPreset } from './preset.ts';
import { resolveVariant } from './resolve-variant.ts';
import {
  backgroundResponse,
  type Conditions,
  cacheControl,
  imageHeaders,
  imageResponse,
  readConditions,
} from './response.ts';
import { type CachedResponse, ResponseCache } from './response-cache.ts';

/** The parts of the process that image delivery uses. */
export interface DeliveryEnvironment {
  readonly engine: Engine;
  readonly projects: ProjectCache;
  readonly telemetry: ImageTelemetry;
  /** Whether a token is valid for a request's target and marks the request as background work. */
  readonly isBackground: (target: string, token: string) => Promise<boolean>;
  /** Called when an image is delivered without its project's watermark, which failed. */
  readonly onWatermarkFailure: (projectId: string, error: ServiceError) => void;
  /** Unix ms. */
  readonly now: () => number;
}

/** The headers of a request, copied because they cannot be read after an await. */
interface RequestHeaders {
  readonly negotiated: Negotiated;
  readonly conditions: Conditions;
  readonly backgroundToken: string;
  readonly isLoop: boolean;
}

/** A request that may be served: an image to find in the caches or to render. */
interface ImageOrder {
  readonly project: Project;
  readonly source: URL;
  readonly variant: Variant;
  readonly background: boolean;
  readonly stages: ObservedRequest;
  readonly signal: AbortSignal;
}

interface Delivered {
  readonly result: CacheResult;
  /** False without the watermark, or with the fallback instead of the source: not to be stored. */
  readonly complete: boolean;
  /** The error of the source, when the image is the fallback's. */
  readonly sourceError: ServiceError | null;
}

/** The operations `getImage` and `getImageByQuery` of the OpenAPI document. */
export class Delivery {
  readonly #environment: DeliveryEnvironment;
  readonly responses = new ResponseCache();

  constructor(environment: DeliveryEnvironment) {
    this.#environment = environment;
  }

  /** Serves a repeated request synchronously from the response cache, others through the engine. */
  handle(request: HttpRequest): void | Promise<void> {
    const { engine, telemetry, now } = this.#environment;
    const negotiated = negotiate((name) => request.header(name));
    const conditions = readConditions(request);
    const backgroundToken = request.header(backgroundHeader);
    const cacheKey = `${request.path}?${request.query}\n${negotiated.form}`;
    const at = now();
    // A background request gets other headers than a cached response has.
    const cached = backgroundToken === '' ? this.responses.get(cacheKey, at) : undefined;
    const image = cached?.entry.image ?? null;
    if (cached !== undefined && image !== null) {
      engine.touch(cached.entry, at);
      telemetry.hit(request, cached.project.project._id);
      return request.respond(imageResponse(image, cachedHeaders(cached, image, at), conditions));
    }
    if (!request.isWellFormed()) return;
    const isLoop = engine.isOwnFetch(request.header('cdn-loop'));
    const headers = { negotiated, conditions, backgroundToken, isLoop };
    const observed = telemetry.observe(request);
    return observed.untilDone(this.#deliver(request, headers, cacheKey, observed));
  }

  /** Serves a request that is not in the response cache. */
  async #deliver(
    request: HttpRequest,
    headers: RequestHeaders,
    cacheKey: string,
    observed: ObservedRequest,
  ): Promise<void> {
    const { path, query, signal } = request;
    const { now, isBackground } = this.#environment;
    if (headers.isLoop) {
      throw new ServiceError('source_blocked', 'The source is an image of this service itself.');
    }
    const { address, asked } = await runStage(observed, 'parse', () => {
      const address = readAddress(path, query);
      return { address, asked: readOptions(address.parameters) };
    });
    const { source } = address;
    observed.addressed(address.projectId, source.hostname);
    const state = await this.#findProject(address.projectId, observed);
    const { project } = state;

    const token = headers.backgroundToken;
    const background = token !== '' && (await isBackground(`${path}?${query}`, token));
    checkSource(project, source);
    // Background requests need no signature; clients need one for the same images.
    const expires = background ? null : checkSignature(project, address, path, query, now());

    const options = withPreset(asked, project);
    const fallback = options.fallback === undefined ? null : new URL(options.fallback);
    if (fallback !== null) checkSource(project, fallback);
    const { hints, accepted } = headers.negotiated;
    const variant = resolveVariant(options, hints, accepted, project);
    const order = { project, source, variant, background, stages: observed, signal };
    const delivered = await this.#getOrFallback(order, fallback);
    observed.delivered(delivered.result.tier);

    this.#respond(request, headers.conditions, delivered, {
      cacheKey,
      state,
      expires,
      download: options.download ?? null,
    });
  }

  async #findProject(projectId: string, observed: ObservedRequest): Promise<ProjectState> {
    const { projects } = this.#environment;
    const state = await runStage(observed, 'project', () => projects.find(projectId));
    if (state === null) throw projectNotFound(projectId);
    observed.found();
    return state;
  }

  /** The source's image, or the fallback's when the source fails. */
  async #getOrFallback(order: ImageOrder, fallback: URL | null): Promise<Delivered> {
    try {
      return await this.#getOrUnmarked(order);
    } catch (error) {
      // Background work renders the source or fails.
      const mayReplace = fallback !== null && !order.background && !order.signal.aborted;
      if (!mayReplace || !isReplaceable(error)) throw error;
      const variant = withoutSourceArea(order.variant);
      try {
        const { result } = await this.#getOrUnmarked({ ...order, source: fallback, variant });
        order.stages.failed(error);
        return { result, complete: false, sourceError: error };
      } catch (second) {
        throw bothFailed(error, second);
      }
    }
  }

  /** The image, or the image without a watermark when the watermark fails. */
  async #getOrUnmarked(order: ImageOrder): Promise<Delivered> {
    try {
      return { result: await this.#get(order), complete: true, sourceError: null };
    } catch (error) {
      const isOfWatermark = error instanceof ServiceError && error.details.watermark === true;
      // Background work renders the watermark or fails.
      if (!isOfWatermark || order.background) throw error;
      this.#environment.onWatermarkFailure(order.project._id, error);
      const variant = { ...order.variant, watermark: null };
      return { result: await this.#get({ ...order, variant }), complete: false, sourceError: null };
    }
  }

  #get({ project, source, variant, background, stages, signal }: ImageOrder) {
    const key = variantKey(project._id, source, variant);
    const allowed = (host: string) => allows(project, host);
    const request = { project: project._id, source, variant, allowed, background, stages };
    return this.#environment.engine.get(key, request, signal);
  }

  /** Sends the image, and keeps the response for repeated requests if it may be stored. */
  #respond(
    request: HttpRequest,
    conditions: Conditions,
    { result, complete, sourceError }: Delivered,
    { cacheKey, state, expires, download }: ResponseFacts,
  ): void {
    const { image, entry } = result;
    const now = this.#environment.now();
    const control = complete ? cacheControl(expires, now) : 'no-store';
    const headers = imageHeaders(image, result, control, download);
    if (sourceError !== null) {
      const body = image.body;
      return request.respond({ status: 200, headers: fallbackHeaders(headers, sourceError), body });
    }
    if (expires === null) return request.respond(backgroundResponse(headers));
    request.respond(imageResponse(image, headers, conditions));
    if (entry === null || !complete) return;
    this.responses.set(cacheKey, {
      project: state,
      entry,
      headers: imageHeaders(image, fromMemory, cacheControl(expires, now), download),
      download,
      expires,
    });
  }
}

interface ResponseFacts {
  readonly cacheKey: string;
  readonly state: ProjectState;
  /** When the URL expires, Unix ms; infinite without a signature, null for background requests. */
  readonly expires: number | null;
  readonly download: string | null;
}

const fromMemory = { tier: 'memory', timings: {} } as const;

/** The headers of a cached response; those of a signed URL change every second. */
function cachedHeaders(
  { headers, download, expires }: CachedResponse,
  image: CacheResult['image'],
  now: number,
): CachedResponse['headers'] {
  return expires === Number.POSITIVE_INFINITY
    ? headers
    : imageHeaders(image, fromMemory, cacheControl(expires, now), download);
}
