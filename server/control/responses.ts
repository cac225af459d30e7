import { STATUS_CODES } from 'node:http';
import { type ErrorCode, type ErrorStatus, errorCatalogue } from '../../contract/errors.ts';
import { encodings } from '../../pool/rendering/encode/encodings.ts';
import { imageTiers } from '../../pool/tiers.ts';
import { retryAfterSeconds } from '../http/responses.ts';

const text = (description: string, example: string) => ({
  description,
  schema: { type: 'string' },
  example,
});
const integer = (description: string, example: number) => ({
  description,
  schema: { type: 'integer', minimum: 0 },
  example,
});

/**
 * The response headers of the OpenAPI document, excluding connection headers (RFC 9110, 7.6.1) and
 * Content-Type, which OpenAPI derives from the body.
 */
export const headerComponents = {
  'Accept-CH': text(
    'Client hints that the image depends on.',
    'Sec-CH-DPR, Sec-CH-Width, Sec-CH-Viewport-Width',
  ),
  'Access-Control-Allow-Origin': text('Scripts on any page can read the response.', '*'),
  'Access-Control-Expose-Headers': text(
    'Error headers that scripts on any page can read.',
    'x-image-error, x-request-id, retry-after',
  ),
  Allow: text('The supported methods.', 'GET, HEAD, OPTIONS'),
  'CDN-Cache-Control': text(
    'For CDNs (RFC 9213), if the project has a source age or a browser age: the remaining source age.',
    'public, max-age=240',
  ),
  'Cache-Status': text(
    'If the project has a source age (RFC 9211): the remaining age, negative for a stale image, and the error of a failing origin.',
    'ImageDelivery; hit; ttl=240',
  ),
  'Cache-Control': text(
    "max-age is the project's browser age if set, and at most the remaining lifetime of a signed URL. Images without their watermark and fallbacks are no-store.",
    'public, max-age=31536000, immutable',
  ),
  'Cache-Tag': text(
    "Tags for CDN purges: the image's project, source and watermark. SERVICE_CACHE_TAG_HEADERS can select other headers.",
    'p-542629e4e115fdc4,s-195484b46cd3007d9d977d2e3cb4dc',
  ),
  'Content-Disposition': text(
    'File name of the image, if the request has `download`.',
    'attachment; filename="My landscape.webp"; filename*=UTF-8\'\'My%20landscape.webp',
  ),
  'Content-Length': integer('Body length in bytes.', 48_213),
  'Cross-Origin-Resource-Policy': text('Any page can embed the image.', 'cross-origin'),
  ETag: text('Strong entity tag of the bytes, for If-None-Match.', '"pYb2wTQBUvjGWPyXc3nMGQ"'),
  Link: text(
    'URL of the next page, if there is a next page; relative to the request URL (RFC 8288).',
    '<?limit=100&cursor=prj_32gx1acb9wtykf3m>; rel="next"',
  ),
  Location: text(
    "Path of the request's progress, relative to the request URL (RFC 9110, 10.2.2). The last segment is the id.",
    '/api/sdk/v1/projects/prj_32gx1acb9wtykf3m/prewarms/pre_9gx41acb9wtykf3m',
  ),
  'RateLimit-Limit': integer('Calls per minute that the key allows.', 600),
  'RateLimit-Remaining': integer('Calls remaining in this minute.', 599),
  'RateLimit-Reset': integer('Seconds until the limit resets.', 60),
  'Retry-After': integer('Seconds to wait before retrying.', 1),
  'Server-Timing': text(
    'Cache that contained the image, and the duration of each step in ms.',
    'cache;desc=miss, fetch;dur=38.2, transform;dur=21.9',
  ),
  'Surrogate-Control': text(
    'Same as CDN-Cache-Control, for CDNs that do not support it.',
    'max-age=240',
  ),
  'Surrogate-Key': text(
    'Same as Cache-Tag, separated by spaces.',
    'p-542629e4e115fdc4 s-195484b46cd3007d9d977d2e3cb4dc',
  ),
  Vary: text(
    'Request headers that the image depends on.',
    'Accept, Sec-CH-DPR, Sec-CH-Width, Sec-CH-Viewport-Width, DPR, Width, Viewport-Width',
  ),
  'WWW-Authenticate': text(
    'How to authenticate (RFC 6750, 3); contains an error if the key is invalid.',
    'Bearer realm="image-delivery", error="invalid_token"',
  ),
  'X-Cache': {
    description: 'Cache that contained the image.',
    schema: { type: 'string', enum: imageTiers },
  },
  'X-Fallback': text(
    'Error code of the source. Present if the image is a fallback.',
    'source_not_found',
  ),
  'X-Image-Error': text(
    'Error code and message (RFC 9651). Browsers hide the error body from an `<img>` on another site.',
    'source_not_found; message="The source was not found: www.example.com returned 404."',
  ),
  'X-Image-Warnings': text(
    'Differences between the image and the request, and unknown parameters, as an RFC 9651 list.',
    'maxbytes_exceeded, parameter_unknown;name="zoom"',
  ),
  'X-Content-Type-Options': text('Tells clients not to guess the content type.', 'nosniff'),
  'X-Request-Id': text('Identifies the request in the service log.', 'f50-mwqs2vgz-2'),
} as const;

