import { STATUS_CODES } from 'node:http';
import { type ErrorCode, type ErrorStatus, errorCatalogue } from '../../contract/errors.ts';
import { retryAfterSeconds } from '../http/error-response.ts';
import {
  allowHeader,
  challengeHeader,
  contentRangeHeader,
  imageErrorHeaders,
  plainHeaders,
  rateLimitHeaders,
  retryAfterHeader,
} from './response-headers.ts';

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
    ...(status === 416 ? contentRangeHeader : {}),
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
