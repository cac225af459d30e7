import type { WebConsole } from './console/console.ts';
import { consolePrefix } from './console/documents.ts';
import type { ControlPlane } from './control/api.ts';
import { methodsAt, prefix } from './control/endpoints.ts';
import { openApiDocument } from './control/openapi.ts';
import type { Health } from './health.ts';
import type { Route } from './http/app.ts';
import { embeddableAnywhere, readableAnywhere } from './http/cross-origin.ts';
import type { Handler, HttpRequest, HttpResponse } from './http/request.ts';
import type { Delivery } from './image/deliver.ts';

export interface Endpoints {
  readonly delivery: Delivery;
  readonly control: ControlPlane;
  readonly health: Health;
  readonly baseUrl: string;
  /** Null when it is off. */
  readonly webConsole: WebConsole | null;
}

/** All routes of the public listener, with their handlers. */
export function routes({ delivery, control, health, baseUrl, webConsole }: Endpoints): Route[] {
  const openApi = wellFormed(openApiHandler(baseUrl));
  const image: Handler = (request) => delivery.handle(request);
  return [
    // RFC 9110, 9.3.7: OPTIONS for the server as a whole.
    {
      path: '*',
      name: 'other',
      methods: () => ['OPTIONS'],
      handler: (request) => request.respond(noContent),
    },
    readable('/img/*', 'image', image, embeddableAnywhere),
    readable('/img', 'image', image, embeddableAnywhere),
    readable(
      '/api/health',
      'health',
      wellFormed((request) => health.handle(request)),
    ),
    readable(
      '/api/health/live',
      'health',
      wellFormed((request) => request.respond(alive)),
    ),
    readable('/openapi.json', 'openapi', openApi),
    readable(`${prefix}/openapi.json`, 'openapi', openApi),
    // Without OPTIONS, so that no CORS preflight succeeds, and without headers by which pages could read a
    // response: API keys are for backends.
    {
      path: `${prefix}/*`,
      name: 'control',
      methods: methodsAt,
      handler: wellFormed((request) => control.handle(request)),
    },
    ...(webConsole === null
      ? []
      : ['/', '/docs', `${consolePrefix}*`].map((path) => ({
          path,
          name: 'console' as const,
          methods: (asked: string) => webConsole.methodsAt(asked),
          handler: wellFormed((request) => webConsole.handle(request)),
        }))),
  ];
}

/** A handler that is not called for a malformed request. */
const wellFormed =
  (handler: Handler): Handler =>
  (request) =>
    request.isWellFormed() ? handler(request) : undefined;

const noContent: HttpResponse = { status: 204, headers: [], body: null };

/**
 * For proxies and container platforms: this process answers, whatever it depends on. One that takes out
 * every machine whose store is away takes out all of them.
 */
const alive: HttpResponse = {
  status: 200,
  headers: [
    ['content-type', 'application/json'],
    ['cache-control', 'no-store'],
    ['x-content-type-options', 'nosniff'],
    ...readableAnywhere,
  ],
  body: JSON.stringify({ ok: true, status: 'ok' }),
};

const readMethods = ['GET', 'HEAD', 'OPTIONS'];

/**
 * A route that anyone may read, including scripts of other origins; its handler adds the same headers
 * to what succeeds.
 */
function readable(
  path: string,
  name: HttpRequest['route'],
  handler: Handler,
  errorHeaders = readableAnywhere,
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

/** A browser sends a preflight before a request whose headers are not CORS-safelisted. */
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
  let body: string | null = null;
  return (request) => {
    body ??= JSON.stringify(openApiDocument(baseUrl), null, 2);
    request.respond({
      status: 200,
      headers: [
        ['content-type', 'application/json'],
        ['cache-control', 'no-cache'],
        ['x-content-type-options', 'nosniff'],
        ...readableAnywhere,
      ],
      body,
    });
  };
}
