import { STATUS_CODES } from 'node:http';

/** Who sends an error. Those of every request, such as 405, count as the image endpoint's. */
type Sender = 'images' | 'control' | 'worker';

interface Sent {
  readonly hint: string;
  readonly senders: readonly Sender[];
}

const sentBy =
  (...senders: Sender[]) =>
  (hint: string): Sent => ({ hint, senders });
const image = sentBy('images');
const control = sentBy('control');
const both = sentBy('images', 'control');
const worker = sentBy('worker');

/** Each error code by its HTTP status, with a next step for the reader that any client may see. */
const codesByStatus = {
  400: {
    invalid_request: control(
      'Correct the fields that the message names and send the request again.',
    ),
    source_missing: image('Put the absolute source URL after /img/ or in the url parameter.'),
    project_missing: image('Add the project parameter with the id of your project.'),
    source_invalid: image(
      "Use an absolute http or https URL, or a path on the project's site that begins with a slash; encode it whole when it contains ? or #.",
    ),
    parameter_invalid: image('Correct the parameter that the message names.'),
  },
  401: {
    api_key_missing: control(
      'Send an API key as "Authorization: Bearer <API_KEY>" or in X-Service-Api-Key.',
    ),
    api_key_invalid: control('Check that the API key was copied whole and has not been revoked.'),
    workbench_unauthorized: worker('Log in with the credentials that the operator has set.'),
  },
  402: {
    product_access_required: control("Restore the organisation's product access, then try again."),
  },
  403: {
    project_forbidden: control('Use a key of this project, or one for all projects.'),
    root_key_required: control('Ask the operator of the service, who has a root key.'),
    write_access_required: control('Use a key with write access to what this operation changes.'),
    source_not_allowed: image("Add the host to the project's allowlist, or use a source on it."),
    source_blocked: image(
      'Use a source on a public address; an operator can name private ones in SERVICE_PRIVATE_SOURCES.',
    ),
    source_unauthorized: image(
      'Let the source be read without a login, or use a presigned URL of it.',
    ),
    source_forbidden: image(
      'Let the source server answer this service. Expired presigned URLs and, on some object stores, missing files cause this error too.',
    ),
    host_not_allowed: image('Use localhost or the IP address of the service in the URL.'),
    origin_not_allowed: image('Open the URL directly, or embed it in a page of the same host.'),
    signature_invalid: image(
      "Sign the URL with the project's secret and an exp that has not passed.",
    ),
    layer_text_not_signed: image(
      "Sign the URL with the project's secret, or set freeText of the layer if anyone may choose its words.",
    ),
    workbench_forbidden: worker('Set SERVICE_WORKBENCH_USERNAME and SERVICE_WORKBENCH_PASSWORD.'),
  },
  404: {
    project_not_found: both('Check the project id; listing the projects shows those that exist.'),
    preset_not_found: both(
      "Check the preset's name; listing the project's presets shows those that exist.",
    ),
    layer_not_found: both(
      "Check the layer's name; listing the project's layers shows those that exist.",
    ),
    host_not_found: control("Check the host; listing the project's hosts shows those that it has."),
    purge_not_found: control(
      'Use the Location of the response to the purge request, within a day.',
    ),
    prewarm_not_found: control(
      'Use the Location of the response to the prewarm request, within a day.',
    ),
    endpoint_not_found: control(
      'Check the path against the interface specification at /openapi.json.',
    ),
    source_not_found: image('Check that the source URL opens in a browser.'),
  },
  405: {
    method_not_allowed: image('Use one of the methods that the Allow header names.'),
  },
  408: {
    request_timeout: image('Send the whole request without long pauses.'),
  },
  409: {
    host_taken: control('Delete the host of the other project first, or use another host.'),
    prewarm_in_progress: control(
      "Wait until the project's prewarming has ended, or send force=true, which cancels it.",
    ),
  },
  413: {
    source_too_large: image('Use a source with fewer bytes or pixels.'),
  },
  415: {
    source_unsupported: image(
      'Use a source in JPEG, PNG, WebP, GIF, AVIF, JPEG XL, TIFF, SVG, BMP, ICO or HEIC; /api/health lists all that this service reads.',
    ),
  },
  416: {
    range_not_satisfiable: image(
      'Ask for a range that begins within the length that Content-Range names, or for the whole.',
    ),
  },
  422: {
    source_corrupt: image(
      'Check that the source file is complete and opens in an image viewer. lenient=1 shows the readable part of a truncated JPEG, PNG, GIF or WebP.',
    ),
  },
  429: {
    rate_limited: control('Wait for the time in Retry-After, then try again.'),
    callback_queue_full: control(
      'Try again when earlier callbacks were received, or omit callbackUrl.',
    ),
    prewarm_queue_full: control(
      "Wait until some of the project's prewarming is done, then send the same request again, or one with fewer sources.",
    ),
    usage_limit_reached: image(
      "Wait for the time in Retry-After, until the next day begins (UTC), or raise the project's limits.",
    ),
    source_rate_limited: image(
      'Wait for the time in Retry-After, or let the source server answer this service more often.',
    ),
  },
  431: {
    headers_too_large: image('Send fewer or shorter headers, or a shorter URL.'),
  },
  500: {
    internal_error: both(
      'Try again; if the error persists, give the operator the x-request-id of this response.',
    ),
  },
  502: {
    source_unreachable: image(
      'Check that the source server answers this machine directly: proxies of HTTPS_PROXY are not used. Then try again.',
    ),
  },
  503: {
    overloaded: both('Wait for the time in Retry-After, then try again.'),
    store_unavailable: both('Try again in a few seconds.'),
  },
  504: {
    source_timeout: image('Check how fast the source server answers, then try again.'),
    transform_timeout: image('Ask for a smaller output or use a smaller source.'),
  },
} as const;

