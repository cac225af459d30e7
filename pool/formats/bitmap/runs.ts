import { type BitmapHeader, corruptBitmap } from './header.ts';

/** Consecutive pixels of one row. */
interface Stretch {
  readonly row: number;
  readonly x: number;
  readonly length: number;
  /** Offset of the values. */
  readonly from: number;
  /** True if one value is repeated, or two alternate at 4 bits. */
  readonly repeated: boolean;
}

type Form = Pick<BitmapHeader, 'width' | 'height' | 'bits'>;

/**
 * Walks run-length codes: pairs of a count and a value, of 4 or 8 bits, or of 24 in OS/2's second
 * version; a count of 0 begins an escape. Positions only grow, so no pixel is painted twice. Takes time
 * for each code and not for each pixel, unless `paint` does.
 *
 * @param paint called for the pixels inside of the image
 * @returns number of pixels painted
 * @throws ServiceError source_corrupt for truncated codes
 */
function walkRuns(
  bytes: Buffer,
  at: number,
  { width, height, bits }: Form,
  paint: (stretch: Stretch) => void,
): number {
  let [from, x, row, painted] = [at, 0, 0, 0];
  const put = (count: number, repeated: boolean) => {
    const length = Math.min(count, width - x);
    if (length > 0) {
      paint({ row, x, length, from, repeated });
      painted += length;
    }
    x += count;
  };
  while (row < height) {
    if (from + 2 > bytes.length) {
      // Some writers omit the end code.
      if (row === height - 1 && x >= width) return painted;
      throw corruptBitmap('ends before its last pixel');
    }
    const [count = 0, code = 0] = [bytes[from], bytes[from + 1]];
    from += 1;
    if (count > 0) {
      const length = bits === 24 ? 3 : 1;
      requireBytes(bytes, from + length);
      put(count, true);
      from += length;
      continue;
    }
    from += 1;
    if (code === 0) {
      x = 0;
      row += 1;
    } else if (code === 1) return painted;
    else if (code === 2) {
      x += bytes[from] ?? 0;
      row += bytes[from + 1] ?? 0;
      from += 2;
    } else {
      const length = Math.ceil((code * bits) / 8);
      requireBytes(bytes, from + length);
      put(code, false);
      from += length + (length % 2);
    }
  }
  return painted;
}

export function requireBytes(bytes: Buffer, end: number): void {
  if (end > bytes.length) throw corruptBitmap('ends before its last pixel');
}

/** True if the codes skip pixels, which are transparent, as in browsers. */
export const skipsPixels = (bytes: Buffer, at: number, form: Form): boolean =>
  walkRuns(bytes, at, form, () => {}) < form.width * form.height;

/**
 * @param setPixel takes the offset of a colour of 24 bits, or an index into the palette
 * @throws ServiceError source_corrupt for truncated codes
 */
export function readRuns(
  bytes: Buffer,
  at: number,
  form: Form,
  setPixel: (row: number, x: number, from: number, index: number) => void,
): void {
  const { bits } = form;
  walkRuns(bytes, at, form, ({ row, x, length, from, repeated }) => {
    for (let pixel = 0; pixel < length; pixel += 1) {
      const value = repeated ? (bits === 4 ? pixel & 1 : 0) : pixel;
      const byteAt = from + ((value * bits) >> 3);
      const byte = bytes[byteAt] ?? 0;
      const index = bits !== 4 ? byte : value % 2 === 0 ? byte >> 4 : byte & 15;
      setPixel(row, x + pixel, byteAt, index);
    }
  });
}
