/** The formats that the engine can write. */
export const outputFormats = ['avif', 'webp', 'jpeg', 'png', 'gif'] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** How a picture is fitted into a box of which both sides are given (sharp's terms). */
export const fits = ['contain', 'cover', 'fill', 'inside', 'outside'] as const;
export type Fit = (typeof fits)[number];

/**
 * All that decides the bytes of an output, beside the source: effective values only, after query,
 * client hints and project defaults were merged. Plain data, so that it crosses threads.
 */
export interface Variant {
  /** Box width in device pixels (CSS width x dpr, rounded, at least 1); null leaves it to height. */
  readonly width: number | null;
  /** Box height in device pixels; null leaves it to width. */
  readonly height: number | null;
  readonly fit: Fit;
  /** Upper bound of the output's width in device pixels; null for none. */
  readonly maxWidth: number | null;
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
  /** 1..100. */
  readonly quality: number;
  /** Gaussian sigma, 0.3..100; null for none. */
  readonly blur: number | null;
  /** False keeps EXIF, XMP and ICC. */
  readonly stripMetadata: boolean;
}
