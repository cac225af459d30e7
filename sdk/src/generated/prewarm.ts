/** Generated from the tables of the service by `npm run docs`. */

/** Parameters of a variant. The service ignores others in image URLs. */
export const variantNames: readonly string[] = [
  'w',
  'h',
  'ar',
  'q',
  'fmt',
  'fit',
  'dpr',
  'pos',
  'fp',
  'bg',
  'enlarge',
  'kernel',
  'crop',
  'trim',
  'rotate',
  'flip',
  'flop',
  'extend',
  'flatten',
  'grayscale',
  'negate',
  'normalize',
  'gamma',
  'brightness',
  'saturation',
  'hue',
  'lightness',
  'modulate',
  'tint',
  'threshold',
  'median',
  'blur',
  'sharpen',
  'opacity',
  'page',
  'lenient',
  'animated',
  'lossless',
  'maxbytes',
  'keep',
  'icc',
  'hdr',
  'v',
  'preset',
  'layer',
  'fallback',
  'download',
];

/** Maximum number of variants in a request. */
export const maxVariants = 50;

/** Maximum number of characters in all variants of a request as JSON. */
export const maxVariantCharacters = 8192;
