import type { OutputFormat } from '../variant.ts';

interface KindProperties {
  /** Name in error messages. */
  readonly label: string;
  /**
   * Decoder that sharp must choose; another one means that the bytes match two formats. Null for formats
   * that the service decodes itself.
   */
  readonly decoder: string | null;
  /** Output format if none is requested; null if it depends on transparency. */
  readonly defaultOutput: OutputFormat | null;
  /** True for vector graphics, which are rasterised at the required size. */
  readonly vector: boolean;
  /**
   * True if further pages are frames of an animation. The pages of a TIFF or a HEIF are separate images:
   * only the first or the primary one is served.
   */
  readonly animates: boolean;
  /** True if decoded only in a process that can be killed. */
  readonly isolated: boolean;
}

const pixels = { vector: false, animates: false, isolated: false } as const;
const isolated = { ...pixels, isolated: true } as const;

/** The supported source formats, detected from the bytes and not from Content-Type. */
export const kinds = {
  jpeg: { label: 'JPEG', decoder: 'jpeg', defaultOutput: 'jpeg', ...pixels },
  png: { label: 'PNG', decoder: 'png', defaultOutput: 'png', ...pixels },
  webp: { label: 'WebP', decoder: 'webp', defaultOutput: 'webp', ...pixels, animates: true },
  gif: { label: 'GIF', decoder: 'gif', defaultOutput: 'gif', ...pixels, animates: true },
  avif: { label: 'AVIF', decoder: 'heif', defaultOutput: 'avif', ...pixels },
  heif: { label: 'HEIF', decoder: 'heif', defaultOutput: null, ...isolated },
  tiff: { label: 'TIFF', decoder: 'tiff', defaultOutput: null, ...pixels },
  svg: { label: 'SVG', decoder: 'svg', defaultOutput: null, ...isolated, vector: true },
  bmp: { label: 'BMP', decoder: null, defaultOutput: null, ...isolated },
  ico: { label: 'ICO', decoder: null, defaultOutput: null, ...isolated },
  pdf: { label: 'PDF', decoder: null, defaultOutput: null, ...isolated, vector: true },
  jxl: { label: 'JPEG XL', decoder: 'jxl', defaultOutput: 'jxl', ...isolated },
} as const satisfies Record<string, KindProperties>;

export type SourceKind = keyof typeof kinds;
export const sourceKinds = Object.keys(kinds) as readonly SourceKind[];
