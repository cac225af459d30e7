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

export function requireBytes(bytes: Buffer, end: number): void {
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
export function readRuns(
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