type CodesByStatus = typeof codesByStatus;
export type ErrorStatus = keyof CodesByStatus;
export type ErrorCode = { [S in ErrorStatus]: keyof CodesByStatus[S] }[ErrorStatus];

interface CatalogueEntry extends Sent {
  readonly status: ErrorStatus;
}

/**
 * Status, hint and senders of every `code` in error bodies of the service and its worker. Codes are stable
 * because clients distinguish errors by them.
 */
export const errorCatalogue = Object.fromEntries(
  Object.entries(codesByStatus).flatMap(([status, codes]) =>
    Object.entries<Sent>(codes).map(([code, sent]) => [code, { status: Number(status), ...sent }]),
  ),
) as Readonly<Record<ErrorCode, CatalogueEntry>>;

/** The error body of the service and its worker: `ApiError` in the OpenAPI document. */
export interface ApiError {
  readonly error: string;
  readonly code: ErrorCode;
  readonly message: string;
  readonly resolution_hint: string;
}

interface ErrorDetails {
  /** From the source server's Retry-After: whole seconds, at least 1. */
  readonly retryAfter?: number;
  /** The index of the variant's layer that failed. */
  readonly layer?: number;
  /** The next step, if that of the code is too general. */
  readonly hint?: string;
}

/** An error as plain data, for messages to other threads and processes. */
export type ErrorData = Pick<ApiError, 'code' | 'message'> & ErrorDetails;

/**
 * An error with which a request ends. The message is sent to the client and must not contain secrets;
 * `cause` is only logged.
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
      resolution_hint: this.details.hint ?? errorCatalogue[code].hint,
    };
  }

  toData(): ErrorData {
    return { code: this.code, message: this.message, ...this.details };
  }

  /** @param cause in the thread or process that received the data; only logged */
  static fromData({ code, message, ...details }: ErrorData, cause?: unknown): ServiceError {
    return new ServiceError(code, message, cause, details);
  }

  /** Wraps any thrown value. The client does not see the message of an unexpected error. */
  static of(error: unknown): ServiceError {
    if (error instanceof ServiceError) return error;
    return new ServiceError('internal_error', 'The request could not be completed.', error);
  }

  /**
   * The same error, reported for a layer. An error of a shared source may have been reported for another use of it
   * before.
   */
  ofLayer(layer: number, isWatermark: boolean): ServiceError {
    const reason = this.message.replace(/^(?:The watermark|A layer) cannot be used\. /, '');
    const message = `${isWatermark ? 'The watermark' : 'A layer'} cannot be used. ${reason}`;
    return new ServiceError(this.code, message, this.cause, { ...this.details, layer });
  }
}
