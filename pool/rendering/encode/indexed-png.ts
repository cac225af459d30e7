import { deflateSync } from 'node:zlib';
import { pngChunk, pngColourType, pngHead } from '../../formats/png/parts.ts';
import type { Size } from '../../geometry.ts';

/** A still image with 8 bits per channel: grey, grey and alpha, RGB, or RGBA not premultiplied. */
export interface RawImage extends Size {
  readonly data: Uint8Array;
  readonly channels: number;
}

/** Returns channel offsets in a pixel, which starts with red or grey; `alpha` is null if absent. */
export const channelOffsets = ({ channels }: RawImage) => ({
  green: channels < 3 ? 0 : 1,
  blue: channels < 3 ? 0 : 2,
  alpha: channels % 2 === 0 ? channels - 1 : null,
});

const maxColours = 256;
/** An index to more greys is as large as the grey value itself, which compresses better. */
const maxGreys = 16;

/**
 * Encodes an image losslessly as an indexed PNG (PNG specification, third edition, colour type 3).
 * Returns null for more than 256 colours, which a photograph's first rows reveal, or for so few
 * pixels that the palette would cost more than it saves.
 *
 * sharp's palettes come from a quantiser, which changes colours even if they all fit a palette.
 */
export function indexedPng(image: RawImage): Buffer | null {
  const { width, height } = image;
  const indexed = toIndexes(image);
  if (indexed === null) return null;
  const { indexes, colours } = indexed;
  const most = image.channels === 1 ? maxGreys : (width * height) / 4;
  if (colours.length > most) return null;

  // Sorts transparent entries first, because tRNS can omit trailing opaque entries.
  const opaque = (entry: number) => (toAlpha(colours[entry] ?? 0) === 255 ? 1 : 0);
  const order = [...colours.keys()].sort((a, b) => opaque(a) - opaque(b));
  const newIndexes = new Uint8Array(maxColours);
  for (const [to, from] of order.entries()) newIndexes[from] = to;
  const palette = order.map((from) => colours[from] ?? 0);
  const alphas = palette.map(toAlpha).filter((alpha) => alpha < 255);

  const bits = [1, 2, 4, 8].find((depth) => colours.length <= 2 ** depth) ?? 8;
  return Buffer.concat([
    ...pngHead(image, bits, pngColourType.indexed),
    ...pngChunk('PLTE', Buffer.from(palette.flatMap(toRgb))),
    ...(alphas.length === 0 ? [] : pngChunk('tRNS', Buffer.from(alphas))),
    ...pngChunk(
      'IDAT',
      deflateSync(packRows(indexes, newIndexes, width, height, bits), { level: 6 }),
    ),
    ...pngChunk('IEND'),
  ]);
}

const toAlpha = (colour: number) => colour & 255;
const toRgb = (colour: number) => [colour >>> 24, (colour >>> 16) & 255, (colour >>> 8) & 255];

/**
 * Returns colours as numbers 0xrrggbbaa, ordered by their first pixels; null for too many colours.
 */
function toIndexes(image: RawImage) {
  const { data, width, height, channels } = image;
  const indexes = new Uint8Array(width * height);
  const known = new Map<number, number>();
  const { green, blue, alpha } = channelOffsets(image);
  let last = -1;
  let index = 0;
  for (let pixel = 0, at = 0; pixel < indexes.length; pixel += 1, at += channels) {
    const opacity = alpha === null ? 255 : (data[at + alpha] ?? 0);
    const rgb =
      ((data[at] ?? 0) << 24) | ((data[at + green] ?? 0) << 16) | ((data[at + blue] ?? 0) << 8);
    // Fully transparent pixels all count as one colour.
    const colour = opacity === 0 ? 0 : (rgb | opacity) >>> 0;
    if (colour !== last) {
      last = colour;
      const found = known.get(colour);
      if (found === undefined && known.size === maxColours) return null;
      index = found ?? known.size;
      if (found === undefined) known.set(colour, index);
    }
    indexes[pixel] = index;
  }
  return { indexes, colours: [...known.keys()] };
}

/** Starts each row with its filter type, 0: unfiltered, because adjacent indexes are unrelated. */
function packRows(
  indexes: Uint8Array,
  newIndexes: Uint8Array,
  width: number,
  height: number,
  bits: number,
): Uint8Array {
  const perByte = 8 / bits;
  const rowBytes = 1 + Math.ceil(width / perByte);
  const rows = new Uint8Array(rowBytes * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const to = y * rowBytes + 1 + Math.floor(x / perByte);
      const shift = 8 - bits * ((x % perByte) + 1);
      rows[to] = (rows[to] ?? 0) | ((newIndexes[indexes[y * width + x] ?? 0] ?? 0) << shift);
    }
  }
  return rows;
}
