import sharp from 'sharp';
import type { Size } from '../../geometry.ts';
import type { FocalPoint } from '../../variant.ts';

export interface SmallPixels extends Size {
  /** RGBA, 8 bits per channel, not premultiplied. */
  readonly data: Uint8ClampedArray;
}

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

/**
 * Returns the centre of the square that `cover` with `attention` keeps, as far as the image allows:
 * libvips' smartcrop looks for skin tones, saturation and edges in a 32 x 32 pixel image.
 */
export async function findFocus({ data, width, height }: SmallPixels): Promise<FocalPoint> {
  const shorter = Math.min(width, height);
  if (Math.max(width, height) === 1) return { x: 0.5, y: 0.5 };
  // sharp computes the point only if the crop cuts something off, and skips the resize only if one
  // side stays the same.
  const side = { width: shorter, height: width === height ? shorter - 1 : shorter };
  const { info } = await sharp(data, { raw: { width, height, channels: 4 } })
    .resize({ ...side, fit: 'cover', position: 'attention' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { x: fraction(info.attentionX, width), y: fraction(info.attentionY, height) };
}

const fraction = (at = 0, length: number): number =>
  Math.min(1, Math.round((1000 * at) / length) / 1000);

/** Side of the scaled image for computing frequencies. */
const hashSide = 32;
/** Frequencies per direction, from 0. */
const frequencies = 8;

/** `cosines[frequency][position]` of a DCT-II. */
const cosines = Array.from({ length: frequencies }, (_, frequency) =>
  Array.from({ length: hashSide }, (_, at) =>
    Math.cos((Math.PI * frequency * (2 * at + 1)) / (2 * hashSide)),
  ),
);

/**
 * Returns an image's pHash, 64 bits as 16 hexadecimal digits: which of the 8 x 8 lowest frequencies
 * in a two-dimensional DCT-II of 32 x 32 luma pixels (ITU-R BT.601) exceed their median. Rows of
 * rising vertical frequency, highest bit first, like `phash` in Python's ImageHash. Transparency
 * counts as white.
 */
export async function perceptualHash({ data, width, height }: SmallPixels): Promise<string> {
  const rgb = await sharp(data, { raw: { width, height, channels: 4 } })
    .flatten({ background: '#ffffff' })
    .resize({ width: hashSide, height: hashSide, fit: 'fill' })
    .raw()
    .toBuffer();
  const luma = Array.from({ length: hashSide * hashSide }, (_, pixel) => {
    const [red = 0, green = 0, blue = 0] = rgb.subarray(3 * pixel);
    return 0.299 * red + 0.587 * green + 0.114 * blue;
  });
  const rows = Array.from({ length: hashSide }, (_, y) =>
    transformed(luma.slice(y * hashSide, (y + 1) * hashSide)),
  );
  const columns = Array.from({ length: frequencies }, (_, x) =>
    transformed(rows.map((row) => row[x] ?? 0)),
  );
  const values = cosines.flatMap((_, y) => columns.map((column) => rounded(column[y] ?? 0)));
  const sorted = [...values].sort((a, b) => a - b);
  const median = ((sorted[31] ?? 0) + (sorted[32] ?? 0)) / 2;
  const bits = values.map((value) => (value > median ? '1' : '0')).join('');
  return BigInt(`0b${bits}`).toString(16).padStart(16, '0');
}

/** Returns the lowest frequencies of a DCT-II. */
const transformed = (values: readonly number[]): number[] =>
  cosines.map((wave) => wave.reduce((sum, cosine, at) => sum + cosine * (values[at] ?? 0), 0));

/**
 * Removes floating-point errors, which would change the bits of a single colour between machines.
 */
const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;
