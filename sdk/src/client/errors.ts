import type { ErrorCode as ServiceErrorCode } from '../generated/errors.ts';

/**
 * `code` of an `ApiError`: a code from the service, including later versions, or
 * `unexpected_response` for a response that another program wrote, such as a proxy's page.
 */
export type ErrorCode = ServiceErrorCode | 'unexpected_response' | (string & {});

/** The service, or a proxy in front of it, has refused a call. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** The called method's name. */
  readonly operation: string;
  /** The HTTP status. */
  readonly status: number;
  /** Stable; the message is not. */
  readonly code: ErrorCode;
  /** A next step, in words; null when the response is not the service's. */
  readonly hint: string | null;
  /** Identifies the request in the log of the service. */
  readonly requestId: string | null;
  /** Seconds to wait before the next call; null when the response does not say. */
  readonly retryAfter: number | null;

  constructor(message: string, fields: Omit<ApiError, keyof Error>) {
    super(message);
    this.operation = fields.operation;
    this.status = fields.status;
    this.code = fields.code;
    this.hint = fields.hint;
    this.requestId = fields.requestId;
    this.retryAfter = fields.retryAfter;
  }
}

/**
 * The response is missing or incomplete. A call that changes data might have taken effect.
 *
 * Omits `cause`, because errors from a custom `fetch` can contain the request with its key.
 */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly code = 'connection_lost';
  /** The called method's name. */
  readonly operation: string;

  /** @param reason without the key */
  constructor(operation: string, reason: string) {
    super(`The connection to the service failed: ${reason}`);
    this.operation = operation;
  }
}

/** No complete response within `timeoutMs`. A call that changes data might have taken effect. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
  readonly code = 'timeout';
  /** The called method's name. */
  readonly operation: string;
  readonly timeoutMs: number;

  constructor(operation: string, timeoutMs: number) {
    super(`The service did not respond within ${timeoutMs} ms.`);
    this.operation = operation;
    this.timeoutMs = timeoutMs;
  }
}
