import sharp from 'sharp';
import { readable } from './heic.ts';

/** A request to the service, and to sharp. */
export interface Request {
  readonly name: 'whole' | 'small';
  readonly query: string;
  /** Null for the source's size. */
  readonly width: number | null;
}

/** PNG, because other encoders add differences. */
export const requests: readonly Request[] = [
  { name: 'whole', query: 'fmt=png', width: null },
  { name: 'small', query: 'fmt=png&w=256', width: 256 },
];

/** The service's limits of outputs (docs/formats.md). */
export const maxOutput = { side: 10_000, pixels: 40_000_000 };
const maxSourcePixels = 100_000_000;
const timeoutSeconds = 60;

/**
 * Renders an image with a plain sharp pipeline.
 * @throws Error from sharp
 */
export async function reference(file: Buffer, { width }: Request): Promise<Buffer> {
  const source = await readable(file);
  const options = { limitInputPixels: maxSourcePixels, failOn: 'error' } as const;
  const header = await sharp(source, options).metadata();
  const turned = (header.orientation ?? 1) >= 5;
  const height = header.pageHeight ?? header.height;
  const size = turned ? { width: height, height: header.width } : { width: header.width, height };
  const isVector = header.format === 'svg';
  const wanted = (width ?? size.width) / size.width;
  const scale = Math.min(
    isVector ? wanted : Math.min(1, wanted),
    maxOutput.side / Math.max(size.width, size.height),
    Math.sqrt(maxOutput.pixels / (size.width * size.height)),
  );
  // Rasterise a vector graphic at the requested size.
  const drawn = isVector ? { density: Math.min(100_000, Math.max(1, 72 * scale)) } : {};
  let image = sharp(source, { ...options, ...drawn })
    .timeout({ seconds: timeoutSeconds })
    .autoOrient();
  if (scale !== 1) {
    const side = (length: number) => Math.max(1, Math.round(length * scale));
    const fastShrinkOnLoad = mayShrinkOnLoad(header.format, scale);
    const [width, height] = [side(size.width), side(size.height)];
    image.resize({ width, height, fit: 'fill', fastShrinkOnLoad });
    // The service converts colours after scaling.
    if (header.icc !== undefined && header.space === 'srgb') {
      image = sharp(await image.keepIccProfile().png({ compressionLevel: 0 }).toBuffer());
    }
  }
  return image.png({ compressionLevel: 4, adaptiveFiltering: true }).toBuffer();
}

/**
 * Limits shrink-on-load like the service: some scales need more pixels than sharp decodes by
 * default.
 */
function mayShrinkOnLoad(format: string, scale: number): boolean {
  if (format === 'jpeg') return scale > 1 / 9;
  return format !== 'webp' || scale <= 1 / 2;
}
