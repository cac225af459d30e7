import { STATUS_CODES } from 'node:http';
import { type ErrorCode, errorCatalogue } from '../../contract/errors.ts';
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

type Status = (typeof errorCatalogue)[ErrorCode]['status'];

/** Codes of the worker only. */
const workerCodes: readonly ErrorCode[] = ['workbench_unauthorized', 'workbench_forbidden'];
/** Codes of the control plane only. */
const ownControlCodes: readonly ErrorCode[] = [
  'invalid_request',
  'api_key_missing',
  'api_key_invalid',
  'product_access_required',
  'project_forbidden',
  'write_access_required',
  'endpoint_not_found',
  'rate_limited',
  'prewarm_queue_full',
  'callback_queue_full',
  'prewarm_not_found',
  'purge_not_found',
];
/** Codes of the control plane and the image endpoint, which has every code that is not named here. */
const sharedCodes: readonly ErrorCode[] = [
  'project_not_found',
  'preset_not_found',
  'layer_not_found',
  'internal_error',
  'store_unavailable',
  'overloaded',
];

const controlCodes = [...ownControlCodes, ...sharedCodes];
const imageCodes = (Object.keys(errorCatalogue) as ErrorCode[]).filter(
  (code) => !workerCodes.includes(code) && !ownControlCodes.includes(code),
);

const statusesOf = (codes: readonly ErrorCode[]): Status[] =>
  [...new Set(codes.map((code) => errorCatalogue[code].status))].sort();
const controlStatuses = statusesOf(controlCodes);
const imageStatuses = statusesOf(imageCodes);

const controlName = (status: number): string => `Error${status}`;
/** Statuses of both have separate responses, because codes and headers differ. */
const imageName = (status: Status): string =>
  controlStatuses.includes(status) ? `ImageError${status}` : `Error${status}`;

function errorResponse(status: Status, codes: readonly ErrorCode[], headers: object): object {
  const possible = codes.filter((code) => errorCatalogue[code].status === status);
  const [code = 'internal_error'] = possible;
  const named = possible.map((one) => `\`${one}\``).join(', ');
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

const controlError = (status: Status): object =>
  errorResponse(status, controlCodes, {
    ...plainHeaders,
    ...(status === 401 ? challengeHeader : rateLimitHeaders),
    ...(status === 429 || status === 503 ? retryAfterHeader : {}),
  });

/** Codes of the image endpoint with Retry-After; for the last one it repeats the source's. */
const isRetryable = (code: ErrorCode): boolean =>
  code in retryAfterSeconds || code === 'source_rate_limited' || code === 'usage_limit_reached';

const imageError = (status: Status): object =>
  errorResponse(status, imageCodes, {
    ...imageErrorHeaders,
    ...(imageCodes.some((code) => errorCatalogue[code].status === status && isRetryable(code))
      ? retryAfterHeader
      : {}),
    ...(status === 405 ? allowHeader : {}),
    ...(status === 416 ? contentRangeHeader : {}),
  });

/** The error responses of all operations, by name. */
export const errorResponses = Object.fromEntries([
  ...controlStatuses.map((status) => [controlName(status), controlError(status)]),
  ...imageStatuses.map((status) => [imageName(status), imageError(status)]),
]);

const reference = (name: string) => ({ $ref: `#/components/responses/${name}` });

/** References to an operation's error responses: its own and those that every operation has. */
export function controlErrors(own: readonly Status[]): object {
  const all: readonly Status[] = [...own, 401, 402, 403, 429, 500, 503];
  return Object.fromEntries(
    [...all].sort().map((status) => [status, reference(controlName(status))]),
  );
}

/** References to the image endpoint's error responses, by status. */
export const imageErrors: object = Object.fromEntries(
  imageStatuses.map((status) => [status, reference(imageName(status))]),
);
