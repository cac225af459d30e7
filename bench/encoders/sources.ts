import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import sharp, { type ResizeOptions, type Sharp } from 'sharp';
import { picture } from '../origin/pictures.ts';

/** JPEG sources: one that was encoded as WebP or AVIF would favour that encoder. */
const samples = ['landscape.jpg', 'coast.jpg', 'portrait-rotated.jpg'] as const;
/** The width to which a photograph is decoded to see whether it can be. */
const smallest = 16;
const photographs = /\.(jpe?g|png|tiff?|webp|avif)$/i;

/** A photograph at one size, as the pixels that encoders are given. */
export interface Source {
  readonly name: string;
  /** RGB, 8 bits per channel. */
  readonly data: Buffer;
  readonly width: number;
  readonly height: number;
  /** A new sharp pipeline with the pixels as its input. */
  open(): Sharp;
}

/** Names with the bytes of the generated samples. */
export async function readSamples(): Promise<Map<string, Buffer>> {
  const files = samples.map(async (name) => [name, Buffer.from(await picture(name))] as const);
  return new Map(await Promise.all(files));
}

/**
 * Names with the bytes of each photograph in a folder, as {@link photographsIn} has them.
 * @throws when none is left
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

/** @param skipped told of each file that cannot be decoded, as one that is cut off */
export async function* photographsIn(
  folder: string,
  skipped: (line: string) => void,
): AsyncGenerator<[name: string, file: Buffer]> {
  for (const name of (await readdir(folder)).filter((one) => photographs.test(one)).sort()) {
    const file = await decodable(path.join(folder, name)).catch((error: Error) => {
      skipped(`${name} is left out, it cannot be read: ${error.message.split('\n', 1)[0]}`);
      return null;
    });
    if (file !== null) yield [name, file];
  }
}

/** The bytes of a file that is a whole picture. */
async function decodable(path: string): Promise<Buffer> {
  const file = await readFile(path);
  await sharp(file).resize(smallest).raw().toBuffer();
  return file;
}

/** @param side of the longer side, in pixels; null for a photograph that is smaller */
export async function sourceOf(name: string, file: Buffer, side: number): Promise<Source | null> {
  const size = { width: side, height: side, fit: 'inside', withoutEnlargement: true } as const;
  const source = await resized(name, file, size);
  return source !== null && Math.max(source.width, source.height) < side ? null : source;
}

/** @returns null for a picture without colours */
export async function resized(
  name: string,
  file: Buffer,
  size: ResizeOptions,
): Promise<Source | null> {
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
