import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { serveBodies } from '../../demo/origin/bodies.ts';
import { picture } from '../../demo/origin/pictures.ts';
import { type EncodedFormat, encoderOptions } from '../servers/encoder-settings.ts';
import type { ImageServer } from '../servers/server.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** The quality of all images, on JPEG's scale: that of a new project. */
export const requestedQuality = 80;

/** A picture, and the width of the images that are requested of it. */
export interface SourcePicture {
  /** With `{n}` at the end of its query, which the origin ignores. */
  readonly url: string;
  /** The same picture as a file, for programs that do not read URLs. */
  readonly file: string;
  readonly width: number;
  /** Of the output at that width. */
  readonly pixels: number;
}

/** The URL of a source's image on a server. */
export const imageUrlOf = (
  server: ImageServer,
  { url: source, width, pixels }: SourcePicture,
  format: EncodedFormat = 'jpeg',
): string => server.imageUrl({ source, width, format, pixels, quality: requestedQuality });

export interface SourcePictures {
  /** A JPEG of 2725 x 2225, to 800 px. */
  readonly photo: SourcePicture;
  /** The same, to 200 px. */
  readonly thumbnail: SourcePicture;
  /** A PNG with transparency of 1600 x 2000, to 600 px. */
  readonly alpha: SourcePicture;
  /** A small JPEG that takes little time, to 160 px. */
  readonly small: SourcePicture;
  /** A JPEG whose image, as a JPEG of the same width, has about this number of bytes. */
  sized(bytes: number): Promise<SourcePicture>;
  /** Another picture, and the width of its images. */
  add(name: string, body: Buffer, width: number): Promise<SourcePicture>;
  /** The bytes of a source's image as JPEG, encoded as the service does. */
  imageBytes(source: SourcePicture): Promise<number>;
  close(): Promise<void>;
}

/** Serves the pictures on a port of 127.0.0.1. */
export async function startSources(): Promise<SourcePictures> {
  const folder = await temporaryFolder('sources');
  const bodies = new Map<string, Buffer>();
  const server = await serveBodies((path) => bodies.get(path.split('?', 1)[0] ?? ''));
  const add = async (name: string, body: Buffer, width: number): Promise<SourcePicture> => {
    bodies.set(`/${name}`, body);
    const file = join(folder.path, name);
    await writeFile(file, body);
    const { autoOrient: upright } = await sharp(body).metadata();
    const height = Math.round((upright.height * width) / upright.width);
    return { url: `${server.url}/${name}?n={n}`, file, width, pixels: width * height };
  };
  const landscape = await picture('landscape.jpg');
  const resized = (width: number) =>
    sharp(landscape).resize(width).jpeg({ quality: 95 }).toBuffer();
  const imageBytes = async (body: Buffer | string, width: number): Promise<number> => {
    const options = encoderOptions('jpeg', requestedQuality, width * width);
    return (await sharp(body).resize(width).jpeg(options).toBuffer()).length;
  };
  const photo = await add('photo.jpg', landscape, 800);
  return {
    photo,
    thumbnail: { ...photo, width: 200, pixels: Math.round(photo.pixels / 16) },
    alpha: await add('alpha.png', await picture('lantern.png'), 600),
    small: await add('small.jpg', await resized(400), 160),
    add,
    async sized(bytes) {
      let [low, high] = [100, 2_700];
      while (high - low > 10) {
        const width = (low + high) >> 1;
        if ((await imageBytes(landscape, width)) < bytes) low = width;
        else high = width;
      }
      return add(`${bytes}-bytes.jpg`, await resized(low), low);
    },
    imageBytes: ({ file, width }) => imageBytes(file, width),
    async close() {
      await server.close();
      await folder.close();
    },
  };
}
