import type { RawPixels } from '../raw-pixels.ts';
import { type BitmapHeader, corruptBitmap } from './header.ts';

/** Consecutive pixels in a row. */
interface Run {
  readonly row: number;
  readonly x: number;
  readonly length: number;
  /** Offset of the values. */
  readonly from: number;
  /** Whether the run repeats a value, or alternates two values at 4 bits. */
  readonly repeated: boolean;
}

type PixelLayout = Pick<BitmapHeader, 'width' | 'height' | 'bits'>;

/**
 * Parses run-length codes: pairs of a count and a value with 4 or 8 bits, or 24 in OS/2's second
 * version; a count of 0 starts an escape. Positions only grow, so each pixel is in at most one run.
 * The time depends on the number of codes, not pixels.
 *
 * @throws ServiceError source_corrupt for truncated codes
 */
function* parseRuns(
  bytes: Buffer,
  at: number,
  { width, height, bits }: PixelLayout,
): Generator<Run> {
  let [from, x, row] = [at, 0, 0];
  while (row < height) {
    // Some writers omit the end code.
    if (from + 2 > bytes.length && row === height - 1 && x >= width) return;
    requireBytes(bytes, from + 2);
    const [count = 0, code = 0] = [bytes[from], bytes[from + 1]];
    from += count > 0 ? 1 : 2;
    if (count === 0 && code === 0) {
      x = 0;
      row += 1;
    } else if (count === 0 && code === 1) return;
    else if (count === 0 && code === 2) {
      x += bytes[from] ?? 0;
      row += bytes[from + 1] ?? 0;
      from += 2;
    } else {
      const repeated = count > 0;
      const values = repeated ? (bits === 24 ? 3 : 1) : Math.ceil((code * bits) / 8);
      requireBytes(bytes, from + values);
      const pixels = repeated ? count : code;
      const length = Math.min(pixels, width - x);
      if (length > 0) yield { row, x, length, from, repeated };
      x += pixels;
      from += values + (repeated ? 0 : values % 2);
    }
  }
}

function requireBytes(bytes: Buffer, end: number): void {
  if (end > bytes.length) throw corruptBitmap('ends before its last pixel');
}

/** Returns whether the codes skip pixels, which are transparent, as in browsers. */
export function skipsPixels(bytes: Buffer, at: number, layout: PixelLayout): boolean {
  let pixels = 0;
  for (const { length } of parseRuns(bytes, at, layout)) pixels += length;
  return pixels < layout.width * layout.height;
}

/**
 * @param setPixel takes a 24-bit colour's offset, or a palette index
 * @throws ServiceError source_corrupt for truncated codes
 */
function readRuns(
  bytes: Buffer,
  at: number,
  layout: PixelLayout,
  setPixel: (row: number, x: number, from: number, index: number) => void,
): void {
  const { bits } = layout;
  for (const { row, x, length, from, repeated } of parseRuns(bytes, at, layout)) {
    for (let pixel = 0; pixel < length; pixel += 1) {
      const value = repeated ? (bits === 4 ? pixel & 1 : 0) : pixel;
      const byteAt = from + ((value * bits) >> 3);
      const byte = bytes[byteAt] ?? 0;
      const index = bits !== 4 ? byte : value % 2 === 0 ? byte >> 4 : byte & 15;
      setPixel(row, x + pixel, byteAt, index);
    }
  }
}

export const hasAlpha = ({ masks, bits, skips }: BitmapHeader): boolean =>
  skips || (bits > 8 && masks[3] !== 0);

/** Returns false if alpha is 0 everywhere. */
export function isVisible({ data, channels }: RawPixels): boolean {
  if (channels === 3) return true;
  for (let at = 3; at < data.length; at += 4) if (data[at] !== 0) return true;
  return false;
}

/**
 * Decodes the pixels of a bitmap.
 *
 * @param at offset of the pixels
 * @throws ServiceError source_corrupt for truncated pixels
 */
