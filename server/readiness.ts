import { jsonHeaders, readableAnywhere } from './http/headers.ts';
import type { Handler } from './http/request.ts';

/**
 * `starting`: the store has not answered yet, and no project is known from before.
 * `draining`: the whole service is stopping. A front end that is only replaced stays `ready`, because the
 * others serve.
 */
export type Readiness = 'starting' | 'ready' | 'draining';

/**
 * `GET /api/ready`, for what chooses a machine for a request. It is 200 while the store is away: otherwise the
 * outage would take every machine out at once, although each serves the images of known projects.
 */
export const readinessHandler =
  (current: () => Readiness): Handler =>
  (request) => {
    const status = current();
    const ready = status === 'ready';
    request.respond({
      status: ready ? 200 : 503,
      headers: [...jsonHeaders, ...readableAnywhere],
      body: JSON.stringify({ ready, status }),
    });
  };
