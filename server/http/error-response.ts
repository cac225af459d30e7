import type { ServiceError } from '../../contract/errors.ts';
import { MethodNotAllowed } from './method-not-allowed.ts';
import type { Headers, HttpResponse } from './request.ts';

/**
 * Seconds. Overload usually passes quickly, and otherwise the client should slow down anyway; a full
 * queue takes longer.
 */
const retryAfter: Partial<Record<ServiceError['code'], number>> = {
  overloaded: 1,
  prewarm_queue_full: 60,
};

/** The response to a failure: an ApiError, which must not be cached. */
export function errorResponse(failure: ServiceError): HttpResponse {
  const wait = failure.details.retryAfter ?? retryAfter[failure.code];
  const headers: Headers = [
    ['content-type', 'application/json'],
    ['cache-control', 'no-store'],
    ['x-content-type-options', 'nosniff'],
    ['access-control-allow-origin', '*'],
    ...(wait === undefined ? [] : ([['retry-after', String(wait)]] as const)),
    ...(failure instanceof MethodNotAllowed
      ? ([['allow', failure.allowed.join(', ')]] as const)
      : []),
  ];
  return { status: failure.status, headers, body: JSON.stringify(failure.toBody()) };
}
