import type { OutputFormat } from './variant.ts';

/** The source formats that the engine reads, detected from the bytes and not from Content-Type. */
export const sourceKinds = ['jpeg', 'png', 'webp', 'gif', 'avif', 'heif', 'tiff', 'svg'] as const;
export type SourceKind = (typeof sourceKinds)[number];

interface KindProperties {
  /** For error messages. */
  readonly label: string;
  /** The decoder that sharp must choose; another one means that the bytes match two formats. */
  readonly decoder: string;
  /** The output format when none is requested; null when it depends on transparency. */
  readonly own: OutputFormat | null;
  /** True for vector graphics, which are rasterised at the required size. */
  readonly vector: boolean;
  /**
   * True when further pages are frames of an animation. The pages of a TIFF or a HEIF are separate
   * images: only the first, or the primary one, is served.
   */
  readonly animates: boolean;
}

export const kinds = {
  jpeg: { label: 'JPEG', decoder: 'jpeg', own: 'jpeg', vector: false, animates: false },
  png: { label: 'PNG', decoder: 'png', own: 'png', vector: false, animates: false },
  webp: { label: 'WebP', decoder: 'webp', own: 'webp', vector: false, animates: true },
  gif: { label: 'GIF', decoder: 'gif', own: 'gif', vector: false, animates: true },
  avif: { label: 'AVIF', decoder: 'heif', own: 'avif', vector: false, animates: false },
  heif: { label: 'HEIF', decoder: 'heif', own: null, vector: false, animates: false },
  tiff: { label: 'TIFF', decoder: 'tiff', own: null, vector: false, animates: false },
  svg: { label: 'SVG', decoder: 'svg', own: null, vector: true, animates: false },
} as const satisfies Record<SourceKind, KindProperties>;
