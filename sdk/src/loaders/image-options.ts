import type { ImageOptions } from '../generated/parameters.ts';

/** The options of an image, as frameworks name them. */
export interface FrameworkOptions extends Omit<ImageOptions, 'w' | 'h' | 'q' | 'fmt' | 'dpr'> {
  /** In device pixels. */
  readonly width?: number | string | undefined;
  /** In device pixels. */
  readonly height?: number | string | undefined;
  readonly quality?: number | string | undefined;
  readonly format?: string | undefined;
}

const pixels = (length: number | string | undefined): number | undefined =>
  length ? Math.max(1, Math.round(Number(length))) : undefined;

/** The options of an image that has exactly this width and height. */
export function imageOptions(given: FrameworkOptions): ImageOptions {
  const { width, height, quality, format, fit, ...options } = given;
  return {
    ...options,
    dpr: 1,
    w: pixels(width),
    h: pixels(height),
    fit: fit ?? ((width && height) || given.ar ? 'cover' : undefined),
    q: (quality || undefined) as ImageOptions['q'],
    fmt: (format || 'auto') as ImageOptions['fmt'],
  };
}
