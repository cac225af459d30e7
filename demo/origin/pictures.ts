import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { ownFile } from '../../contract/package.ts';

/** The generated sample images by file name, with captions. */
export const pictures = {
  'landscape.jpg': 'A mountain lake after sunset',
  'coast.jpg': 'A beach from above',
  'bokeh.webp': 'Dew on a blade of grass',
  'lantern.png': 'A paper lantern, transparent around its glow',
  'portrait-rotated.jpg': 'Balloons at sunrise, stored on their side with EXIF orientation 6',
  'pulse.gif': 'Waves over a sunflower of dots, animated',
  'emblem.svg': 'A badge of peaks and a lake, as vectors',
} as const;

export type PictureName = keyof typeof pictures;

export const isPictureName = (name: string): name is PictureName => Object.hasOwn(pictures, name);

export const pictureNames: readonly PictureName[] = Object.keys(pictures).filter(isPictureName);

const subtypes: Readonly<Record<string, string>> = { jpg: 'jpeg', svg: 'svg+xml' };

/** The media type. */
export function toMediaType(name: PictureName): string {
  const extension = extname(name).slice(1);
  return `image/${subtypes[extension] ?? extension}`;
}

export const picture = (name: PictureName): Promise<Buffer> =>
  readFile(ownFile(`demo/origin/pictures/${name}`));
