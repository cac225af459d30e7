import { STATUS_CODES } from 'node:http';
import { EngineFailure, type EngineFailureCode } from '../../pool/failure.ts';

/** Every `code` of an error body; stable, as clients tell errors apart by it. */
export type FailureCode =
  | EngineFailureCode
  | 'invalid_request'
  | 'api_key_missing'
  | 'api_key_invalid'
  | 'product_access_required'
  | 'project_forbidden'
  | 'write_access_required'
  | 'project_not_found'
  | 'endpoint_not_found'
  | 'rate_limited'
  | 'source_missing'
  | 'project_missing'
  | 'signature_invalid';

interface CatalogueEntry {
  readonly status: number;
  /** A safe next step for whoever reads the error. */
  readonly hint: string;
}

/** Code -> HTTP status and hint; the type checker knows when an entry is missing. */
export const catalogue: Readonly<Record<FailureCode, CatalogueEntry>> = {
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
  endpoint_not_found: {
    status: 404,
    hint: 'Check the method and the path against the interface specification at /openapi.json.',
  },
  rate_limited: {
    status: 429,
    hint: 'Wait as long as Retry-After says, then try again.',
  },
  internal_error: {
    status: 500,
    hint: 'Try again; if it goes on, give the operator the x-request-id of this response.',
  },
  source_missing: {
    status: 400,
    hint: 'Put the absolute source URL behind /img/ or into the url parameter.',
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
  signature_invalid: {
    status: 403,
    hint: "Sign the URL with the project's secret and an exp that has not passed.",
  },
  source_not_found: {
    status: 404,
    hint: 'Check that the source URL opens by itself.',
  },
  source_too_large: {
    status: 413,
    hint: 'Use a source with fewer bytes or pixels.',
  },
  source_unsupported: {
    status: 415,
    hint: 'Use a source in JPEG, PNG, WebP, GIF, AVIF, TIFF or SVG.',
  },
  source_corrupt: {
    status: 422,
    hint: 'Check that the source file is whole and opens in an image viewer.',
  },
  source_unreachable: {
    status: 502,
    hint: 'Check that the source server answers, then try again.',
  },
  overloaded: {
    status: 503,
    hint: 'Wait as long as Retry-After says, then try again.',
  },
  source_timeout: {
    status: 504,
    hint: 'Check how fast the source server answers, then try again.',
  },
  transform_timeout: {
    status: 504,
    hint: 'Ask for a smaller output or use a smaller source.',
  },
};

/** The error body of the whole service (spec part 7). */
export interface ApiError {
  readonly error: string;
  readonly code: FailureCode;
  readonly message: string;
  readonly resolution_hint: string;
}

/** Thrown where a request cannot be answered as asked. The message reaches the client. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly code: FailureCode;

  constructor(code: FailureCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }

  get status(): number {
    return catalogue[this.code].status;
  }

  toApiError(): ApiError {
    const { code, message, status } = this;
    return {
      error: STATUS_CODES[status] ?? 'Error',
      code,
      message,
      resolution_hint: catalogue[code].hint,
    };
  }

  /** Any thrown thing as a failure; what nobody foresaw says nothing about itself to the client. */
  static of(error: unknown): Failure {
    if (error instanceof Failure) return error;
    if (error instanceof EngineFailure) return new Failure(error.code, error.message, error);
    return new Failure('internal_error', 'The request could not be completed.', error);
  }
}

/** @param id as the client gave it, of any length */
export function projectNotFound(id: string): Failure {
  return new Failure('project_not_found', `There is no project ${id.slice(0, 80).toWellFormed()}.`);
}
