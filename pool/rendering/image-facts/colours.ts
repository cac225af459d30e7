import type { SmallPixels } from './pixels.ts';

export interface PaletteColour {
  /** `#rrggbb`. */
  readonly color: string;
  /** Fraction of the opaque area that is nearest to this colour, 0..1. */
  readonly share: number;
}

export const paletteSize = 5;

/**
 * Squared RGB distance below which two colours count as equal: the distance between neighbouring
 * groups.
 */
const minDistance = 3 * 16 ** 2;

type Rgb = readonly [red: number, green: number, blue: number];

/** Similar colours of an image: their mean, and the sum of their opacities. */
interface Group {
  readonly mean: Rgb;
  readonly weight: number;
}

/**
 * Returns the dominant colour as `#rrggbb`: the average of the most frequent of 4096 groups of
 * similar colours, weighted by opacity. Returns null for a fully transparent image.
 */
export function dominantColour(pixels: SmallPixels): string | null {
  const first = mostFrequent(groupColours(pixels));
  return first === null ? null : hex(first.mean);
}

/**
 * Returns the colours that represent an image best, by descending share; empty for a fully
 * transparent image. The first choice is the dominant colour. Each later choice is the group with
 * the greatest product of weight and squared distance to the chosen colours, so that a small area
 * in another colour counts too.
 */
export function palette(pixels: SmallPixels): PaletteColour[] {
  const groups = groupColours(pixels);
  const first = mostFrequent(groups);
  if (first === null) return [];
  const chosen: Rgb[] = [first.mean];
  while (chosen.length < paletteSize) {
    const next = farthest(groups, chosen);
    if (next === null) break;
    chosen.push(next.mean);
  }
  const weights = chosen.map(() => 0);
  for (const { mean, weight } of groups) {
    const index = nearest(mean, chosen).index;
    weights[index] = (weights[index] ?? 0) + weight;
  }
  const total = weights.reduce((sum, weight) => sum + weight);
  return chosen
    .map((mean, index) => ({
      color: hex(mean),
      share: Math.round((1000 * (weights[index] ?? 0)) / total) / 1000,
    }))
    .sort((a, b) => b.share - a.share);
}

/** Returns the used groups of 4096 groups of similar colours, in pixel order. */
function groupColours({ data }: SmallPixels): Group[] {
  const sums = new Map<number, { red: number; green: number; blue: number; weight: number }>();
  for (let at = 0; at < data.length; at += 4) {
    const [red = 0, green = 0, blue = 0, weight = 0] = data.subarray(at, at + 4);
    const key = ((red >> 4) << 8) | ((green >> 4) << 4) | (blue >> 4);
    const sum = sums.get(key) ?? { red: 0, green: 0, blue: 0, weight: 0 };
    sum.red += red * weight;
    sum.green += green * weight;
    sum.blue += blue * weight;
    sum.weight += weight;
    sums.set(key, sum);
  }
  return [...sums.values()]
    .filter(({ weight }) => weight > 0)
    .map(({ red, green, blue, weight }) => ({
      mean: [red / weight, green / weight, blue / weight],
      weight,
    }));
}

const mostFrequent = (groups: readonly Group[]): Group | null =>
  groups.reduce<Group | null>(
    (most, group) => (group.weight > (most?.weight ?? 0) ? group : most),
    null,
  );

function farthest(groups: readonly Group[], chosen: readonly Rgb[]): Group | null {
  let best: Group | null = null;
  let most = 0;
  for (const group of groups) {
    const { distance } = nearest(group.mean, chosen);
    if (distance < minDistance || group.weight * distance <= most) continue;
    best = group;
    most = group.weight * distance;
  }
  return best;
}

function nearest([red, green, blue]: Rgb, colours: readonly Rgb[]) {
  let [index, distance] = [0, Number.POSITIVE_INFINITY];
  for (const [at, [r, g, b]] of colours.entries()) {
    const squared = (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2;
    if (squared < distance) [index, distance] = [at, squared];
  }
  return { index, distance };
}

const hex = (mean: Rgb): string => `#${Buffer.from(mean.map(Math.round)).toString('hex')}`;
