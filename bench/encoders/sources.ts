import sharp, { type Sharp } from 'sharp';
import { picture } from '../origin/pictures.ts';
import { type Reference, toReference } from './ssim.ts';

/** JPEG sources: a source that was encoded as WebP or AVIF would favour that encoder. */
const names = ['landscape.jpg', 'coast.jpg', 'portrait-rotated.jpg'] as const;
const widths = [400, 800, 1600] as const;

/** A photograph at one size, as pixels: the input of an encoder. */
export interface Source {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly reference: Reference;
  /** A new sharp pipeline with the pixels as its input. */
  open(): Sharp;
}

export async function loadSources(): Promise<Source[]> {
  const loaded: Source[] = [];
  for (const name of names) {
    const file = await picture(name);
    for (const width of widths) {
      const { data, info } = await sharp(file, { autoOrient: true })
        .resize({ width })
        .raw()
        .toBuffer({ resolveWithObject: true });
      const raw = { width: info.width, height: info.height, channels: info.channels };
      const open = () => sharp(data, { raw });
      const reference = await toReference(open());
      loaded.push({ name, width: info.width, height: info.height, reference, open });
    }
  }
  return loaded;
}
