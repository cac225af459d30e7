/**
 * The version of the output for a source and a variant. It is part of every cache key, so that the
 * caches do not serve old images after a change of pixels or encoders: increment it with such a
 * change. 1 stands for cache keys without a version.
 */
export const rendererVersion = 18;
