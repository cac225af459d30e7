import type { ServiceError } from '../../contract/errors.ts';
import { backgroundHeader, consoleMark } from '../../contract/secrets.ts';
import type { HttpRequest } from '../http/request.ts';
import { storeUnavailable } from '../request-errors.ts';
import { projectInQuery } from './address.ts';
import { deliver } from './deliver.ts';
import type { DeliveryEnvironment } from './delivery-environment.ts';
import { type Negotiate, negotiation } from './negotiate.ts';
import { imageBytes, imageResponse, repeatedHeaders } from './response.ts';
import { ResponseCache } from './response-cache.ts';
import { findSite, knownSite, type RequestedSite, responseCacheKey, siteAtHost } from './site.ts';

/** Returns the error for a request to a host that belongs to no project. */
type Missing = (request: HttpRequest, host: string) => ServiceError;

/** The operations `getImage` and `getImageByQuery` of the OpenAPI document. */
export class ImageEndpoint {
  readonly #environment: DeliveryEnvironment;
  readonly #negotiate: Negotiate;
  readonly responses = new ResponseCache();

  constructor(environment: DeliveryEnvironment) {
    this.#environment = environment;
    this.#negotiate = negotiation(environment.autoFormats);
  }

  /**
   * Serves a repeated request synchronously from the response cache, and delivers other requests.
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
    const ifNoneMatch = request.header('if-none-match');
    const backgroundToken = request.header(backgroundHeader);
    const target = `${request.path}?${request.query}\n${negotiated.normalized}`;
    const at = now();
    // Cached responses do not carry the headers of a background request.
    const mayBeCached = backgroundToken === '' && known !== undefined;
    const repeated = mayBeCached
      ? this.responses.get(responseCacheKey(known, target), at)
      : undefined;
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
      const { whole, notModified } = repeatedHeaders(cached, image, at);
      const response = imageResponse(image, whole, ifNoneMatch, notModified);
      const bytes = imageBytes(request.method, response);
      telemetry.hit(request, cached.project.counts, cached.subject, bytes);
      return request.respond(response);
    }
    if (!request.isWellFormed()) return;
    // Headers cannot be read after an await.
    const isLoop = engine.sources.isOwnFetch(request.headerList('cdn-loop'));
    const { accept } = request;
    const originAt = hosts.createOriginFinder(request);
    const start = (requested: RequestedSite): Promise<void> => {
      const { host, found } = requested;
      if (found === null) {
        const needsSite = missing !== null || projectInQuery(request.query) === '';
        const isUnowned = (name: string) => name === '' || projects.isUnowned(name);
        if (needsSite && !names.every(isUnowned)) throw storeUnavailable();
        if (missing !== null) throw missing(request, host);
      }
      const observed = telemetry.observe(request);
      if (backgroundToken === consoleMark) observed.kind = 'console';
      observed.named = (found ?? projects.peek(projectInQuery(request.query)))?.project ?? null;
      const site = found && siteAtHost(found.project, host);
      observed.host = site?.host ?? null;
      const call = {
        request,
        negotiated,
        ifNoneMatch,
        backgroundToken,
        isLoop,
        client: { origin: originAt(host), accept },
        site,
        cacheKey: responseCacheKey(requested, target),
        observed,
        responses: this.responses,
      };
      return observed.untilDone(deliver(call, this.#environment));
    };
    return known === undefined ? findSite(projects, names).then(start) : start(known);
  }
}
