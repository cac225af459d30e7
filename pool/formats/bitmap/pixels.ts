import type { RawPixels } from '../raw-pixels.ts';
import type { BitmapHeader } from './header.ts';
import { readRuns, requireBytes } from './runs.ts';

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
