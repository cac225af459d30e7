/** Generated from the tables of the service by `npm run docs`. */

/** Status and next step of every error code of the service. Codes are stable. */
export const errors = {
  invalid_request: { status: 400, hint: 'Correct the fields that the message lists, then retry.' },
  source_missing: {
    status: 400,
    hint: 'Put the absolute source URL after /img/ or in the url parameter.',
  },
  project_missing: { status: 400, hint: 'Add the project parameter with your project id.' },
  source_invalid: {
    status: 400,
    hint: "Use an absolute http or https URL, or a path on the project's origin that starts with a slash. Percent-encode the whole source if it contains ? or #.",
  },
  parameter_invalid: { status: 400, hint: 'Correct the parameter named in the message.' },
  api_key_missing: {
    status: 401,
    hint: 'Send an API key as "Authorization: Bearer <API_KEY>" or in X-Service-Api-Key.',
  },
  api_key_invalid: {
    status: 401,
    hint: 'Check that the API key is complete and has not been revoked.',
  },
  workbench_unauthorized: { status: 401, hint: 'Log in with the credentials set by the operator.' },
  product_access_required: {
    status: 402,
    hint: "Let the operator restore the organisation's product access, then retry.",
  },
  project_forbidden: { status: 403, hint: 'Use an API key for this project or for all projects.' },
  root_key_required: {
    status: 403,
    hint: 'Use a root key, or ask the operator of the service to make the change.',
  },
  write_access_required: { status: 403, hint: 'Use an API key with write access to the resource.' },
  source_not_allowed: {
    status: 403,
    hint: "Add the host to the project's allowlist, or use a source on an allowed host.",
  },
  source_blocked: {
    status: 403,
    hint: 'Use a source on a public address. Operators can allow private addresses in SERVICE_PRIVATE_SOURCES.',
  },
  source_unauthorized: {
    status: 403,
    hint: 'Make the source readable without a login, or use a presigned URL.',
  },
  source_forbidden: {
    status: 403,
    hint: 'Allow this service to fetch the file. Expired presigned URLs and, on some object stores, missing files also cause this error.',
  },
  host_not_allowed: {
    status: 403,
    hint: 'Use localhost or the IP address of the service as the host of the URL.',
  },
  origin_not_allowed: {
    status: 403,
    hint: 'Open the URL directly, or embed it in a page on the same host.',
  },
  signature_invalid: {
    status: 403,
    hint: "Sign the URL with the project's secret and an exp in the future.",
  },
  layer_text_not_signed: {
    status: 403,
    hint: "Sign the URL with the project's secret, or set freeText on the layer to let anyone choose its text.",
  },
  workbench_forbidden: {
    status: 403,
    hint: 'Set SERVICE_WORKBENCH_USERNAME and SERVICE_WORKBENCH_PASSWORD.',
  },
  project_not_found: { status: 404, hint: 'Check the project id, or list the projects.' },
  preset_not_found: {
    status: 404,
    hint: "Check the preset's name, or list the project's presets.",
  },
  layer_not_found: { status: 404, hint: "Check the layer's name, or list the project's layers." },
  host_not_found: { status: 404, hint: "Check the host, or list the project's hosts." },
  url_secret_not_found: { status: 404, hint: "Check the kind, or list the project's URL secrets." },
  purge_not_found: {
    status: 404,
    hint: 'Use the Location header of the purge response, within a day.',
  },
  prewarm_not_found: {
    status: 404,
    hint: 'Use the Location header of the prewarm response, within a day.',
  },
  endpoint_not_found: {
    status: 404,
    hint: 'Check the path against /openapi.json. If it is an image path of a delivery host, forward the Host header.',
  },
  source_not_found: { status: 404, hint: 'Check that the source URL opens in a browser.' },
  method_not_allowed: { status: 405, hint: 'Use a method listed in the Allow header.' },
  request_timeout: { status: 408, hint: 'Send the complete request without long pauses.' },
  host_taken: {
    status: 409,
    hint: 'Delete the host from the other project first, or use another host.',
  },
  prewarm_in_progress: {
    status: 409,
    hint: "Wait until the project's prewarming has finished, or send force=true to cancel it.",
  },
  source_too_large: { status: 413, hint: 'Use a source with fewer bytes or pixels.' },
  source_unsupported: {
    status: 415,
    hint: 'Use a source in JPEG, PNG, WebP, GIF, AVIF, JPEG XL, TIFF, SVG, BMP, ICO or HEIC; /api/health lists every format that this service reads.',
  },
  range_not_satisfiable: {
    status: 416,
    hint: 'Request a range that starts within the length given in Content-Range, or the whole image.',
  },
  source_corrupt: {
    status: 422,
    hint: 'Check that the source file is complete and opens in an image viewer. Add lenient=1 to get the readable part of a truncated JPEG, PNG, GIF or WebP.',
  },
  rate_limited: { status: 429, hint: 'Retry after the time in Retry-After.' },
  callback_queue_full: {
    status: 429,
    hint: 'Retry after earlier callbacks have been delivered, or omit callbackUrl.',
  },
  prewarm_queue_full: {
    status: 429,
    hint: "Retry after some of the project's prewarming is done, or send fewer sources.",
  },
  usage_limit_reached: {
    status: 429,
    hint: "Retry after the time in Retry-After, when the next day starts (UTC), or raise the project's limits.",
  },
  source_rate_limited: {
    status: 429,
    hint: 'Retry after the time in Retry-After, or raise the rate limit of the source server for this service.',
  },
  headers_too_large: { status: 431, hint: 'Send fewer or shorter headers, or a shorter URL.' },
  internal_error: {
    status: 500,
    hint: 'Retry. If the error persists, send the x-request-id of this response to the operator.',
  },
  source_unreachable: {
    status: 502,
    hint: 'Check that the service can reach the source server directly (it ignores HTTPS_PROXY), then retry.',
  },
  overloaded: { status: 503, hint: 'Retry after the time in Retry-After.' },
  store_unavailable: { status: 503, hint: 'Retry in a few seconds.' },
  source_timeout: { status: 504, hint: 'Check how fast the source server responds, then retry.' },
  transform_timeout: { status: 504, hint: 'Request a smaller output or use a smaller source.' },
} as const;

export type ErrorCode = keyof typeof errors;
