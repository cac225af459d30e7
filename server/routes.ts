import type { ServiceError } from '../contract/errors.ts';
import { hostNotAllowed } from '../contract/request-host.ts';
import type { WebConsole } from './console/console.ts';
import { consolePrefix } from './console/documents.ts';
import type { ControlPlane } from './control/control-plane.ts';
import { openApiDocument } from './control/openapi.ts';
import { controlPrefix, likelyProjectPaths, methodsAt } from './control/operations.ts';
import type { Health } from './health.ts';
import type { Route } from './http/app.ts';
import type { RequestHosts } from './http/forwarded.ts';
import type { Handler, HttpRequest } from './http/request.ts';
import {
  type HttpResponse,
  ifModified,
  readableAnywhere,
  type TaggedResponse,
  tagged,
} from './http/responses.ts';
import { imagePrefix } from './image/address.ts';
import type { ImageEndpoint } from './image/image-endpoint.ts';
import { imageErrorHeaders } from './image/image-errors.ts';

interface Endpoints {
  readonly delivery: ImageEndpoint;
  readonly control: ControlPlane;
  readonly health: Health;
  readonly baseUrl: string;
  /** Null if disabled. */
  readonly webConsole: WebConsole | null;
}

/** All routes of the public listener. */
export function routes({ delivery, control, health, baseUrl, webConsole }: Endpoints): Route[] {
  const openApi = openApiHandler(baseUrl);
  const image: Handler = (request) => delivery.handle(request);
  return [
    // RFC 9110, 9.3.7: OPTIONS for the server as a whole.
    {
      path: '*',
      name: 'other',
      methods: () => ['OPTIONS'],
      handler: (request) => request.respond(noContent),
    },
    readable('/img/*', 'image', image, imageErrorHeaders),
    readable('/img', 'image', image, imageErrorHeaders),
    readableJson('/api/health', 'health', (request) => health.sendHealth(request)),
    readableJson('/api/health/live', 'health', (request) => request.respond(alive)),
    readableJson('/api/ready', 'health', (request) => health.sendReadiness(request)),
    readableJson('/openapi.json', 'openapi', openApi),
    readableJson(`${controlPrefix}/openapi.json`, 'openapi', openApi),
    // API keys are for backends: CORS preflights fail because OPTIONS is missing, and pages cannot
    // read responses because CORS headers are missing.
    {
      path: `${controlPrefix}/*`,
      name: 'control',
      methods: methodsAt,
      handler: wellFormed((request) => control.handle(request)),
    },
    ...(webConsole === null
      ? []
      : ['/', '/docs', `${consolePrefix}*`].map((path) => ({
          path,
          name: 'console' as const,
          methods: (requested: string) => webConsole.methodsAt(requested),
          handler: wellFormed((request) => webConsole.handle(request)),
        }))),
  ];
}

interface HostRouting {
  readonly delivery: ImageEndpoint;
  readonly hosts: RequestHosts;
  /** Whether hosts other than the service's own serve only images. */
  readonly ownHostOnly: boolean;
  /** The error for a path that does not exist on a host. */
  readonly refusal: (method: string, path: string, host: string) => ServiceError;
}

/**
 * Routes all paths of delivery hosts to images, except the service's own paths if every host serves
 * them.
 */
export function routingByHost({ delivery, hosts, ownHostOnly, refusal }: HostRouting) {
  const imagesOr = (refuse: (request: HttpRequest, host: string) => ServiceError): Route => {
    const missing = (request: HttpRequest, host: string) => {
      [request.route, request.errorHeaders] = ['other', null];
      return refuse(request, host);
    };
    const image: Handler = (request) => delivery.handle(request, missing);
    return readable('/*', 'image', image, imageErrorHeaders);
  };
  const unknownPath = imagesOr(({ method, path }, host) => refusal(method, path, host));
  const ownPath = imagesOr((_, host) => hostNotAllowed(host));
  return (request: HttpRequest, ofPath: Route | undefined): Route | undefined => {
    if (ofPath?.name === 'image' || (ofPath !== undefined && !ownHostOnly)) return ofPath;
    const [host = ''] = hosts.candidates(request);
    if (host === '') return ofPath;
    if (readMethods.includes(request.method)) return ofPath === undefined ? unknownPath : ownPath;
    if (ofPath !== undefined) throw hostNotAllowed(host);
    return undefined;
  };
}

