import { backgroundHeader, consoleMark } from '../../contract/background-token.ts';
import { ServiceError } from '../../contract/errors.ts';
import { shownSource } from '../../contract/shown-source.ts';
import type { CacheResult, ImageRequest } from '../../pool/engine.ts';
import { type Inputs, imageInputs } from '../../pool/inputs.ts';
import { runStage } from '../../pool/stages.ts';
import type { Variant } from '../../pool/variant.ts';
import type { Project } from '../../store/projects.ts';
import type { HttpRequest } from '../http/request.ts';
import type { ProjectState } from '../project-cache.ts';
import { requireProject } from '../require-project.ts';
import { storeUnavailable } from '../store-failure.ts';
import type { ObservedRequest } from '../telemetry/image-telemetry.ts';
import { Subject } from '../usage/activity/subject.ts';
import { checkSignature, checkSource, isAllowedHost } from './access.ts';
import {
  projectInQuery,
  readAddress,
  readLayerTexts,
  readOptions,
  requireKnown,
  unknownWarnings,
} from './address.ts';
import { cacheTagHeaders } from './caching.ts';
import type { DeliveryEnvironment } from './delivery-environment.ts';
import { readHostAddress } from './host-address.ts';
import { imageFreshness, imageGeneration, variantKey } from './key.ts';
import { resolveLayers, withoutFailed } from './layers.ts';
import { type Negotiate, type Negotiated, negotiation, noHints } from './negotiate.ts';
import { findSite, knownSite, type RequestedSite } from './requested-site.ts';
import {
  factsVariant,
  provisionalVariant,
  resolveVariant,
  sourceSize,
  withPreset,
} from './resolve-variant.ts';
import {
  type Conditions,
  currentHeaders,
  type Delivered,
  imageBytes,
  imageResponse,
  readConditions,
  redirectTo,
  respond,
  send,
} from './response.ts';
import { ResponseCache } from './response-cache.ts';
import { shownParameters } from './shown-url.ts';
import { keyAt, type Site, siteAtHost } from './site.ts';
import { combinedError, isReplaceable, withLostQuery, withoutSourceArea } from './source-errors.ts';
import { resolveSource } from './source-url.ts';
import type { UrlClient } from './urls/grammar.ts';

/** Request headers, copied because they cannot be read after an await. */
interface RequestHeaders {
  readonly negotiated: Negotiated;
  readonly conditions: Conditions;
  readonly backgroundToken: string;
  readonly isLoop: boolean;
  readonly client: UrlClient;
}

/** A request with a valid project, source and signature. */
interface CheckedRequest
  extends Omit<ImageRequest, 'key' | 'inputs' | 'generation' | 'freshness' | 'provisional'> {
  readonly source: URL;
  /** The source's version, or null. */
  readonly version: string | null;
  /** Returns whether a canonical host is on the project's allowlist. */
  readonly isAllowedHost: (host: string) => boolean;
  /** Returns the project's latest known state. */
  readonly latest: () => Project;
  readonly stages: ObservedRequest;
  readonly signal: AbortSignal;
}

/** Returns the error for a request to a host that belongs to no project. */
type Missing = (request: HttpRequest, host: string) => ServiceError;

/** Maximum attempts to render an image that purges keep invalidating. */
const maxPurgedRenders = 3;

/** The operations `getImage` and `getImageByQuery` of the OpenAPI document. */
export class Delivery {
  readonly #environment: DeliveryEnvironment;
  readonly #negotiate: Negotiate;
  readonly responses = new ResponseCache();

  constructor(environment: DeliveryEnvironment) {
    this.#environment = environment;
    this.#negotiate = negotiation(environment.autoFormats);
  }

