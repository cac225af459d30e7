import type { ServiceError } from '../../contract/errors.ts';
import { MethodNotAllowed } from './method-not-allowed.ts';
import { RangeNotSatisfiable } from './range-not-satisfiable.ts';
import type { Headers, HttpResponse } from './request.ts';

/**
 * Seconds. Overload usually passes quickly, and otherwise the client should slow down anyway; a full
 * queue takes longer. The end of an outage of the store is noticed within two.
 */
export const retryAfter: Partial<Record<ServiceError['code'], number>> = {
  overloaded: 1,
  prewarm_queue_full: 60,
  store_unavailable: 2,
};

/**
 * The challenges of a 401 (RFC 9110, 11.6.1; RFC 6750, 3). Only a request with a key is told that its
 * key is what is wrong.
 */
export const challenges: Partial<Record<ServiceError['code'], string>> = {
  api_key_missing: 'Bearer realm="image-delivery"',
  api_key_invalid: 'Bearer realm="image-delivery", error="invalid_token"',
};

/**
 * The response to a failure: an ApiError, which must not be cached. Without the headers that let
 * scripts of other origins read it, which a route has or has not for all its responses.
 */
export function errorResponse(failure: ServiceError): HttpResponse {
  const wait = failure.details.retryAfter ?? retryAfter[failure.code];
  const challenge = challenges[failure.code];
  const headers: Headers = [
    ['content-type', 'application/json'],
    ['cache-control', 'no-store'],
    ['x-content-type-options', 'nosniff'],
    ...(wait === undefined ? [] : ([['retry-after', String(wait)]] as const)),
    ...(challenge === undefined ? [] : ([['www-authenticate', challenge]] as const)),
    ...(failure instanceof MethodNotAllowed
      ? ([['allow', failure.allowed.join(', ')]] as const)
      : []),
    // RFC 9110, 15.5.17.
    ...(failure instanceof RangeNotSatisfiable
      ? ([['content-range', `bytes */${failure.length}`]] as const)
      : []),
  ];
  return { status: failure.status, headers, body: JSON.stringify(failure.toBody()) };
}
