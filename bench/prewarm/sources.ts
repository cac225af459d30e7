import sharp from 'sharp';
import { serveBodies } from '../origin/bodies.ts';
import { picture } from '../origin/pictures.ts';

/** An origin of pictures that are all different but cost the same to transform. */
export interface Sources {
  /** The URL of a picture; numbers start at 0. */
  url(set: string, number: number): string;
  /** How often a picture was fetched. */
  fetches(set: string, number: number): number;
  close(): Promise<void>;
}

const size = { width: 2000, height: 1500 };

/** @param sets how many pictures each set has, by its name */
export async function startSources(sets: Readonly<Record<string, number>>): Promise<Sources> {
  const landscape = await picture('landscape.jpg');
  const bodies = new Map<string, Buffer>();
  const fetches = new Map<string, number>();
  let hue = 0;
  for (const [set, count] of Object.entries(sets)) {
    for (let number = 0; number < count; number++) {
      hue += 7;
      const image = sharp(landscape)
        .resize({ ...size, position: 'attention' })
        .modulate({ hue });
      bodies.set(`/${set}/${number}.jpg`, await image.jpeg({ quality: 85 }).toBuffer());
    }
  }
  const server = await serveBodies((path) => {
    fetches.set(path, (fetches.get(path) ?? 0) + 1);
    return bodies.get(path);
  });
  return {
    url: (set, number) => `${server.url}/${set}/${number}.jpg`,
    fetches: (set, number) => fetches.get(`/${set}/${number}.jpg`) ?? 0,
    close: server.close,
  };
}
