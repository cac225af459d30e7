import { STATUS_CODES } from 'node:http';

/** Sender of an error. Errors of every endpoint, such as 405, count as image errors. */
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

/** Error codes by HTTP status, each with a next step that any client can see. */
const codesByStatus = {
  400: {
    invalid_request: control('Correct the fields that the message lists, then retry.'),
    source_missing: image('Put the absolute source URL after /img/ or in the url parameter.'),
    project_missing: image('Add the project parameter with your project id.'),
    source_invalid: image(
      "Use an absolute http or https URL, or a path on the project's origin that starts with a slash. Percent-encode the whole source if it contains ? or #.",
    ),
    parameter_invalid: image('Correct the parameter named in the message.'),
  },
  401: {
    api_key_missing: control(
      'Send an API key as "Authorization: Bearer <API_KEY>" or in X-Service-Api-Key.',
    ),
    api_key_invalid: control('Check that the API key is complete and has not been revoked.'),
    workbench_unauthorized: worker('Log in with the credentials set by the operator.'),
  },
  402: {
    product_access_required: control(
      "Let the operator restore the organisation's product access, then retry.",
    ),
  },
  403: {
    project_forbidden: control('Use an API key for this project or for all projects.'),
    root_key_required: control(
      'Use a root key, or ask the operator of the service to make the change.',
    ),
    write_access_required: control('Use an API key with write access to the resource.'),
    source_not_allowed: image(
      "Add the host to the project's allowlist, or use a source on an allowed host.",
    ),
    source_blocked: image(
      'Use a source on a public address. Operators can allow private addresses in SERVICE_PRIVATE_SOURCES.',
    ),
    source_unauthorized: image('Make the source readable without a login, or use a presigned URL.'),
    source_forbidden: image(
      'Allow this service to fetch the file. Expired presigned URLs and, on some object stores, missing files also cause this error. If its robot policy asks for a contact, the operator can set SERVICE_USER_AGENT.',
    ),
    host_not_allowed: image(
      'Use localhost or the IP address of the service as the host of the URL.',
    ),
    origin_not_allowed: image('Open the URL directly, or embed it in a page on the same host.'),
    signature_invalid: image("Sign the URL with the project's secret and an exp in the future."),
    layer_text_not_signed: image(
      "Sign the URL with the project's secret, or set freeText on the layer to let anyone choose its text.",
    ),
    workbench_forbidden: worker('Set SERVICE_WORKBENCH_USERNAME and SERVICE_WORKBENCH_PASSWORD.'),
  },
  404: {
    project_not_found: both('Check the project id, or list the projects.'),
    preset_not_found: both("Check the preset's name, or list the project's presets."),
    layer_not_found: both("Check the layer's name, or list the project's layers."),
    host_not_found: control("Check the host, or list the project's hosts."),
    url_secret_not_found: control("Check the kind, or list the project's URL secrets."),
    purge_not_found: control('Use the Location header of the purge response, within a day.'),
    prewarm_not_found: control('Use the Location header of the prewarm response, within a day.'),
    endpoint_not_found: control(
      'Check the path against /openapi.json. If it is an image path of a delivery host, forward the Host header.',
    ),
    source_not_found: image('Check that the source URL opens in a browser.'),
  },
  405: {
    method_not_allowed: image('Use a method listed in the Allow header.'),
  },
  408: {
    request_timeout: image('Send the complete request without long pauses.'),
  },
  409: {
    idempotency_key_reused: control('Use a new Idempotency-Key for each different call.'),
    idempotency_key_in_use: control('Retry after the time in Retry-After to get the answer.'),
    host_taken: control('Delete the host from the other project first, or use another host.'),
    prewarm_in_progress: control(
      "Wait until the project's prewarming has finished, or send force=true to cancel it.",
    ),
  },
  413: {
    source_too_large: image('Use a source with fewer bytes or pixels.'),
  },
  415: {
    source_unsupported: image(
      'Use a source in JPEG, PNG, WebP, GIF, AVIF, JPEG XL, TIFF, SVG, BMP, ICO or HEIC; /api/health lists every format that this service reads.',
    ),
  },
  422: {
    source_corrupt: image(
      'Check that the source file is complete and opens in an image viewer. Add lenient=1 to get the readable part of a truncated JPEG, PNG, GIF or WebP.',
    ),
  },
  429: {
    rate_limited: control('Retry after the time in Retry-After.'),
    callback_queue_full: control(
      'Retry after earlier callbacks have been delivered, or omit callbackUrl.',
    ),
    prewarm_queue_full: control(
      "Retry after some of the project's prewarming is done, or send fewer sources.",
    ),
    usage_limit_reached: image(
      "Retry after the time in Retry-After, when the next day starts (UTC), or raise the project's limits.",
    ),
    source_rate_limited: image(
      'Retry after the time in Retry-After, or raise the rate limit of the source server for this service. If its robot policy asks for a contact, the operator can set SERVICE_USER_AGENT.',
    ),
  },
  431: {
    headers_too_large: image('Send fewer or shorter headers, or a shorter URL.'),
  },
  500: {
    internal_error: both(
      'Retry. If the error persists, send the x-request-id of this response to the operator.',
    ),
  },
  502: {
    source_unreachable: image(
      'Check that the service can reach the source server directly (it ignores HTTPS_PROXY, but not SERVICE_SOURCE_PROXY), then retry.',
    ),
  },
  503: {
    overloaded: both('Retry after the time in Retry-After.'),
    store_unavailable: both('Retry in a few seconds.'),
  },
  504: {
    source_timeout: image('Check how fast the source server responds, then retry.'),
    transform_timeout: image('Request a smaller output or use a smaller source.'),
  },
} as const;

type CodesByStatus = typeof codesByStatus;
export type ErrorStatus = keyof CodesByStatus;
export type ErrorCode = { [S in ErrorStatus]: keyof CodesByStatus[S] }[ErrorStatus];

interface CatalogueEntry extends Sent {
  readonly status: ErrorStatus;
}

/**
 * Status, hint and senders of every `code` in error bodies of the service and its worker. Codes are stable:
 * clients distinguish errors by them.
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
  /** Whole seconds, at least 1, from the source server's Retry-After. */
  readonly retryAfter?: number;
  /** Index of the failed layer in the variant. */
  readonly layer?: number;
  /** A more specific next step than the hint of the code. */
  readonly hint?: string;
}

/** An error for the person who runs a command: printed as one line, without a stack. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** An error as plain data, for messages to other threads and processes. */
export type ErrorData = Pick<ApiError, 'code' | 'message'> & ErrorDetails;

/**
 * An error that ends a request. Clients see the message, so it must not contain secrets; `cause` is
 * only logged.
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

  /** Wraps any thrown value. Clients do not see the message of an unexpected error. */
  static of(error: unknown): ServiceError {
    if (error instanceof ServiceError) return error;
    return new ServiceError('internal_error', 'The request could not be completed.', error);
  }

  /**
   * Returns the same error, reported for a layer. The error of a shared source might already name another use of
   * the source.
   */
  ofLayer(layer: number, isWatermark: boolean): ServiceError {
    const reason = this.message.replace(/^(?:The watermark|A layer) cannot be used\. /, '');
    const message = `${isWatermark ? 'The watermark' : 'A layer'} cannot be used. ${reason}`;
    return new ServiceError(this.code, message, this.cause, { ...this.details, layer });
  }
}
