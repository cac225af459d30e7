import { type BitmapHeader, corrupt } from './header.ts';

/** Pixels as sharp takes them. */
export interface RawPixels {
  readonly data: Buffer;
  readonly width: number;
  readonly height: number;
  readonly channels: 3 | 4;
}

export const hasAlpha = ({ masks, bits }: BitmapHeader): boolean => bits > 8 && masks[3] !== 0;

/**
 * Decodes the pixels of a bitmap.
 *
 * @param at where they begin in the bytes
 * @throws ServiceError source_corrupt when they end too early
 */
export function decodePixels(bytes: Buffer, at: number, header: BitmapHeader): RawPixels {
  const { width, height, topDown, bits, coding } = header;
  if (coding === 'plain') {
    // Before anything is allocated for pixels that are not there.
    const lastRow = Math.ceil((width * bits) / 8);
    requireBytes(bytes, at + stride(width, bits) * (height - 1) + lastRow);
  }
  const channels = hasAlpha(header) ? 4 : 3;
  const data = Buffer.alloc(width * height * channels);
  const rowOf = (row: number) => (topDown ? row : height - 1 - row) * width * channels;
  if (header.bits > 8) readDirect(bytes, at, header, { data, channels, rowOf });
  else readIndexed(bytes, at, header, { data, rowOf });
  return { data, width, height, channels };
}

/** Bytes of a row, which are a multiple of four. */
export const stride = (width: number, bits: number): number => 4 * Math.ceil((width * bits) / 32);

function requireBytes(bytes: Buffer, end: number): void {
  if (end > bytes.length) throw corrupt('ends before its last pixel');
}

interface Target {
  readonly data: Buffer;
  readonly rowOf: (row: number) => number;
}

function readDirect(
  bytes: Buffer,
  at: number,
  { width, height, bits, masks }: BitmapHeader,
  { data, channels, rowOf }: Target & { readonly channels: 3 | 4 },
): void {
  const rowBytes = stride(width, bits);
  const step = bits / 8;
  const scales = masks.slice(0, channels).map(channelOf);
  for (let row = 0; row < height; row += 1) {
    let from = at + row * rowBytes;
    let to = rowOf(row);
    for (let x = 0; x < width; x += 1, from += step) {
      if (bits === 24) {
        data[to] = bytes[from + 2] ?? 0;
        data[to + 1] = bytes[from + 1] ?? 0;
        data[to + 2] = bytes[from] ?? 0;
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

function channelOf(mask: number) {
  const shift = mask === 0 ? 0 : 31 - Math.clz32(mask & -mask);
  return { mask, shift, most: mask >>> shift };
}

function readIndexed(bytes: Buffer, at: number, header: BitmapHeader, target: Target): void {
  const { width, height, bits, coding } = header;
  const colours = readPalette(bytes, header);
  if (coding === 'runs') return readRuns(bytes, at, header, colours, target);
  const rowBytes = stride(width, bits);
  const perByte = 8 / bits;
  const mask = 2 ** bits - 1;
  for (let row = 0; row < height; row += 1) {
    const from = at + row * rowBytes;
    let to = target.rowOf(row);
    for (let x = 0; x < width; x += 1, to += 3) {
      const byte = bytes[from + Math.floor(x / perByte)] ?? 0;
      const index = (byte >> (8 - bits * ((x % perByte) + 1))) & mask;
      setColour(target.data, to, colours, index);
    }
  }
}

/** Red, green, blue of each colour; those that a pixel may name and are not there are black. */
function readPalette(bytes: Buffer, { palette, bits }: BitmapHeader): Uint8Array {
  const colours = new Uint8Array(3 * 2 ** bits);
  for (let index = 0; index < palette.colours; index += 1) {
    const at = palette.at + palette.bytes * index;
    if (at + 3 > bytes.length) break;
    colours.set([bytes[at + 2] ?? 0, bytes[at + 1] ?? 0, bytes[at] ?? 0], 3 * index);
  }
  return colours;
}

function setColour(data: Buffer, to: number, colours: Uint8Array, index: number): void {
  data[to] = colours[3 * index] ?? 0;
  data[to + 1] = colours[3 * index + 1] ?? 0;
  data[to + 2] = colours[3 * index + 2] ?? 0;
}

/** Run-length coding: pairs of a count and a value; a count of 0 leads an escape. */
function readRuns(
  bytes: Buffer,
  at: number,
  { width, height, bits }: BitmapHeader,
  colours: Uint8Array,
  { data, rowOf }: Target,
): void {
  // Pixels that are skipped have the first colour.
  for (let to = 0; to < data.length; to += 3) setColour(data, to, colours, 0);
  let [from, x, row] = [at, 0, 0];
  const put = (index: number) => {
    if (x < width && row < height) setColour(data, rowOf(row) + 3 * x, colours, index);
    x += 1;
  };
  const nibble = (byte: number, index: number) => (index % 2 === 0 ? byte >> 4 : byte & 15);
  while (row < height) {
    if (from + 2 > bytes.length) {
      // Some writers leave out the end behind the last row.
      if (row === height - 1 && x >= width) return;
      throw corrupt('ends before its last pixel');
    }
    const [count = 0, value = 0] = [bytes[from], bytes[from + 1]];
    from += 2;
    if (count > 0) {
      for (let index = 0; index < count; index += 1) put(bits === 8 ? value : nibble(value, index));
    } else if (value === 0) {
      x = 0;
      row += 1;
    } else if (value === 1) return;
    else if (value === 2) {
      x += bytes[from] ?? 0;
      row += bytes[from + 1] ?? 0;
      from += 2;
    } else {
      const length = bits === 8 ? value : Math.ceil(value / 2);
      requireBytes(bytes, from + length);
      for (let index = 0; index < value; index += 1) {
        const byte = bytes[from + (bits === 8 ? index : index >> 1)] ?? 0;
        put(bits === 8 ? byte : nibble(byte, index));
      }
      from += length + (length % 2);
    }
  }
}
