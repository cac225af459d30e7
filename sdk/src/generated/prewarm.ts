/** Generated from the tables of the service by `npm run docs`. */

/** The values of image parameters that prewarming accepts: whole numbers and words. */
export const prewarmValues = {
  w: { minimum: 1, maximum: 5000 },
  q: { minimum: 30, maximum: 100 },
  dpr: { minimum: 1, maximum: 3 },
  fmt: ['auto', 'avif', 'webp', 'jpeg', 'png'],
  fit: ['contain', 'cover', 'fill', 'inside'],
} as const;

/** The most widths of a request. */
export const maxPrewarmWidths = 10;