  /**
   * Serves a repeated request synchronously from the response cache, and other requests through
   * the engine.
   * @param missing the error for a path that exists only on delivery hosts
   */
  handle(request: HttpRequest, missing: Missing | null = null): void | Promise<void> {
    const { engine, projects, telemetry, hosts, now } = this.#environment;
    const names = hosts.candidates(request);
    const known = knownSite(projects, names);
    // A malformed head can name two hosts, and another server might use the other host;
    // `isWellFormed` responds to it with 400.
    if (known !== undefined && known.found !== null && !request.isWellFormed()) return;
    const negotiated = this.#negotiate((name) => request.header(name));
    const conditions = readConditions(request);
    const backgroundToken = request.header(backgroundHeader);
    const target = `${request.path}?${request.query}\n${negotiated.normalized}`;
    const at = now();
    // Cached responses do not carry the headers of a background request.
    const mayBeCached = backgroundToken === '' && known !== undefined;
    const repeated = mayBeCached ? this.responses.get(keyAt(known, target), at) : undefined;
    // `knownSite` has confirmed the host's project, but the cached response might belong to the host's
    // previous project.
    const owner = known?.found ?? null;
    const isConfirmed =
      repeated !== undefined &&
      (owner === null ? projects.isConfirmed(repeated.project) : repeated.project === owner);
    const cached = isConfirmed ? repeated : undefined;
    const image = cached?.entry.image ?? null;
    if (cached !== undefined && image !== null) {
      engine.caches.memory.touch(cached.entry, at);
      const { headers, lifetime, urlHeaders } = cached;
      const whole = headers?.whole ?? currentHeaders(image, lifetime, urlHeaders, at);
      const response = imageResponse(image, whole, conditions, headers?.notModified);
      const bytes = imageBytes(request.method, response);
      telemetry.hit(request, cached.project.counts, cached.subject, bytes);
      return request.respond(response);
    }
    if (!request.isWellFormed()) return;
    const isLoop = engine.sources.isOwnFetch(request.headerList('cdn-loop'));
    const { accept } = request;
    const originAt = hosts.createOriginFinder(request);
    const deliver = (requested: RequestedSite): Promise<void> => {
      const { host, found } = requested;
      if (found === null) {
        const needsSite = missing !== null || projectInQuery(request.query) === '';
        const isUnowned = (name: string) => name === '' || projects.isUnowned(name);
        if (needsSite && !names.every(isUnowned)) throw storeUnavailable();
        if (missing !== null) throw missing(request, host);
      }
      const client = { origin: originAt(host), accept };
      const headers = { negotiated, conditions, backgroundToken, isLoop, client };
      const site = found && siteAtHost(found.project, host);
      const observed = telemetry.observe(request);
      if (backgroundToken === consoleMark) observed.kind = 'console';
      observed.named(found ?? projects.peek(projectInQuery(request.query)));
      const cacheKey = keyAt(requested, target);
      return observed.untilDone(this.#deliver(request, headers, site, cacheKey, observed));
    };
    return known === undefined ? findSite(projects, names).then(deliver) : deliver(known);
  }

  /** Serves a request that missed the response cache. */
  async #deliver(
    request: HttpRequest,
    headers: RequestHeaders,
    site: Site | null,
    cacheKey: string,
    observed: ObservedRequest,
  ): Promise<void> {
    const { path, query, signal } = request;
    const { now, isBackground, admitRender, refusesUnknown } = this.#environment;
    if (headers.isLoop) {
      throw new ServiceError('source_blocked', 'The source URL points back to this service.');
    }
    const { address, read, texts } = await runStage(observed, 'parse', () => {
      const address = site === null ? readAddress(path, query) : readHostAddress(path, query, site);
      observed.addressed(address.projectId, address.source);
      if (refusesUnknown) requireKnown(address);
      const { parameters } = address;
      return { address, read: readOptions(parameters), texts: readLayerTexts(parameters) };
    });
    const { projectId } = address;
    const state = await runStage(observed, 'project', () => this.#confirmed(projectId));
    observed.found(state.counts);
    const { project } = state;
    const source = resolveSource(address.source, project.origin);
    observed.addressed(project._id, source);

    const token = headers.backgroundToken;
    const background = token !== '' && (await isBackground(`${path}?${query}`, token));
    if (background) observed.kind = 'background';
    checkSource(project, source);
    // The token replaces the signature; clients still need a signature for the same images.
    const { isSigned, expires } = background
      ? { isSigned: true, expires: null }
      : checkSignature(project, address, path, query, now());
    observed.isUnsigned = !isSigned;

    const { bySize, location } = address;
    if (location !== undefined) {
      observed.delivered('none');
      return void send(request, redirectTo(location));
    }

    const latest = () => this.#environment.projects.latest(project);
    const base = {
      project: project._id,
      latest,
      findLoader: this.#environment.createLoaderFinder(latest),
      source,
      isAllowedHost: (host: string) => isAllowedHost(project, host),
      background,
      stages: observed,
      admitRender: () => admitRender(latest()),
      signal,
    };
    const version = read.v ?? null;
    // The meaning of some URLs, such as the IIIF Image API's, depends on the source's size.
    const facts = bySize && (await this.#get({ ...base, version, variant: factsVariant }));
    const meaning = facts && bySize?.(sourceSize(facts.image), headers.client);
    const requested = meaning?.parameters === undefined ? read : readOptions(meaning.parameters);

    const options = withPreset(requested, project);
    const fallback = options.fallback === undefined ? null : new URL(options.fallback);
    if (fallback !== null) checkSource(project, fallback);
    const { accepted } = headers.negotiated;
    const isHinted = address.grammar === null || address.usesHints === true;
    const hints = isHinted ? headers.negotiated.hints : noHints;
    // `checkSignature` has checked the required signature, which covers the text.
    const isTrusted = background || project.requireSignedUrls;
    const layers = resolveLayers(options.layer, texts, project, isTrusted);
    const checked = {
      ...base,
      version: options.v ?? null,
      variant: resolveVariant(options, hints, accepted, project, layers),
    };
    const document = meaning?.document;
    const delivered =
      facts && document
        ? { result: { ...facts, entry: null }, complete: true, sourceError: null, document }
        : await this.#getOrFallback(checked, fallback).catch((error: unknown) => {
            throw withLostQuery(error, address);
          });
    observed.delivered(delivered.result.tier);
    const subject = new Subject(
      {
        project: project._id,
        source: shownSource(source),
        variant: shownParameters(meaning?.parameters ?? address.parameters),
        isSigned,
      },
      delivered.result.image,
    );

    const bytes = respond(request, headers.conditions, delivered, {
      responses: this.responses,
      now: now(),
      cacheKey,
      state,
      subject,
      expires,
      urlHeaders: {
        download: options.download ?? null,
        tags: cacheTagHeaders(this.#environment.cacheTagHeaders, project._id, toInputs(checked)),
        warnings: unknownWarnings(address.unknown),
        others: meaning?.headers ?? [],
      },
    });
    observed.sent(subject, bytes);
  }

  /** Returns the source's image, or the fallback's if the source fails. */
  async #getOrFallback(request: CheckedRequest, fallback: URL | null): Promise<Delivered> {
    try {
      return await this.#getOrWithoutLayers(request);
    } catch (error) {
      // Background work renders the source or fails.
      const mayReplace = fallback !== null && !request.background && !request.signal.aborted;
      if (!mayReplace || !isReplaceable(error)) throw error;
      const replacement = {
        ...request,
        source: fallback,
        variant: withoutSourceArea(request.variant),
      };
      try {
        const { result } = await this.#getOrWithoutLayers(replacement);
        request.stages.failed(error);
        return { result, complete: false, sourceError: error };
      } catch (fallbackError) {
        throw combinedError(error, fallbackError);
      }
    }
  }

