import type { Variant } from '../variant.ts';

/**
 * The version of the output for a source and a variant. It is part of every cache key, so that the
 * caches do not serve old images after a change of pixels or encoders: increment it with such a
 * change. 1 stands for cache keys without a version.
 */
export const rendererVersion = 11;

/**
 * The version of the output for a variant. Only the marked ones have changed since the renderer's version:
 * remove the marks when that is incremented.
 *
 * @param version of the renderer
 */
export const outputVersion = ({ placeholder, copyright }: Variant, version = rendererVersion) =>
  placeholder === 'json' || copyright ? `${version}.1` : `${version}`;