export function decodePixels(
  bytes: Buffer,
  at: number,
  header: BitmapHeader,
  channels: 3 | 4 = hasAlpha(header) ? 4 : 3,
): RawPixels {
  const { width, height, topDown, bits, coding } = header;
  const rowBytes = stride(width, bits);
  if (coding === 'plain') {
    // Checks before allocating memory for the pixels.
    requireBytes(bytes, at + rowBytes * (height - 1) + Math.ceil((width * bits) / 8));
  }
  const data = Buffer.alloc(width * height * channels);
  const rowOffset = (row: number) => (topDown ? row : height - 1 - row) * width * channels;
  if (coding === 'runs') {
    const colours = readPalette(bytes, header);
    // Skipped pixels stay 0: transparent, or black in an icon, which includes a mask.
    readRuns(bytes, at, header, (row, x, from, index) => {
      const to = rowOffset(row) + channels * x;
      if (bits === 24) copyColour(bytes, from, data, to);
      else copyColour(colours, 3 * index, data, to);
      if (channels === 4) data[to + 3] = 255;
    });
    return { data, width, height, channels };
  }
  const readRow = rowReader(bytes, header, channels);
  for (let row = 0; row < height; row += 1) readRow(at + row * rowBytes, data, rowOffset(row));
  return { data, width, height, channels };
}

/** Returns the bytes per row, padded to a multiple of four. */
export const stride = (width: number, bits: number): number => 4 * Math.ceil((width * bits) / 32);

type ReadRow = (from: number, data: Buffer, to: number) => void;

/** Reads rows of 16-bit and 32-bit pixels by their masks, 24-bit rows, and rows with a palette. */
function rowReader(bytes: Buffer, header: BitmapHeader, channels: 3 | 4): ReadRow {
  const { width, bits, masks } = header;
  if (bits === 16 || bits === 32) {
    const scales = masks.slice(0, channels).map(toChannel);
    return (from, data, start) => {
      let to = start;
      for (let x = 0; x < width; x += 1) {
        const at = from + (x * bits) / 8;
        const pixel = bits === 16 ? bytes.readUInt16LE(at) : bytes.readUInt32LE(at);
        for (const { mask, shift, max } of scales) {
          const value = (pixel & mask) >>> shift;
          data[to] = max === 255 ? value : max === 0 ? 0 : Math.round((255 * value) / max);
          to += 1;
        }
      }
    };
  }
  if (bits === 24) {
    return (from, data, to) => {
      for (let x = 0; x < width; x += 1) copyColour(bytes, from + 3 * x, data, to + channels * x);
    };
  }
  const colours = readPalette(bytes, header);
  const perByte = 8 / bits;
  const mask = 2 ** bits - 1;
  return (from, data, to) => {
    for (let x = 0; x < width; x += 1) {
      const byte = bytes[from + Math.floor(x / perByte)] ?? 0;
      const index = (byte >> (8 - bits * ((x % perByte) + 1))) & mask;
      copyColour(colours, 3 * index, data, to + channels * x);
    }
  };
}

function toChannel(mask: number) {
  const shift = mask === 0 ? 0 : 31 - Math.clz32(mask & -mask);
  return { mask, shift, max: mask >>> shift };
}

/** Copies blue, green, red to red, green, blue. */
function copyColour(from: Uint8Array, at: number, to: Buffer, toAt: number): void {
  to[toAt] = from[at + 2] ?? 0;
  to[toAt + 1] = from[at + 1] ?? 0;
  to[toAt + 2] = from[at] ?? 0;
}

/**
 * Returns blue, green and red for every colour that a pixel can name; missing colours are black.
 */
function readPalette(bytes: Buffer, { palette, bits }: BitmapHeader): Uint8Array {
  const colours = new Uint8Array(bits > 8 ? 0 : 3 * 2 ** bits);
  for (let index = 0; index < palette.colours; index += 1) {
    const at = palette.at + palette.bytes * index;
    if (at + 3 > bytes.length) break;
    bytes.copy(colours, 3 * index, at, at + 3);
  }
  return colours;
}
