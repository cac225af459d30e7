import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { picture } from '../origin/pictures.ts';

/** JPEG sources: one that was encoded as WebP or AVIF would favour that encoder. */
const samples = ['landscape.jpg', 'coast.jpg', 'portrait-rotated.jpg'] as const;
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

/** Names with the bytes of each photograph: those of a folder, or the generated samples. */
export async function readPhotographs(folder: string | null): Promise<Map<string, Buffer>> {
  if (folder === null) {
    const files = samples.map(async (name) => [name, Buffer.from(await picture(name))] as const);
    return new Map(await Promise.all(files));
  }
  const names = (await readdir(folder)).filter((name) => photographs.test(name)).sort();
  if (names.length === 0) throw new Error(`${folder} has no photographs.`);
  const files = names.map(async (name) => [name, await readFile(path.join(folder, name))] as const);
  return new Map(await Promise.all(files));
}

/** @param side of the longer side, in pixels; null for a photograph that is smaller */
export async function sourceOf(name: string, file: Buffer, side: number): Promise<Source | null> {
  const { data, info } = await sharp(file, { autoOrient: true })
    .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
    .toColourspace('srgb')
    .flatten({ background: '#ffffff' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  if (Math.max(info.width, info.height) < side || info.channels !== 3) return null;
  const { width, height } = info;
  const open = () => sharp(data, { raw: { width, height, channels: 3 } });
  return { name, data, width, height, open };
}
