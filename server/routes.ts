import { type ControlPlane, noEndpoint } from './control/api.ts';
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

/** Everything that can be asked for, and who answers. */
export function routes({ delivery, control, health, baseUrl }: Endpoints): Route[] {
  const openApi = openApiHandler(baseUrl);
  return [
    ...readable('/img/*', (exchange) => delivery.handle(exchange)),
    ...readable('/api/health', (exchange) => health.handle(exchange)),
    ...readable('/openapi.json', openApi),
    ...readable(`${prefix}/openapi.json`, openApi),
    { method: 'any', path: `${prefix}/*`, handler: (exchange) => control.handle(exchange) },
    {
      method: 'any',
      path: '/*',
      handler: (exchange) => {
        throw noEndpoint(exchange);
      },
    },
  ];
}

const readable = (path: string, handler: Handler): Route[] => [
  { method: 'get', path, handler },
  { method: 'head', path, handler },
];

function openApiHandler(baseUrl: string): Handler {
  const body = JSON.stringify(openApiDocument(baseUrl), null, 2);
  return (exchange) =>
    exchange.respond({
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
