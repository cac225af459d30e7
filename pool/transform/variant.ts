/** The formats that the engine can write. */
export const outputFormats = ['avif', 'webp', 'jpeg', 'png', 'gif'] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** What may be answered instead of a picture: a text that stands for it, or facts about it. */
export const placeholderKinds = ['blurhash', 'thumbhash', 'lqip', 'json'] as const;
export type PlaceholderKind = (typeof placeholderKinds)[number];

/** How a picture is fitted into a box of which both sides are given (sharp's terms). */
export const fits = ['contain', 'cover', 'fill', 'inside', 'outside'] as const;
export type Fit = (typeof fits)[number];

/** Which part of a picture is kept where it is cut (`cover`), or where it stands (`contain`). */
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

/** Interpolation when a picture is scaled (sharp's terms). */
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

/** Factors of brightness and saturation, a turn of the hue in degrees, lightness to add. */
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
 * All that decides the bytes of an output, beside the source: effective values only, after query,
 * client hints and project defaults were merged. Plain data, so that it crosses threads.
 */
export interface Variant {
  /** Part of the upright source that is used, in its pixels; cut to the source. */
  readonly crop: Area | null;
  /** Borders that differ from the corner's colour by no more than this are cut off, 0..100. */
  readonly trim: number | null;
  /** Clockwise, in degrees, above 0 and below 360; corners show the background. */
  readonly rotate: number;
  /** Upside down. */
  readonly flip: boolean;
  /** Mirrored. */
  readonly flop: boolean;
  /** Box width in device pixels (CSS width x dpr, rounded, at least 1); null leaves it to height. */
  readonly width: number | null;
  /** Box height in device pixels; null leaves it to width. */
  readonly height: number | null;
  readonly fit: Fit;
  readonly position: Position;
  /** True scales small pictures up. */
  readonly enlarge: boolean;
  readonly kernel: Kernel;
  /** Upper bound of the output's width in device pixels; null for none. */
  readonly maxWidth: number | null;
  /** Added around the picture after resizing, in device pixels. */
  readonly extend: Edges | null;
  /** Of what a picture does not cover; null for transparency, white where there is none. */
  readonly background: Colour | null;
  /** Lays transparency on the background. */
  readonly flatten: boolean;
  readonly grayscale: boolean;
  readonly negate: boolean;
  /** Stretches the luminance over the whole range. */
  readonly normalize: boolean;
  /** 1..3. */
  readonly gamma: number | null;
  readonly modulate: Modulation | null;
  readonly tint: Colour | null;
  /** 0..255: lighter becomes white, darker black. */
  readonly threshold: number | null;
  /** Side of the median filter's square, 1..15. */
  readonly median: number | null;
  /** Gaussian sigma, 0.3..100; null for none. */
  readonly blur: number | null;
  /** Sigma of the unsharp mask, 0.01..10. */
  readonly sharpen: number | null;
  /** 0..1, multiplied with the picture's own. */
  readonly opacity: number | null;
  readonly watermark: Watermark | null;
  /**
   * Formats in order of preference; the first that suits the source is used, and the source's own
   * format when none does. Empty: the source's own format.
   */
  readonly formats: readonly OutputFormat[];
  /**
   * True when the formats were negotiated rather than asked for: an animated source then skips
   * formats that would make it a still picture.
   */
  readonly negotiated: boolean;
  /** False makes a still picture of an animation. */
  readonly animated: boolean;
  /** Answered instead of the picture that the rest describes. */
  readonly placeholder: PlaceholderKind | null;
  /** 1..100. */
  readonly quality: number;
  readonly lossless: boolean;
  /** False keeps EXIF, XMP and ICC. */
  readonly stripMetadata: boolean;
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
  animated: true,
  placeholder: null,
  quality: 80,
  lossless: false,
  stripMetadata: true,
};