type HeaderName = keyof typeof headerComponents;

const references = (...names: readonly HeaderName[]): object =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const noStore = {
  'Cache-Control': {
    description: 'The response must not be cached.',
    // Not an enum: ogen would generate a type per status, which does not compile.
    schema: { type: 'string', pattern: '^no-store$' },
    example: 'no-store',
  },
};

export const noContentHeaders = {
  ...noStore,
  ...references('X-Content-Type-Options', 'X-Request-Id'),
};

/** Headers of other non-image responses. */
export const plainHeaders = {
  ...noContentHeaders,
  ...references('Content-Length'),
};

/** Headers of responses to a valid key. */
export const rateLimitHeaders = references(
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
);

/** Headers of responses that web pages can read. */
export const readableHeaders = {
  ...plainHeaders,
  ...references('Access-Control-Allow-Origin'),
};
export const imageErrorHeaders = {
  ...readableHeaders,
  ...references('Access-Control-Expose-Headers', 'Cross-Origin-Resource-Policy', 'X-Image-Error'),
};
const challengeHeader = references('WWW-Authenticate');
const allowHeader = references('Allow');
export const linkHeader = references('Link');
export const locationHeader = references('Location');
const retryAfterHeader = references('Retry-After');

/** Headers of 304, which has no body. */
export const notModifiedHeaders = references(
  'Cache-Control',
  'CDN-Cache-Control',
  'Surrogate-Control',
  'Cache-Status',
  'Cache-Tag',
  'ETag',
  'Surrogate-Key',
  'Vary',
  'Accept-CH',
  'Access-Control-Allow-Origin',
  'Cross-Origin-Resource-Policy',
  'Server-Timing',
  'X-Cache',
  'X-Content-Type-Options',
  'X-Image-Warnings',
  'X-Request-Id',
);
export const documentedImageHeaders = {
  ...notModifiedHeaders,
  ...references('Content-Length', 'Content-Disposition', 'X-Fallback'),
};

export const imageTypes = Object.values(encodings).map(({ contentType }) => contentType);

const findCodes = (sender: 'images' | 'control'): ErrorCode[] =>
  (Object.keys(errorCatalogue) as ErrorCode[]).filter((code) =>
    errorCatalogue[code].senders.includes(sender),
  );
const controlCodes = findCodes('control');
const imageCodes = findCodes('images');

const toStatuses = (codes: readonly ErrorCode[]): ErrorStatus[] =>
  [...new Set(codes.map((code) => errorCatalogue[code].status))].sort();
const controlStatuses = toStatuses(controlCodes);
const imageStatuses = toStatuses(imageCodes);

const controlName = (status: number): string => `Error${status}`;
/** Gives a status that both use separate responses, because codes and headers differ. */
const imageName = (status: ErrorStatus): string =>
  controlStatuses.includes(status) ? `ImageError${status}` : `Error${status}`;

function errorResponse(status: ErrorStatus, codes: readonly ErrorCode[], headers: object): object {
  const possible = codes.filter((code) => errorCatalogue[code].status === status);
  const [code = 'internal_error'] = possible;
  const named = possible.map((possibleCode) => `\`${possibleCode}\``).join(', ');
  return {
    description: `${STATUS_CODES[status]}: ${named}.`,
    headers,
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/ApiError' },
        example: {
          error: STATUS_CODES[status],
          code,
          message: 'The reason, such as the parameter that is not valid.',
          resolution_hint: errorCatalogue[code].hint,
        },
      },
    },
  };
}

const controlError = (status: ErrorStatus): object =>
  errorResponse(status, controlCodes, {
    ...plainHeaders,
    ...(status === 401 ? challengeHeader : rateLimitHeaders),
    ...(status === 429 || status === 503 ? retryAfterHeader : {}),
  });

/**
 * Returns whether the image endpoint adds Retry-After to a code. For `source_rate_limited` it
 * repeats the source's value.
 */
const isRetryable = (code: ErrorCode): boolean =>
  code in retryAfterSeconds || code === 'source_rate_limited' || code === 'usage_limit_reached';

const imageError = (status: ErrorStatus): object =>
  errorResponse(status, imageCodes, {
    ...imageErrorHeaders,
    ...(imageCodes.some((code) => errorCatalogue[code].status === status && isRetryable(code))
      ? retryAfterHeader
      : {}),
    ...(status === 405 ? allowHeader : {}),
  });

export const errorResponses = Object.fromEntries([
  ...controlStatuses.map((status) => [controlName(status), controlError(status)]),
  ...imageStatuses.map((status) => [imageName(status), imageError(status)]),
]);

const reference = (name: string) => ({ $ref: `#/components/responses/${name}` });

/** References to an operation's error responses, including those shared by every operation. */
export function controlErrors(own: readonly ErrorStatus[]): object {
  const all: readonly ErrorStatus[] = [...own, 401, 402, 403, 429, 500, 503];
  return Object.fromEntries(
    [...all].sort().map((status) => [status, reference(controlName(status))]),
  );
}

/** References to the image endpoint's error responses, by status. */
export const imageErrors: object = Object.fromEntries(
  imageStatuses.map((status) => [status, reference(imageName(status))]),
);
