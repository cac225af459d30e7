import { paintBalloons } from './scenes/balloons.ts';
import { paintBokeh } from './scenes/bokeh.ts';
import { paintCoast } from './scenes/coast.ts';
import { drawEmblem } from './scenes/emblem.ts';
import { paintLandscape } from './scenes/landscape.ts';
import { paintLantern } from './scenes/lantern.ts';
import { paintPulse } from './scenes/pulse.ts';

/** One sample picture: its properties, and the function that makes it. */
export interface Picture {
  readonly type: 'image/jpeg' | 'image/webp' | 'image/png' | 'image/gif' | 'image/svg+xml';
  /** Pixels of one frame, after the EXIF orientation is applied. */
  readonly width: number;
  readonly height: number;
  /** One line, usable as an image's alternative text. */
  readonly caption: string;
  /** Renders the file; the same bytes on every call. Takes up to two seconds of CPU. */
  readonly make: () => Promise<Buffer>;
}

/** Every picture by its file name; generated, so there is nothing to license or to fetch. */
export const pictures = {
  'landscape.jpg': {
    type: 'image/jpeg',
    width: 2725,
    height: 2225,
    caption: 'A mountain lake after sunset',
    make: paintLandscape,
  },
  'coast.jpg': {
    type: 'image/jpeg',
    width: 2160,
    height: 1440,
    caption: 'A beach from above',
    make: paintCoast,
  },
  'bokeh.webp': {
    type: 'image/webp',
    width: 2000,
    height: 1333,
    caption: 'Dew on a blade of grass',
    make: paintBokeh,
  },
  'lantern.png': {
    type: 'image/png',
    width: 1600,
    height: 2000,
    caption: 'A paper lantern, transparent around its glow',
    make: paintLantern,
  },
  'portrait-rotated.jpg': {
    type: 'image/jpeg',
    width: 1800,
    height: 2400,
    caption: 'Balloons at sunrise, stored on their side with EXIF orientation 6',
    make: paintBalloons,
  },
  'pulse.gif': {
    type: 'image/gif',
    width: 420,
    height: 420,
    caption: 'Waves over a sunflower of dots, animated',
    make: paintPulse,
  },
  'emblem.svg': {
    type: 'image/svg+xml',
    width: 800,
    height: 800,
    caption: 'A badge of peaks and a lake, as vectors',
    make: drawEmblem,
  },
} as const satisfies Readonly<Record<string, Picture>>;

export type PictureName = keyof typeof pictures;

export function isPictureName(name: string): name is PictureName {
  return Object.hasOwn(pictures, name);
}

export const pictureNames: readonly PictureName[] = Object.keys(pictures).filter(isPictureName);

const made = new Map<PictureName, Promise<Buffer>>();

/** The picture's file, painted on the first call and kept in memory for all later ones. */
export function picture(name: PictureName): Promise<Buffer> {
  const known = made.get(name);
  if (known !== undefined) return known;
  const painting = pictures[name].make();
  made.set(name, painting);
  // A failure is not cached: the next caller tries again.
  painting.catch(() => made.delete(name));
  return painting;
}
