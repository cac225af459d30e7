import { type ControlPlane, endpointNotFound } from './control/api.ts';
import { openApiDocument } from './control/openapi.ts';
import { prefix } from './control/operations.ts';
import type { Health } from './health.ts';
import type { Route } from './http/app.ts';
import type { Handler } from './http/request.ts';
import type { Delivery } from './image/deliver.ts';

export interface Endpoints {
  readonly delivery: Delivery;
  readonly control: ControlPlane;
  readonly health: Health;
  readonly baseUrl: string;
}

/** All routes of the public listener, with their handlers. */
export function routes({ delivery, control, health, baseUrl }: Endpoints): Route[] {
  const openApi = openApiHandler(baseUrl);
  return [
    ...getAndHead('/img/*', (request) => delivery.handle(request)),
    ...getAndHead('/api/health', (request) => health.handle(request)),
    ...getAndHead('/openapi.json', openApi),
    ...getAndHead(`${prefix}/openapi.json`, openApi),
    { method: 'any', path: `${prefix}/*`, handler: (request) => control.handle(request) },
    {
      method: 'any',
      path: '/*',
      handler: (request) => {
        throw endpointNotFound(request);
      },
    },
  ];
}

const getAndHead = (path: string, handler: Handler): Route[] => [
  { method: 'get', path, handler },
  { method: 'head', path, handler },
];

function openApiHandler(baseUrl: string): Handler {
  const body = JSON.stringify(openApiDocument(baseUrl), null, 2);
  return (request) =>
    request.respond({
      status: 200,
      headers: [
        ['content-type', 'application/json'],
        ['cache-control', 'no-cache'],
        ['x-content-type-options', 'nosniff'],
        ['access-control-allow-origin', '*'],
      ],
      body,
    });
}
