import { STATUS_CODES } from 'node:http';
import { type ErrorCode, type ErrorStatus, errorCatalogue } from '../../contract/errors.ts';
import { encodings } from '../../pool/rendering/encode/encodings.ts';
import { imageTiers } from '../../pool/tiers.ts';

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

/*
 * The response headers of the OpenAPI document, excluding connection headers (RFC 9110, 7.6.1),
 * Content-Length, and Content-Type, which OpenAPI derives from the body. Each response has some of
 * the headers of its kind.
 */
const shared = {
  'Cache-Control': text(
    "For images, max-age is the project's browser age if set, and at most the remaining lifetime of a signed URL. Missing sources and fallbacks have a short max-age. Images without their watermark and all other responses are no-store.",
    'public, max-age=31536000, immutable',
  ),
  'Retry-After': integer('Seconds to wait before retrying.', 1),
  'X-Content-Type-Options': text('Tells clients not to guess the content type.', 'nosniff'),
  'X-Request-Id': text('Identifies the request in the service log.', 'f50-mwqs2vgz-2'),
};
const readable = {
  'Access-Control-Allow-Origin': text('Scripts on any page can read the response.', '*'),
};
const control = {
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
  'WWW-Authenticate': text(
    'How to authenticate (RFC 6750, 3); contains an error if the key is invalid.',
    'Bearer realm="image-delivery", error="invalid_token"',
  ),
};
const image = {
  'Accept-CH': text(
    'Client hints that the image depends on.',
    'Sec-CH-DPR, Sec-CH-Width, Sec-CH-Viewport-Width',
  ),
  'Access-Control-Expose-Headers': text('Scripts on any page can read the headers.', '*'),
  Allow: text('The supported methods.', 'GET, HEAD, OPTIONS'),
  'CDN-Cache-Control': text(
    'For CDNs (RFC 9213), if the project has a source age or a browser age: the remaining source age.',
    'public, max-age=240',
  ),
  'Cache-Status': text(
    'If the project has a source age (RFC 9211): the remaining age, negative for a stale image, and the error of a failing origin.',
    'ImageDelivery; hit; ttl=240',
  ),
  'Cache-Tag': text(
    "Tags for CDN purges: the image's project, source and watermark. SERVICE_CACHE_TAG_HEADERS can select other headers.",
    'p-542629e4e115fdc4,s-195484b46cd3007d9d977d2e3cb4dc',
  ),
  'Content-Disposition': text(
    "File name for saving the image: from `download`, `filename` or the source, with the format's extension.",
    'inline; filename="red shoe.webp"',
  ),
  'Cross-Origin-Resource-Policy': text('Any page can embed the image.', 'cross-origin'),
  ETag: text('Strong entity tag of the bytes, for If-None-Match.', '"pYb2wTQBUvjGWPyXc3nMGQ"'),
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
  'Timing-Allow-Origin': text('Scripts on any page can read the timing.', '*'),
  Vary: text(
    'Request headers that the image depends on.',
    'Accept, Sec-CH-DPR, Sec-CH-Width, Sec-CH-Viewport-Width, DPR, Width, Viewport-Width',
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
};

export const headerComponents = { ...shared, ...readable, ...control, ...image };

const references = (headers: object): object =>
  Object.fromEntries(
    Object.keys(headers).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );

export const controlHeaders = references({ ...shared, ...control });
/** Headers of health responses, which web pages can read. */
export const healthHeaders = references({ ...shared, ...readable });
export const imageHeaders = references({ ...shared, ...readable, ...image });

export const imageTypes = Object.values(encodings).map(({ contentType }) => contentType);

const senders = ['control', 'images'] as const;
type Sender = (typeof senders)[number];

const findCodes = (sender: Sender): ErrorCode[] =>
  (Object.keys(errorCatalogue) as ErrorCode[]).filter((code) =>
    errorCatalogue[code].senders.includes(sender),
  );
const codes = { control: findCodes('control'), images: findCodes('images') };

const toStatuses = (codes: readonly ErrorCode[]): ErrorStatus[] =>
  [...new Set(codes.map((code) => errorCatalogue[code].status))].sort();
const statuses = { control: toStatuses(codes.control), images: toStatuses(codes.images) };

/** Gives a status that both use separate responses, because codes and headers differ. */
const toName = (sender: Sender, status: ErrorStatus): string =>
  sender === 'images' && statuses.control.includes(status)
    ? `ImageError${status}`
    : `Error${status}`;

function errorResponse(sender: Sender, status: ErrorStatus): object {
  const possible = codes[sender].filter((code) => errorCatalogue[code].status === status);
  const [code = 'internal_error'] = possible;
  const named = possible.map((possibleCode) => `\`${possibleCode}\``).join(', ');
  return {
    description: `${STATUS_CODES[status]}: ${named}.`,
    headers: sender === 'images' ? imageHeaders : controlHeaders,
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

export const errorResponses = Object.fromEntries(
  senders.flatMap((sender) =>
    statuses[sender].map((status) => [toName(sender, status), errorResponse(sender, status)]),
  ),
);

/** Returns references to error responses, by status. */
const errorReferences = (sender: Sender, of: readonly ErrorStatus[]): object =>
  Object.fromEntries(
    [...of]
      .sort()
      .map((status) => [status, { $ref: `#/components/responses/${toName(sender, status)}` }]),
  );

/** References to an operation's error responses, including those shared by every operation. */
export const controlErrors = (own: readonly ErrorStatus[]): object =>
  errorReferences('control', [...own, 401, 402, 403, 429, 500, 503]);

export const imageErrors = errorReferences('images', statuses.images);
