import sharp from 'sharp';
import type { SmallPixels } from './pixels.ts';

/** Side of the scaled image for computing frequencies. */
const side = 32;
/** Frequencies per direction, from 0. */
const frequencies = 8;

/** `cosines[frequency][position]` of a DCT-II. */
const cosines = Array.from({ length: frequencies }, (_, frequency) =>
  Array.from({ length: side }, (_, at) =>
    Math.cos((Math.PI * frequency * (2 * at + 1)) / (2 * side)),
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
    .resize({ width: side, height: side, fit: 'fill' })
    .raw()
    .toBuffer();
  const luma = Array.from({ length: side * side }, (_, pixel) => {
    const [red = 0, green = 0, blue = 0] = rgb.subarray(3 * pixel);
    return 0.299 * red + 0.587 * green + 0.114 * blue;
  });
  const rows = Array.from({ length: side }, (_, y) =>
    transformed(luma.slice(y * side, (y + 1) * side)),
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
