import sharp from 'sharp';
import { serveBodies } from '../../demo/origin/bodies.ts';
import { picture } from '../../demo/origin/pictures.ts';

/** Variant widths per source, in pixels. */
const widths = Array.from({ length: 10 }, (_, index) => 40 + 30 * index);

/** How long a front end keeps a source's bytes, ms. */
const ttlRangeMs = 30_000;

export type Pictures = Awaited<ReturnType<typeof startPictures>>;

/** Starts an origin with small images, and can replace them all. */
export async function startPictures() {
  const resized = sharp(await picture('landscape.jpg')).resize(400);
  const versions = await Promise.all(
    [0, 120].map((hue) => resized.clone().modulate({ hue }).jpeg().toBuffer()),
  );
  const fetchedAt = new Map<number, number>();
  const repeated = new Map<number, number>();
  let total = 0;
  let version = 0;
  const origin = await serveBodies((path) => {
    const source = Number(path.slice(1));
    const now = performance.now();
    if (now - (fetchedAt.get(source) ?? -ttlRangeMs) < ttlRangeMs) {
      repeated.set(source, (repeated.get(source) ?? 0) + 1);
    }
    fetchedAt.set(source, now);
    total += 1;
    return versions[version];
  });
  return {
    ...origin,
    /** The number of fetches so far. */
    total: () => total,
    /** The number of fetches so far within 30 s of an earlier fetch of the same source, by its number. */
    repeated: repeated as ReadonlyMap<number, number>,
    /** Replaces every source's image. */
    replace() {
      version = 1;
    },
  };
}

/** Returns the number of a variant's source. */
export const toSourceNumber = (variant: number): number => Math.floor(variant / widths.length);

/** Returns a variant's URL; variants count from 0. */
export function toImageUrl(variant: number, service: string, origin: string, project: string) {
  const source = encodeURIComponent(`${origin}/${toSourceNumber(variant)}`);
  const width = widths[variant % widths.length];
  return `${service}/img/${source}?project=${project}&w=${width}&fmt=jpeg`;
}
