import {
  defaultWidths,
  type ImageFormat,
  type ImageOptions,
  maxPixels,
  maxSide,
  pixelLimits,
} from './generated/parameters.ts';

/** Srcset options, which determine the sizes that browsers can choose from. */
export interface SrcsetOptions
  extends Omit<ImageOptions, 'w' | 'h' | 'ar' | 'dpr' | 'extend' | 'fmt' | 'fit'> {
  readonly fmt?: ImageFormat | 'auto' | undefined;
  /** How the image fits `ratio`; `cover` by default. */
  readonly fit?: 'cover' | 'contain' | 'fill' | undefined;
  /** Device pixels of the candidates; by default nine steps from 320 to 3840. */
  readonly widths?: readonly number[] | undefined;
  /** Width in CSS pixels for an image with the same size on every screen; replaces `widths`. */
  readonly fixed?: number | undefined;
  /** Width divided by height, such as `16 / 9`; defaults to the source's ratio. */
  readonly ratio?: number | undefined;
  /**
   * Source width in pixels after `crop`, `trim` and `rotate`. The SDK requests no larger images,
   * because the service does not scale up. Omit it for SVGs.
   */
  readonly sourceWidth?: number | undefined;
  /** As `sourceWidth`. Needed for candidates that are exact with `ratio`, and for `width` and `height`. */
  readonly sourceHeight?: number | undefined;
}

export interface Candidate {
  /** Such as `640w` or `2x`. */
  readonly descriptor: string;
  readonly options: ImageOptions & { readonly h?: number | undefined };
}

/**
 * The largest width in device pixels that the service delivers exactly.
 * @param shape the width divided by the height; 0 if unknown
 */
function widest(
  { ratio, fit, fmt = 'auto', lossless, enlarge, ...source }: SrcsetOptions,
  shape: number,
  maxWidth: number,
): number {
  const { sourceWidth = Infinity, sourceHeight = Infinity } = source;
  const pixels = pixelLimits[fmt]?.[lossless ? 1 : 0] ?? maxPixels;
  const sides = [sourceWidth, sourceHeight * (ratio || Infinity)];
  const natural = fit === 'contain' && ratio ? Math.max(...sides) : Math.min(...sides);
  let width = Math.floor(
    Math.min(
      maxWidth,
      maxSide,
      // Wider ones of a kept box would only have more background.
      enlarge === true ? Infinity : natural,
      shape ? Math.min(maxSide * shape, Math.sqrt(pixels * shape)) : Infinity,
    ),
  );
  while (shape && width * Math.round(width / shape) > pixels) width -= 1;
  return Math.max(1, width);
}

/**
 * Returns srcset candidates, each with exactly the pixels that its descriptor states. Replaces
 * widths that the service cannot deliver with the largest width that it can.
 *
 * @param maxWidth device pixels
 */
export function createCandidates(options: SrcsetOptions, maxWidth: number) {
  const { widths = defaultWidths, fixed, ratio, sourceWidth, sourceHeight, ...given } = options;
  const shape = ratio || (sourceWidth && sourceHeight ? sourceWidth / sourceHeight : 0);
  const bound = widest(options, shape, maxWidth);
  const wanted = fixed ? [fixed, 2 * fixed, 3 * fixed] : widths;
  const toHeight = (width: number) => Math.max(1, Math.round(width / shape));
  const all = [...new Set(wanted.map((width) => Math.min(Math.round(width), bound)))]
    .sort((a, b) => a - b)
    .map((w): Candidate & { w: number } => ({
      w,
      descriptor: fixed ? `${Number((w / fixed).toFixed(4))}x` : `${w}w`,
      options: {
        ...given,
        fit: options.fit ?? (ratio ? 'cover' : undefined),
        dpr: 1,
        w,
        h: ratio ? toHeight(w) : undefined,
      },
    }));
  const width = fixed ?? all.at(-1)?.w ?? 0;
  return { all, size: shape ? { width, height: toHeight(width) } : {} };
}
