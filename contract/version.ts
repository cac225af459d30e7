/**
 * The version of the service and of its SDK, by Semantic Versioning: the only place that has it.
 * `npm run release` sets it. The version of the API, in its document and its path, is another one.
 */
export const version = '0.1.0';
