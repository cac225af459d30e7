import type { ParameterName } from './parameters.ts';

/** The groups of parameters, in the order in which they are shown. */
export type ParameterGroup =
  | 'size'
  | 'crop'
  | 'format'
  | 'colour'
  | 'filters'
  | 'layers'
  | 'delivery';

/** The group of each parameter, for programs that show controls. */
export const parameterGroups: Readonly<Record<ParameterName, ParameterGroup>> = {
  w: 'size',
  h: 'size',
  ar: 'size',
  q: 'format',
  fmt: 'format',
  fit: 'size',
  dpr: 'size',
  pos: 'crop',
  fp: 'crop',
  bg: 'colour',
  enlarge: 'size',
  kernel: 'size',
  crop: 'crop',
  trim: 'crop',
  rotate: 'crop',
  flip: 'crop',
  flop: 'crop',
  extend: 'size',
  flatten: 'colour',
  grayscale: 'colour',
  negate: 'colour',
  normalize: 'colour',
  gamma: 'colour',
  brightness: 'colour',
  saturation: 'colour',
  hue: 'colour',
  lightness: 'colour',
  modulate: 'colour',
  tint: 'colour',
  threshold: 'colour',
  median: 'filters',
  blur: 'filters',
  sharpen: 'filters',
  opacity: 'colour',
  page: 'format',
  lenient: 'delivery',
  animated: 'format',
  lossless: 'format',
  maxbytes: 'format',
  keep: 'format',
  icc: 'colour',
  hdr: 'colour',
  v: 'delivery',
  preset: 'delivery',
  layer: 'layers',
  fallback: 'delivery',
  download: 'delivery',
};