/** Health endpoints by their names in other services. */
const healthPaths: ReadonlyArray<readonly [pattern: RegExp, path: string]> = [
  [/^\/(?:live(?:z|ness)?|health(?:z|check)?\/live|ping)$/, '/api/health/live'],
  [/^\/(?:ready|readyz|readiness|health(?:z|check)?\/ready)$/, '/api/ready'],
  [/^\/(?:api\/|)(?:health|healthz|healthcheck|status|up)$/, '/api/health'],
];

/**
 * Returns paths that a missing path might mean: with another prefix, or by another service's
 * conventions.
 */
export function likelyPaths(missing: string): readonly string[] {
  const image = missing.replace(/^\/(?:images?|imgs?)\//i, imagePrefix);
  const path = missing.replace(/\/+$/, '').toLowerCase();
  const health = healthPaths.filter(([pattern]) => pattern.test(path)).map(([, known]) => known);
  if (!/^\/(?:api|sdk|v\d)(?:\/|$)/.test(path)) return [image, path, ...health];
  const rest = path.replace(/^\/(?:api\/?)?(?:sdk\/?)?(?:v\d+)?(?=\/|$)/, '');
  const ofControl = [rest, ...likelyProjectPaths(rest), '/projects'];
  return [path, ...health, ...ofControl.map((likely) => controlPrefix + likely)];
}

/** Refuses malformed requests before they reach the handler. */
const wellFormed =
  (handler: Handler): Handler =>
  (request) =>
    request.isWellFormed() ? handler(request) : undefined;

const noContent: HttpResponse = { status: 204, headers: [], body: null };

const jsonResponse = (cacheControl: string, body: string): HttpResponse => ({
  status: 200,
  headers: [
    ['content-type', 'application/json'],
    ['cache-control', cacheControl],
    ['x-content-type-options', 'nosniff'],
    ...readableAnywhere,
  ],
  body,
});

/**
 * Liveness, for tools that restart processes. It ignores the store and drains, which a restart
 * cannot repair.
 */
const alive = jsonResponse('no-store', JSON.stringify({ ok: true, status: 'ok' }));

const readMethods = ['GET', 'HEAD', 'OPTIONS'];

/**
 * Returns a route that scripts of any origin can read. Its handler adds the headers for success.
 */
function readable(
  path: string,
  name: HttpRequest['route'],
  handler: Handler,
  errorHeaders: NonNullable<Route['errorHeaders']> = () => readableAnywhere,
): Route {
  return {
    path,
    name,
    errorHeaders,
    methods: () => readMethods,
    handler: (request) =>
      request.method === 'OPTIONS' ? request.respond(preflightResponse) : handler(request),
  };
}

/** Like `readable`, for a route that needs a well-formed request. */
const readableJson = (path: string, name: HttpRequest['route'], handler: Handler): Route =>
  readable(path, name, wellFormed(handler));

/** The response to the preflight of a request that sends headers outside the CORS safelist. */
const preflightResponse: HttpResponse = {
  status: 204,
  headers: [
    ['allow', readMethods.join(', ')],
    ...readableAnywhere,
    ['access-control-allow-methods', 'GET, HEAD'],
    ['access-control-allow-headers', '*'],
    ['access-control-max-age', '86400'],
  ],
  body: null,
};

function openApiHandler(baseUrl: string): Handler {
  let response: TaggedResponse | null = null;
  return (request) => {
    const toJson = () => JSON.stringify(openApiDocument(baseUrl), null, 2);
    response ??= tagged(jsonResponse('no-cache', toJson()));
    request.respond(ifModified(response, request.header('if-none-match')));
  };
}
