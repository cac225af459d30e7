import { readFile } from 'node:fs/promises';

/** The properties of a sample picture. */
export interface Picture {
  readonly type: 'image/jpeg' | 'image/webp' | 'image/png' | 'image/gif' | 'image/svg+xml';
  /** Pixels of one frame, after the EXIF orientation is applied. */
  readonly width: number;
  readonly height: number;
  /** One line, usable as an image's alternative text. */
  readonly caption: string;
}

/** Every picture by its file name. They are generated, so there is nothing to license or to fetch. */
export const pictures = {
  'landscape.jpg': {
    type: 'image/jpeg',
    width: 2725,
    height: 2225,
    caption: 'A mountain lake after sunset',
  },
  'coast.jpg': {
    type: 'image/jpeg',
    width: 2160,
    height: 1440,
    caption: 'A beach from above',
  },
  'bokeh.webp': {
    type: 'image/webp',
    width: 2000,
    height: 1333,
    caption: 'Dew on a blade of grass',
  },
  'lantern.png': {
    type: 'image/png',
    width: 1600,
    height: 2000,
    caption: 'A paper lantern, transparent around its glow',
  },
  'portrait-rotated.jpg': {
    type: 'image/jpeg',
    width: 1800,
    height: 2400,
    caption: 'Balloons at sunrise, stored on their side with EXIF orientation 6',
  },
  'pulse.gif': {
    type: 'image/gif',
    width: 420,
    height: 420,
    caption: 'Waves over a sunflower of dots, animated',
  },
  'emblem.svg': {
    type: 'image/svg+xml',
    width: 800,
    height: 800,
    caption: 'A badge of peaks and a lake, as vectors',
  },
} as const satisfies Readonly<Record<string, Picture>>;

export type PictureName = keyof typeof pictures;

export function isPictureName(name: string): name is PictureName {
  return Object.hasOwn(pictures, name);
}

export const pictureNames: readonly PictureName[] = Object.keys(pictures).filter(isPictureName);

const files = new Map<PictureName, Promise<Buffer>>();

/** The bytes of a picture's file, which is read once. */
export function picture(name: PictureName): Promise<Buffer> {
  const known = files.get(name);
  if (known !== undefined) return known;
  const file = readFile(new URL(`pictures/${name}`, import.meta.url));
  files.set(name, file);
  return file;
}
