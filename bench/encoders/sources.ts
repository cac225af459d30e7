import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import sharp, { type ResizeOptions, type Sharp } from 'sharp';
import { picture } from '../origin/pictures.ts';

/** JPEG only: a source that was encoded as WebP or AVIF would favour that encoder. */
const samples = ['landscape.jpg', 'coast.jpg', 'portrait-rotated.jpg'] as const;
const photographs = /\.(jpe?g|png|tiff?|webp|avif)$/i;

/** The pixels of a photograph at one size. */
export interface Photograph {
  readonly name: string;
  /** RGB, 8 bits per channel. */
  readonly data: Buffer;
  readonly width: number;
  readonly height: number;
  /** A new sharp pipeline with the pixels as its input. */
  open(): Sharp;
}

/** The generated samples, by name. */
export async function readSamples(): Promise<Map<string, Buffer>> {
  return new Map(
    await Promise.all(samples.map(async (name) => [name, await picture(name)] as const)),
  );
}

/**
 * The photographs in a folder, by name.
 * @throws when none can be decoded
 */
export async function readPhotographs(
  folder: string,
  skipped: (line: string) => void,
): Promise<Map<string, Buffer>> {
  const read = new Map<string, Buffer>();
  for await (const [name, file] of photographsIn(folder, skipped)) read.set(name, file);
  if (read.size === 0) throw new Error(`${folder} has no photographs that can be read.`);
  return read;
}

/** @param skipped called for each file that cannot be decoded, such as a truncated one */
export async function* photographsIn(
  folder: string,
  skipped: (line: string) => void,
): AsyncGenerator<[name: string, file: Buffer]> {
  for (const name of (await readdir(folder)).filter((one) => photographs.test(one)).sort()) {
    try {
      const file = await readFile(path.join(folder, name));
      await sharp(file).resize(16).raw().toBuffer();
      yield [name, file];
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      skipped(`${name} is left out, it cannot be read: ${message.split('\n', 1)[0]}`);
    }
  }
}

/** @param side of the longer side, in pixels; null for a photograph that is smaller */
export async function sourceOf(
  name: string,
  file: Buffer,
  side: number,
): Promise<Photograph | null> {
  const size = { width: side, height: side, fit: 'inside', withoutEnlargement: true } as const;
  const source = await resized(name, file, size);
  return source !== null && Math.max(source.width, source.height) < side ? null : source;
}

/** @returns null for a grey picture */
export async function resized(
  name: string,
  file: Buffer,
  size: ResizeOptions,
): Promise<Photograph | null> {
  const { data, info } = await sharp(file, { autoOrient: true })
    .resize(size)
    .toColourspace('srgb')
    .flatten({ background: '#ffffff' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  if (info.channels !== 3) return null;
  const { width, height } = info;
  const open = () => sharp(data, { raw: { width, height, channels: 3 } });
  return { name, data, width, height, open };
}
