/** Generated from the tables of the service by `npm run docs`. */

/** Status and next step of every error code of the service. Codes are stable. */
export const errors = {
  invalid_request: {
    status: 400,
    hint: 'Correct the fields that the message names and send the request again.',
  },
  source_missing: {
    status: 400,
    hint: 'Put the absolute source URL after /img/ or in the url parameter.',
  },
  project_missing: { status: 400, hint: 'Add the project parameter with the id of your project.' },
  source_invalid: {
    status: 400,
    hint: "Use an absolute http or https URL, or a path on the project's site that begins with a slash; encode it whole when it contains ? or #.",
  },
  parameter_invalid: { status: 400, hint: 'Correct the parameter that the message names.' },
  api_key_missing: {
    status: 401,
    hint: 'Send an API key as "Authorization: Bearer <API_KEY>" or in X-Service-Api-Key.',
  },
  api_key_invalid: {
    status: 401,
    hint: 'Check that the API key was copied whole and has not been revoked.',
  },
  workbench_unauthorized: {
    status: 401,
    hint: 'Log in with the credentials that the operator has set.',
  },
  product_access_required: {
    status: 402,
    hint: "Restore the organisation's product access, then try again.",
  },
  project_forbidden: { status: 403, hint: 'Use a key of this project, or one for all projects.' },
  root_key_required: { status: 403, hint: 'Ask the operator of the service, who has a root key.' },
  write_access_required: {
    status: 403,
    hint: 'Use a key with write access to what this operation changes.',
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
    hint: 'Let the source server answer this service. Expired presigned URLs and, on some object stores, missing files cause this error too.',
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
  layer_text_not_signed: {
    status: 403,
    hint: "Sign the URL with the project's secret, or set freeText of the layer if anyone may choose its words.",
  },
  workbench_forbidden: {
    status: 403,
    hint: 'Set SERVICE_WORKBENCH_USERNAME and SERVICE_WORKBENCH_PASSWORD.',
  },
  project_not_found: {
    status: 404,
    hint: 'Check the project id; listing the projects shows those that exist.',
  },
  preset_not_found: {
    status: 404,
    hint: "Check the preset's name; listing the project's presets shows those that exist.",
  },
  layer_not_found: {
    status: 404,
    hint: "Check the layer's name; listing the project's layers shows those that exist.",
  },
  host_not_found: {
    status: 404,
    hint: "Check the host; listing the project's hosts shows those that it has.",
  },
  purge_not_found: {
    status: 404,
    hint: 'Use the Location of the response to the purge request, within a day.',
  },
  prewarm_not_found: {
    status: 404,
    hint: 'Use the Location of the response to the prewarm request, within a day.',
  },
  endpoint_not_found: {
    status: 404,
    hint: 'Check the path against the interface specification at /openapi.json.',
  },
  source_not_found: { status: 404, hint: 'Check that the source URL opens in a browser.' },
  method_not_allowed: { status: 405, hint: 'Use one of the methods that the Allow header names.' },
  request_timeout: { status: 408, hint: 'Send the whole request without long pauses.' },
  host_taken: {
    status: 409,
    hint: 'Delete the host of the other project first, or use another host.',
  },
  prewarm_in_progress: {
    status: 409,
    hint: "Wait until the project's prewarming has ended, or send force=true, which cancels it.",
  },
  source_too_large: { status: 413, hint: 'Use a source with fewer bytes or pixels.' },
  source_unsupported: {
    status: 415,
    hint: 'Use a source in JPEG, PNG, WebP, GIF, AVIF, JPEG XL, TIFF, SVG, BMP, ICO or HEIC; /api/health lists all that this service reads.',
  },
  range_not_satisfiable: {
    status: 416,
    hint: 'Ask for a range that begins within the length that Content-Range names, or for the whole.',
  },
  source_corrupt: {
    status: 422,
    hint: 'Check that the source file is complete and opens in an image viewer. lenient=1 shows the readable part of a truncated JPEG, PNG, GIF or WebP.',
  },
  rate_limited: { status: 429, hint: 'Wait for the time in Retry-After, then try again.' },
  callback_queue_full: {
    status: 429,
    hint: 'Try again when earlier callbacks were received, or omit callbackUrl.',
  },
  prewarm_queue_full: {
    status: 429,
    hint: "Wait until some of the project's prewarming is done, then send the same request again, or one with fewer sources.",
  },
  usage_limit_reached: {
    status: 429,
    hint: "Wait for the time in Retry-After, until the next day begins (UTC), or raise the project's limits.",
  },
  source_rate_limited: {
    status: 429,
    hint: 'Wait for the time in Retry-After, or let the source server answer this service more often.',
  },
  headers_too_large: { status: 431, hint: 'Send fewer or shorter headers, or a shorter URL.' },
  internal_error: {
    status: 500,
    hint: 'Try again; if the error persists, give the operator the x-request-id of this response.',
  },
  source_unreachable: {
    status: 502,
    hint: 'Check that the source server answers this machine directly: proxies of HTTPS_PROXY are not used. Then try again.',
  },
  overloaded: { status: 503, hint: 'Wait for the time in Retry-After, then try again.' },
  store_unavailable: { status: 503, hint: 'Try again in a few seconds.' },
  source_timeout: {
    status: 504,
    hint: 'Check how fast the source server answers, then try again.',
  },
  transform_timeout: { status: 504, hint: 'Ask for a smaller output or use a smaller source.' },
} as const;

export type ErrorCode = keyof typeof errors;
