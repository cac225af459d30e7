/** The formats that the engine can write. */
export const outputFormats = ['avif', 'webp', 'jpeg', 'png', 'gif'] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** Responses instead of the image: a text placeholder, or JSON metadata. */
export const placeholderKinds = ['blurhash', 'thumbhash', 'lqip', 'json'] as const;
export type PlaceholderKind = (typeof placeholderKinds)[number];

/** How an image is fitted into a box when both sides are given (sharp's terms). */
export const fits = ['contain', 'cover', 'fill', 'inside', 'outside'] as const;
export type Fit = (typeof fits)[number];

/** The part of the image that `cover` keeps, or its position in the box for `contain`. */
export const gravities = [
  'center',
  'north',
  'northeast',
  'east',
  'southeast',
  'south',
  'southwest',
  'west',
  'northwest',
] as const;
export const strategies = ['entropy', 'attention'] as const;
export type Gravity = (typeof gravities)[number];
export type Position = Gravity | (typeof strategies)[number];

/** The point that `cover` keeps in the middle, as fractions of the width and the height, 0..1. */
export interface FocalPoint {
  readonly x: number;
  readonly y: number;
}

/** Interpolation for scaling (sharp's terms). */
export const kernels = [
  'nearest',
  'linear',
  'cubic',
  'mitchell',
  'lanczos2',
  'lanczos3',
  'mks2013',
  'mks2021',
] as const;
export type Kernel = (typeof kernels)[number];

/** `#rrggbbaa`, lower case. */
export type Colour = `#${string}`;

export interface Area {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface Edges {
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  readonly left: number;
}

/** Factors of brightness and saturation, rotation of the hue in degrees, lightness to add. */
export interface Modulation {
  readonly brightness: number;
  readonly saturation: number;
  readonly hue: number;
  readonly lightness: number;
}

export interface Watermark {
  readonly url: string;
  readonly position: Gravity;
  /** Percent. */
  readonly opacity: number;
  /** Percent of the output's width. */
  readonly scale: number;
  /** Pixels of the output. */
  readonly margin: number;
}

/**
 * Everything that determines the bytes of an output, except the source: effective values, after
 * query, client hints and project defaults were merged. Plain data, because it is sent to threads.
 */
export interface Variant {
  /** The area of the upright source to use, in its pixels; clipped to the source. */
  readonly crop: Area | null;
  /** Removes borders that differ from the corner's colour by at most this, 0..100. */
  readonly trim: number | null;
  /** Clockwise, in degrees, at least 0 and below 360; the corners get the background. */
  readonly rotate: number;
  /** Mirrors vertically. */
  readonly flip: boolean;
  /** Mirrors horizontally. */
  readonly flop: boolean;
  /**
   * Box width in device pixels (CSS width x dpr, rounded, at least 1); null when it follows from
   * the height.
   */
  readonly width: number | null;
  /** Box height in device pixels; null when it follows from the width. */
  readonly height: number | null;
  readonly fit: Fit;
  /** A point only for `cover`; of the image after crop, trim, flip, flop and rotate. */
  readonly position: Position | FocalPoint;
  /** True scales small images up. */
  readonly enlarge: boolean;
  readonly kernel: Kernel;
  /** Upper bound of the output's width in device pixels; null for none. */
  readonly maxWidth: number | null;
  /** Border added after resizing, in device pixels. */
  readonly extend: Edges | null;
  /** Background colour; null for transparency, or white in formats without transparency. */
  readonly background: Colour | null;
  /** Flattens transparency on the background. */
  readonly flatten: boolean;
  readonly grayscale: boolean;
  readonly negate: boolean;
  /** Stretches the luminance to the full range. */
  readonly normalize: boolean;
  /** 1..3. */
  readonly gamma: number | null;
  readonly modulate: Modulation | null;
  readonly tint: Colour | null;
  /** 0..255: lighter pixels become white, darker ones black. */
  readonly threshold: number | null;
  /** Side of the median filter's square, 1..15. */
  readonly median: number | null;
  /** Gaussian sigma, 0.3..100; null for none. */
  readonly blur: number | null;
  /** Sigma of the unsharp mask, 0.01..10. */
  readonly sharpen: number | null;
  /** 0..1, multiplied with the image's own opacity. */
  readonly opacity: number | null;
  readonly watermark: Watermark | null;
  /**
   * Formats in order of preference. The first one suitable for the source is used, or the source's
   * own format when none is suitable. A negotiated AVIF must be among them.
   */
  readonly formats: readonly OutputFormat[];
  /**
   * True when the formats were negotiated and not requested: animated sources then skip formats
   * without animation.
   */
  readonly negotiated: boolean;
  /** Formats that the client refuses, so that a negotiated output has none of them. */
  readonly refused: readonly OutputFormat[];
  /**
   * The only page (or frame of an animation) that is used, from 0; null for all frames, and for the
   * first page or the primary image of other sources.
   */
  readonly page: number | null;
  /** True shows what there is of a source with missing or corrupt pixels. */
  readonly lenient: boolean;
  /** False uses only the first frame of an animation. */
  readonly animated: boolean;
  /** Response instead of the image that the other fields describe. */
  readonly placeholder: PlaceholderKind | null;
  /** 1..100, or `auto` for the quality with which the output looks as good as any other. */
  readonly quality: number | 'auto';
  /** Bytes of a lossy output, for which the quality is lowered as far as it takes; null for any. */
  readonly maxBytes: number | null;
  /** Null keeps pixels exactly where that has fewer bytes, which drawn images may have. */
  readonly lossless: boolean | null;
  /** False keeps EXIF, XMP and ICC. */
  readonly stripMetadata: boolean;
  /** Keeps the author, copyright and licence of metadata that is stripped. */
  readonly copyright: boolean;
  /** Keeps a profile of RGB colours, and the colours in it. */
  readonly keepProfile: boolean;
  /** Keeps the gain map of a JPEG that has one (ISO 21496-1, Ultra HDR). */
  readonly gainMap: boolean;
}

/** The variant that changes nothing but the encoding. */
export const plainVariant: Variant = {
  crop: null,
  trim: null,
  rotate: 0,
  flip: false,
  flop: false,
  width: null,
  height: null,
  fit: 'cover',
  position: 'center',
  enlarge: false,
  kernel: 'lanczos3',
  maxWidth: null,
  extend: null,
  background: null,
  flatten: false,
  grayscale: false,
  negate: false,
  normalize: false,
  gamma: null,
  modulate: null,
  tint: null,
  threshold: null,
  median: null,
  blur: null,
  sharpen: null,
  opacity: null,
  watermark: null,
  formats: [],
  negotiated: false,
  refused: [],
  page: null,
  lenient: false,
  animated: true,
  placeholder: null,
  quality: 80,
  maxBytes: null,
  lossless: null,
  stripMetadata: true,
  copyright: false,
  keepProfile: false,
  gainMap: false,
};