  /** Returns the image, leaving out layers that fail. */
  async #getOrWithoutLayers(request: CheckedRequest): Promise<Delivered> {
    try {
      return { result: await this.#get(request), complete: true, sourceError: null };
    } catch (error) {
      // Background work renders all layers or fails.
      if (!(error instanceof ServiceError) || request.background) throw error;
      const failed = withoutFailed(request.variant, error);
      if (failed === null) throw error;
      this.#environment.onLayerFailure(request.project, failed.layer, error);
      const delivered = await this.#getOrWithoutLayers({ ...request, variant: failed.rest });
      return { ...delivered, complete: false };
    }
  }

  /**
   * Returns an image from the caches or a render. Its source bytes are newer than every purge known
   * at the end. If purges keep arriving, the image of the last attempt can be older than the last
   * purge, which takes effect within two seconds; that image is not stored.
   */
  async #get({ signal, latest, ...request }: CheckedRequest): Promise<CacheResult> {
    const { engine, projects, autoFirst } = this.#environment;
    const { project, variant, background } = request;
    const inputs = toInputs(request);
    const first = background ? null : provisionalVariant(variant, autoFirst);
    for (let attempt = 1; attempt <= maxPurgedRenders; attempt += 1) {
      const known = await this.#confirmed(project);
      const number = imageGeneration(known.project, inputs);
      const isCurrent = () => imageGeneration(latest(), inputs) === number;
      const toKey = (variant: Variant) =>
        variantKey({ project, inputs, generation: number }, variant);
      const wanted = {
        ...request,
        key: toKey(variant),
        inputs,
        generation: { number, isCurrent },
        freshness: imageFreshness(known.project, inputs),
        provisional: first && { key: toKey(first), variant: first },
      };
      const result = await engine.get(wanted, signal);
      // Confirming the project reveals purges and deletions that happened during the render.
      await this.#confirmed(project);
      if (isCurrent()) {
        if (result.isProvisional) this.#renderInBackground(wanted);
        return result;
      }
      if (attempt === maxPurgedRenders && projects.wasCurrent(known)) return result;
    }
    throw new ServiceError(
      'overloaded',
      'The image was purged several times while it was rendered.',
    );
  }

  /** @throws ServiceError project_not_found */
  async #confirmed(project: string): Promise<ProjectState> {
    return requireProject(project, await this.#environment.projects.find(project));
  }

  /** Renders the final image while the client gets a provisional one. */
  #renderInBackground(request: ImageRequest & Pick<CheckedRequest, 'stages'>): void {
    const stages = request.stages.later();
    const rendered = this.#environment.engine.renderInBackground({ ...request, stages });
    // A later request retries it.
    rendered.catch((error) => stages.failed(error));
  }
}

type InputsRequest = Pick<CheckedRequest, 'source' | 'version' | 'variant' | 'isAllowedHost'>;

const toInputs = ({ source, version, variant, isAllowedHost }: InputsRequest): Inputs =>
  imageInputs(source, version, variant, isAllowedHost);
