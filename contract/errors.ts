import { STATUS_CODES } from 'node:http';

interface CatalogueEntry {
  readonly status: number;
  /** A next step for the reader of the error; safe to show to any client. */
  readonly hint: string;
}

/**
 * Every `code` of an error body, of the service and of its worker, with its HTTP status and a hint.
 * Codes are stable because clients distinguish errors by them.
 */
export const errorCatalogue = {
  invalid_request: {
    status: 400,
    hint: 'Correct the fields that the message names and send the request again.',
  },
  api_key_missing: {
    status: 401,
    hint: 'Send an API key as "Authorization: Bearer <API_KEY>" or in X-Service-Api-Key.',
  },
  api_key_invalid: {
    status: 401,
    hint: 'Check that the API key was copied whole and has not been revoked.',
  },
  product_access_required: {
    status: 402,
    hint: "Restore the organisation's product access, then try again.",
  },
  project_forbidden: {
    status: 403,
    hint: 'Use a key of this project, or one for all projects.',
  },
  write_access_required: {
    status: 403,
    hint: 'Use a key with write access to what this operation changes.',
  },
  project_not_found: {
    status: 404,
    hint: 'Check the project id; listing the projects shows those that exist.',
  },
  preset_not_found: {
    status: 404,
    hint: "Check the preset's name; listing the project's presets shows those that exist.",
  },
  endpoint_not_found: {
    status: 404,
    hint: 'Check the path against the interface specification at /openapi.json.',
  },
  method_not_allowed: {
    status: 405,
    hint: 'Use one of the methods that the Allow header names.',
  },
  request_timeout: {
    status: 408,
    hint: 'Send the whole request without long pauses.',
  },
  rate_limited: {
    status: 429,
    hint: 'Wait for the time in Retry-After, then try again.',
  },
  prewarm_queue_full: {
    status: 429,
    hint: "Wait until some of the project's prewarming is done, then send the same request again, or one with fewer sources.",
  },
  headers_too_large: {
    status: 431,
    hint: 'Send fewer or shorter headers, or a shorter URL.',
  },
  internal_error: {
    status: 500,
    hint: 'Try again; if the error persists, give the operator the x-request-id of this response.',
  },
  source_missing: {
    status: 400,
    hint: 'Put the absolute source URL after /img/ or in the url parameter.',
  },
  project_missing: {
    status: 400,
    hint: 'Add the project parameter with the id of your project.',
  },
  source_invalid: {
    status: 400,
    hint: 'Use an absolute http or https URL; encode it whole when it contains ? or #.',
  },
  parameter_invalid: {
    status: 400,
    hint: 'Correct the parameter that the message names.',
  },
  source_not_allowed: {
    status: 403,
    hint: "Add the host to the project's allowlist, or use a source on it.",
  },
  source_blocked: {
    status: 403,
    hint: 'Use a source on a public address; an operator can name private ones in SERVICE_PRIVATE_SOURCES.',
  },
  source_unauthorized: {
    status: 403,
    hint: 'Let the source be read without a login, or use a presigned URL of it.',
  },
  source_forbidden: {
    status: 403,
    hint: 'Let the source server answer this service. Expired presigned URLs and, on some object stores, missing files are answered so too.',
  },
  host_not_allowed: {
    status: 403,
    hint: 'Use localhost or the IP address of the service in the URL.',
  },
  origin_not_allowed: {
    status: 403,
    hint: 'Open the URL directly, or embed it in a page of the same host.',
  },
  signature_invalid: {
    status: 403,
    hint: "Sign the URL with the project's secret and an exp that has not passed.",
  },
  source_not_found: {
    status: 404,
    hint: 'Check that the source URL opens in a browser.',
  },
  source_too_large: {
    status: 413,
    hint: 'Use a source with fewer bytes or pixels.',
  },
  range_not_satisfiable: {
    status: 416,
    hint: 'Ask for a range that begins within the length that Content-Range names, or for the whole.',
  },
  source_unsupported: {
    status: 415,
    hint: 'Use a source in JPEG, PNG, WebP, GIF, AVIF, TIFF, SVG, BMP or ICO; /api/health lists all that this service reads.',
  },
  source_corrupt: {
    status: 422,
    hint: 'Check that the source file is complete and opens in an image viewer. lenient=1 shows what there is of a truncated JPEG, PNG or GIF.',
  },
  source_rate_limited: {
    status: 429,
    hint: 'Wait for the time in Retry-After, or let the source server answer this service more often.',
  },
  source_unreachable: {
    status: 502,
    hint: 'Check that the source server answers, then try again.',
  },
  overloaded: {
    status: 503,
    hint: 'Wait for the time in Retry-After, then try again.',
  },
  source_timeout: {
    status: 504,
    hint: 'Check how fast the source server answers, then try again.',
  },
  transform_timeout: {
    status: 504,
    hint: 'Ask for a smaller output or use a smaller source.',
  },
  store_unavailable: {
    status: 503,
    hint: 'Try again in a few seconds.',
  },
  workbench_unauthorized: {
    status: 401,
    hint: 'Log in with the credentials that the operator has set.',
  },
  workbench_forbidden: {
    status: 403,
    hint: 'Set SERVICE_WORKBENCH_USERNAME and SERVICE_WORKBENCH_PASSWORD.',
  },
} as const satisfies Readonly<Record<string, CatalogueEntry>>;

export type ErrorCode = keyof typeof errorCatalogue;

/** The error body of the service and its worker (spec part 7). */
export interface ApiError {
  readonly error: string;
  readonly code: ErrorCode;
  readonly message: string;
  readonly resolution_hint: string;
}

interface ErrorDetails {
  /** Seconds after which a retry may succeed, as the source server says; whole and positive. */
  readonly retryAfter?: number;
  /** True when the source of the project's watermark failed, and not the request's own source. */
  readonly watermark?: boolean;
}

/**
 * An error as plain data: class instances do not survive a message to another thread or process.
 */
export type ErrorData = Pick<ApiError, 'code' | 'message'> & ErrorDetails;

/**
 * Thrown in any process or thread when a request cannot be fulfilled. The message is sent to the
 * client and must not contain secrets; `cause` is only logged.
 */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, cause?: unknown, details: ErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return errorCatalogue[this.code].status;
  }

  toBody(): ApiError {
    const { code, message, status } = this;
    return {
      error: STATUS_CODES[status] ?? 'Error',
      code,
      message,
      resolution_hint: errorCatalogue[code].hint,
    };
  }

  toData(): ErrorData {
    return { code: this.code, message: this.message, ...this.details };
  }

  /** @param cause of the error in the process or thread that the data came to; only logged */
  static fromData({ code, message, ...details }: ErrorData, cause?: unknown): ServiceError {
    return new ServiceError(code, message, cause, details);
  }

  /** Wraps any thrown value. An unexpected error does not disclose its message to the client. */
  static of(error: unknown): ServiceError {
    if (error instanceof ServiceError) return error;
    return new ServiceError('internal_error', 'The request could not be completed.', error);
  }

  /** The same error, reported for the watermark's source. */
  ofWatermark(): ServiceError {
    const message = `The watermark cannot be used. ${this.message}`;
    return new ServiceError(this.code, message, this.cause, { ...this.details, watermark: true });
  }
}
