import type { OutputFormat } from './variant.ts';

/** The kinds of source that the engine reads; what the bytes are, whatever a header claims. */
export const sourceKinds = ['jpeg', 'png', 'webp', 'gif', 'avif', 'heif', 'tiff', 'svg'] as const;
export type SourceKind = (typeof sourceKinds)[number];

interface KindProperties {
  /** For messages to people. */
  readonly label: string;
  /** The decoder that must have opened it; another one means that the bytes are two things at once. */
  readonly decoder: string;
  /** The format in which a picture of this kind is answered when none is asked for, if it has one. */
  readonly own: OutputFormat | null;
  /** True when it has no pixels of its own and is drawn at the size that is needed. */
  readonly vector: boolean;
  /**
   * True when further pages are frames of an animation. The pages of a TIFF or a HEIF are separate
   * pictures: only the first, or the primary one, is served.
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
