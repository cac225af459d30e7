import { ServiceError } from '../../contract/errors.ts';
import { jsonHeaders } from './headers.ts';
import type { HttpResponse } from './request.ts';

/** The path exists, but does not support the method. */
export class MethodNotAllowed extends ServiceError {
  readonly path: string;
  readonly allowed: readonly string[];

  constructor(method: string, path: string, allowed: readonly string[]) {
    super(
      'method_not_allowed',
      `${method.slice(0, 40)} is not allowed at ${path.slice(0, 200)}, only ${allowed.join(', ')}.`,
    );
    this.path = path;
    this.allowed = allowed;
  }
}

/** The requested range starts after the end of the body. */
export class RangeNotSatisfiable extends ServiceError {
  /** Body size, in bytes. */
  readonly length: number;

  constructor(length: number) {
    super(
      'range_not_satisfiable',
      `The range starts after the end of the body, at ${length} bytes.`,
    );
    this.length = length;
  }
}

/**
 * Retry-After in seconds. Overload usually ends quickly; a full queue takes longer. The service
 * notices the end of a store outage within two seconds.
 */
export const retryAfterSeconds: Partial<Record<ServiceError['code'], number>> = {
  overloaded: 1,
  prewarm_queue_full: 60,
  store_unavailable: 2,
};

/**
 * WWW-Authenticate for 401 (RFC 9110, 11.6.1; RFC 6750, 3), which includes an error only if the
 * request sent a key.
 */
const challenges: Partial<Record<ServiceError['code'], string>> = {
  api_key_missing: 'Bearer realm="image-delivery"',
  api_key_invalid: 'Bearer realm="image-delivery", error="invalid_token"',
};

/** Returns the response to an error, without CORS headers, which depend on the route. */
export function errorResponse(error: ServiceError): HttpResponse {
  const headers = [...jsonHeaders];
  const wait = error.details.retryAfter ?? retryAfterSeconds[error.code];
  if (wait !== undefined) headers.push(['retry-after', String(wait)]);
  const challenge = challenges[error.code];
  if (challenge !== undefined) headers.push(['www-authenticate', challenge]);
  if (error instanceof MethodNotAllowed) headers.push(['allow', error.allowed.join(', ')]);
  // RFC 9110, 15.5.17.
  if (error instanceof RangeNotSatisfiable)
    headers.push(['content-range', `bytes */${error.length}`]);
  return { status: error.status, headers, body: JSON.stringify(error.toBody()) };
}
