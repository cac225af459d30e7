import sharp from 'sharp';
import { type BodyServer, serveBodies } from '../origin/bodies.ts';
import { picture } from '../origin/pictures.ts';

/** Widths of the variants of each source, in pixels. */
const widths = Array.from({ length: 10 }, (_, index) => 40 + 30 * index);

/** Time for which a front end keeps the bytes of a source, in ms. */
const keptMs = 30_000;

/** An origin of small pictures, which can replace all of them. */
export interface Pictures {
  readonly origin: BodyServer;
  /** Fetches since the last reset. */
  readonly total: number;
  /** Fetches within 30 s of an earlier fetch of the same source, by its number, since the last reset. */
  readonly repeatedFetches: ReadonlyMap<number, number>;
  reset(): void;
  /** Replaces the picture of each source. */
  replace(): void;
}

export async function startPictures(): Promise<Pictures> {
  const resized = sharp(await picture('landscape.jpg')).resize(400);
  const versions = await Promise.all(
    [0, 120].map((hue) => resized.clone().modulate({ hue }).jpeg().toBuffer()),
  );
  const fetchedAt = new Map<number, number>();
  const repeatedFetches = new Map<number, number>();
  let total = 0;
  let version = 0;
  const origin = await serveBodies((path) => {
    const source = Number(path.slice(1));
    const now = performance.now();
    if (now - (fetchedAt.get(source) ?? -keptMs) < keptMs) {
      repeatedFetches.set(source, (repeatedFetches.get(source) ?? 0) + 1);
    }
    fetchedAt.set(source, now);
    total += 1;
    return versions[version];
  });
  return {
    origin,
    repeatedFetches,
    get total() {
      return total;
    },
    reset() {
      fetchedAt.clear();
      repeatedFetches.clear();
      total = 0;
    },
    replace() {
      version = 1;
    },
  };
}

/** The number of the source of a variant. */
export const sourceNumberOf = (variant: number): number => Math.floor(variant / widths.length);

/** The path and query of a variant, 0 or more. */
export function imagePathOf(variant: number, origin: string, project: string): string {
  const source = encodeURIComponent(`${origin}/${sourceNumberOf(variant)}`);
  return `/img/${source}?project=${project}&w=${widths[variant % widths.length]}&fmt=jpeg`;
}
