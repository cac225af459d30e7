import { type BitmapHeader, corrupt } from './header.ts';

/** Pixels of one row, of one value or of values behind each other. */
interface Stretch {
  readonly row: number;
  readonly x: number;
  readonly length: number;
  /** Where the values begin in the bytes. */
  readonly from: number;
  /** True where one value is repeated; of 4 bits, two take turns. */
  readonly repeated: boolean;
}

type Form = Pick<BitmapHeader, 'width' | 'height' | 'bits'>;

/**
 * Walks run-length codes: pairs of a count and a value, of 4 or 8 bits, or of 24 in OS/2's second
 * version; a count of 0 leads an escape. No pixel is met twice, because nothing leads back. Takes time
 * for each code and not for each pixel, unless `paint` does.
 *
 * @param paint called for what is inside of the picture
 * @returns pixels that were painted
 * @throws ServiceError source_corrupt when the codes end too early
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
      // Some writers leave out the end behind the last row.
      if (row === height - 1 && x >= width) return painted;
      throw corrupt('ends before its last pixel');
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
  if (end > bytes.length) throw corrupt('ends before its last pixel');
}

/** True where the codes leave out pixels, which are transparent, as in browsers. */
export const skipsPixels = (bytes: Buffer, at: number, form: Form): boolean =>
  walkRuns(bytes, at, form, () => {}) < form.width * form.height;

/**
 * @param setPixel takes a colour of 24 bits from the bytes, or one of the palette
 * @throws ServiceError source_corrupt when the codes end too early
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
