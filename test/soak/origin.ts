import sharp from 'sharp';
import { serveBodies } from '../../demo/origin/bodies.ts';
import { picture } from '../../demo/origin/pictures.ts';
import { type PictureKind, pictures } from '../hostile/inputs/pictures.ts';

/** An origin on this machine with images to transform, hostile images and missing images. */
export interface SoakOrigin {
  readonly url: string;
  /** URLs of intact images. */
  readonly pictures: readonly string[];
  /** Intact small images, the originals of hostile images. */
  readonly originals: ReadonlyMap<PictureKind, Buffer>;
  /** Serves a body for a few minutes and returns its URL. */
  once(bytes: Buffer): string;
  missing(number: number): string;
  close(): Promise<void>;
}

const pictureCount = 24;
/** Enough for the service to fetch each. */
const keptHostile = 500;

export async function startSoakOrigin(port: number): Promise<SoakOrigin> {
  const bodies = new Map<string, Buffer>();
  const landscape = await picture('landscape.jpg');
  const small = await sharp(landscape).resize(1000).jpeg().toBuffer();
  for (let number = 0; number < pictureCount; number++) {
    const turned = sharp(small).modulate({ hue: number * 15 });
    const format = (['jpeg', 'png', 'webp'] as const)[number % 3] ?? 'jpeg';
    bodies.set(`/picture-${number}`, await turned.toFormat(format).toBuffer());
  }
  const pictureNames = [...bodies.keys()];
  const hostile = new Map<string, Buffer>();
  let serial = 0;
  const server = await serveBodies((path) => bodies.get(path) ?? hostile.get(path), port);
  const { url } = server;
  return {
    url,
    pictures: pictureNames.map((path) => url + path),
    originals: await pictures(),
    once(bytes) {
      serial += 1;
      const path = `/hostile-${serial}`;
      hostile.set(path, bytes);
      hostile.delete(`/hostile-${serial - keptHostile}`);
      return url + path;
    },
    missing: (number) => `${url}/missing-${number}`,
    close: server.close,
  };
}
