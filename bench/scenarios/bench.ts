import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { serveBodies } from '../../demo/origin/bodies.ts';
import { picture } from '../../demo/origin/pictures.ts';
import type { Results } from '../report.ts';
import { type OpenResources, temporaryFolder } from '../resources.ts';
import { type EncodedFormat, encoderOptions, type ImageServer } from '../servers/server.ts';

/** A scenario's inputs. `M`: the measures' names. */
export interface Bench<M extends string = string> {
  /** Fewer rounds, cases and requests: the figures are preliminary. */
  readonly quick: boolean;
  readonly rounds: number;
  /** A measurement's duration. */
  readonly seconds: number;
  readonly cores: number;
  readonly sources: SourcePictures;
  readonly results: Results<M>;
  /** Closed after the scenario. */
  readonly opened: OpenResources;
  /** Folder of photographs, and the command that scores them; null if not given. */
  readonly photographs: string | null;
  readonly ssimulacra2: string | null;
  /** Of the command line. */
  readonly peers: readonly ImageServer[];
}

let lastNumber = 0;
/** The first of a million numbers that no request has used before. */
export function unusedNumber(): number {
  lastNumber += 1_000_000;
  return lastNumber;
}

/** The quality for all images, on JPEG's scale; the default for new projects. */
export const requestedQuality = 80;

/** A source image, and the width of the images requested from it. */
export interface SourcePicture {
  /** Its query ends with `{n}`, which the origin ignores. */
  readonly url: string;
  /** The same image as a file, for programs that cannot read URLs. */
  readonly file: string;
  readonly width: number;
  /** Of the output at that width. */
  readonly pixels: number;
}

/** Returns the URL of a source's image on a server. */
export const toImageUrl = (
  server: ImageServer,
  { url: source, width, pixels }: SourcePicture,
  format: EncodedFormat = 'jpeg',
  quality = requestedQuality,
): string => server.imageUrl({ source, width, format, pixels, quality });

export interface SourcePictures {
  /** A 2725 x 2225 JPEG, scaled to 800 px. */
  readonly photo: SourcePicture;
  /** The same, to 200 px. */
  readonly thumbnail: SourcePicture;
  /** A 1600 x 2000 PNG with transparency, scaled to 600 px. */
  readonly alpha: SourcePicture;
  /** A small JPEG that takes little time, to 160 px. */
  readonly small: SourcePicture;
  /** Creates a JPEG whose image, as a JPEG with the same width, is about this many bytes long. */
  sized(bytes: number): Promise<SourcePicture>;
  /** Adds a source with the width of its images. */
  add(name: string, body: Buffer, width: number): Promise<SourcePicture>;
  /** Returns the bytes of a source's image as JPEG, encoded like the service. */
  imageBytes(source: SourcePicture): Promise<number>;
  close(): Promise<void>;
}

/** Serves the sources on a port of 127.0.0.1. */
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
