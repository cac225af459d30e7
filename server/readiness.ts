import { jsonHeaders, readableAnywhere } from './http/headers.ts';
import type { Handler } from './http/request.ts';

/**
 * `starting`: the store has not responded yet, and an earlier run left no known projects.
 * `draining`: the whole service is stopping. A front end being replaced stays `ready`, because the
 * other front ends serve requests.
 */
export type Readiness = 'starting' | 'ready' | 'draining';

/**
 * `GET /api/ready`, for load balancers. Returns 200 while the store is unavailable: otherwise an
 * outage would remove all machines at once, although each can serve the images of known projects.
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
