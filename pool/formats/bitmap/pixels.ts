import type { BitmapHeader } from './header.ts';
import { readRuns, requireBytes } from './runs.ts';

/** Raw pixels, as input of sharp. */
export interface RawPixels {
  readonly data: Buffer;
  readonly width: number;
  readonly height: number;
  readonly channels: 3 | 4;
}

export const hasAlpha = ({ masks, bits, skips }: BitmapHeader): boolean =>
  skips || (bits > 8 && masks[3] !== 0);

/** False if alpha is 0 everywhere. */
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
export function decodePixels(bytes: Buffer, at: number, header: BitmapHeader): RawPixels {
  const { width, height, topDown, bits, coding } = header;
  if (coding === 'plain') {
    // Checked before memory for the pixels is allocated.
    const lastRow = Math.ceil((width * bits) / 8);
    requireBytes(bytes, at + stride(width, bits) * (height - 1) + lastRow);
  }
  const channels = hasAlpha(header) ? 4 : 3;
  const data = Buffer.alloc(width * height * channels);
  const rowOf = (row: number) => (topDown ? row : height - 1 - row) * width * channels;
  const target = { data, channels, rowOf } as const;
  if (coding === 'runs') readCoded(bytes, at, header, target);
  else if (bits > 8) readDirect(bytes, at, header, target);
  else readIndexed(bytes, at, header, target);
  return { data, width, height, channels };
}

/** Bytes of a row, padded to a multiple of four. */
export const stride = (width: number, bits: number): number => 4 * Math.ceil((width * bits) / 32);

interface Target {
  readonly data: Buffer;
  readonly channels: 3 | 4;
  readonly rowOf: (row: number) => number;
}

function readDirect(
  bytes: Buffer,
  at: number,
  { width, height, bits, masks }: BitmapHeader,
  { data, channels, rowOf }: Target,
): void {
  const rowBytes = stride(width, bits);
  const step = bits / 8;
  const scales = masks.slice(0, channels).map(channelOf);
  for (let row = 0; row < height; row += 1) {
    let from = at + row * rowBytes;
    let to = rowOf(row);
    for (let x = 0; x < width; x += 1, from += step) {
      if (bits === 24) {
        copyColour(bytes, from, data, to);
        to += 3;
        continue;
      }
      const pixel = bits === 16 ? bytes.readUInt16LE(from) : bytes.readUInt32LE(from);
      for (const { mask, shift, most } of scales) {
        const value = (pixel & mask) >>> shift;
        data[to] = most === 255 ? value : most === 0 ? 0 : Math.round((255 * value) / most);
        to += 1;
      }
    }
  }
}

/** Copies blue, green, red to red, green, blue. */
function copyColour(from: Uint8Array, at: number, to: Buffer, toAt: number): void {
  to[toAt] = from[at + 2] ?? 0;
  to[toAt + 1] = from[at + 1] ?? 0;
  to[toAt + 2] = from[at] ?? 0;
}

/** Skipped pixels stay 0: transparent, or black in an icon, which has a mask. */
function readCoded(
  bytes: Buffer,
  at: number,
  header: BitmapHeader,
  { data, channels, rowOf }: Target,
): void {
  const colours = readPalette(bytes, header);
  readRuns(bytes, at, header, (row, x, from, index) => {
    const to = rowOf(row) + channels * x;
    if (header.bits === 24) copyColour(bytes, from, data, to);
    else copyColour(colours, 3 * index, data, to);
    if (channels === 4) data[to + 3] = 255;
  });
}

function channelOf(mask: number) {
  const shift = mask === 0 ? 0 : 31 - Math.clz32(mask & -mask);
  return { mask, shift, most: mask >>> shift };
}

function readIndexed(bytes: Buffer, at: number, header: BitmapHeader, target: Target): void {
  const { width, height, bits } = header;
  const colours = readPalette(bytes, header);
  const rowBytes = stride(width, bits);
  const perByte = 8 / bits;
  const mask = 2 ** bits - 1;
  for (let row = 0; row < height; row += 1) {
    const from = at + row * rowBytes;
    let to = target.rowOf(row);
    for (let x = 0; x < width; x += 1, to += 3) {
      const byte = bytes[from + Math.floor(x / perByte)] ?? 0;
      const index = (byte >> (8 - bits * ((x % perByte) + 1))) & mask;
      copyColour(colours, 3 * index, target.data, to);
    }
  }
}

/** Blue, green, red of each colour that a pixel can name; missing ones are black. */
function readPalette(bytes: Buffer, { palette, bits }: BitmapHeader): Uint8Array {
  const colours = new Uint8Array(bits > 8 ? 0 : 3 * 2 ** bits);
  for (let index = 0; index < palette.colours; index += 1) {
    const at = palette.at + palette.bytes * index;
    if (at + 3 > bytes.length) break;
    bytes.copy(colours, 3 * index, at, at + 3);
  }
  return colours;
}
