/**
 * The version of what this folder makes of a source and a variant. It is a part of every cache key,
 * so that a change of pixels or of encoders does not leave old images in the caches: whoever makes
 * such a change counts it up. 1 is what keys without a version had.
 */
export const rendererVersion = 2;
