import sharp from 'sharp';

/**
 * Creates JPEGs as cameras write them and sharp does not (ITU-T T.81): with 4:2:2 and camera
 * metadata.
 */

/** Pixels with 8 bits per channel: red, green and blue. */
export interface Pixels {
  readonly data: Buffer;
  /** A multiple of 16. */
  readonly width: number;
  /** A multiple of 8. */
  readonly height: number;
}

const [frame, huffman, scan, app1] = [0xc0, 0xc4, 0xda, 0xe1];
const [startOfImage, endOfImage] = [Buffer.of(0xff, 0xd8), Buffer.of(0xff, 0xd9)];

function segment(marker: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const head = Buffer.of(0xff, marker, 0, 0);
  head.writeUInt16BE(2 + content.length, 2);
  return Buffer.concat([head, content]);
}

/**
 * Encodes a baseline JPEG with 4:2:2, like many cameras. Encodes Y, Cb and Cr with sharp as grey
 * images and interleaves their blocks: two Y, then Cb, then Cr. All use a grey image's tables.
 */
export async function jpeg422({ data, width, height }: Pixels, quality: number): Promise<Buffer> {
  const [y, cb, cr] = await Promise.all(
    planes422(data).map((plane) => greyScan(plane, { width, height }, quality)),
  );
  if (y === undefined || cb === undefined || cr === undefined) throw new Error('three planes');
  const bits = new BitWriter(y.data.length + cb.data.length + cr.data.length);
  for (let mcu = (width * height) / 128; mcu > 0; mcu--) {
    for (const component of [y, y, cb, cr]) component.copyBlock(bits);
  }
  const size = Buffer.of(8, height >> 8, height & 0xff, width >> 8, width & 0xff);
  // Identifier, samples in each direction, quantisation table.
  const components = Buffer.of(3, 1, 0x21, 0, 2, 0x11, 0, 3, 0x11, 0);
  const tablesOfAll = Buffer.of(3, 1, 0, 2, 0, 3, 0, 0, 63, 0);
  return Buffer.concat([
    startOfImage,
    ...y.tables,
    segment(frame, size, components),
    segment(scan, tablesOfAll),
    bits.end(),
    endOfImage,
  ]);
}

/** Y, and Cb and Cr with half its width (JFIF, ITU-T T.871). */
function planes422(rgb: Buffer): Buffer[] {
  const y = Buffer.alloc(rgb.length / 3);
  const [cb, cr] = [Buffer.alloc(y.length / 2), Buffer.alloc(y.length / 2)];
  const at = (index: number) => rgb[index] ?? 0;
  for (let pair = 0; pair < cb.length; pair++) {
    const from = 6 * pair;
    const [r1, g1, b1, r2, g2, b2] = [0, 1, 2, 3, 4, 5].map((i) => at(from + i)) as RgbPair;
    y[2 * pair] = Math.round(0.299 * r1 + 0.587 * g1 + 0.114 * b1);
    y[2 * pair + 1] = Math.round(0.299 * r2 + 0.587 * g2 + 0.114 * b2);
    const [r, g, b] = [(r1 + r2) / 2, (g1 + g2) / 2, (b1 + b2) / 2];
    cb[pair] = Math.min(255, Math.round(128 - 0.168736 * r - 0.331264 * g + 0.5 * b));
    cr[pair] = Math.min(255, Math.round(128 + 0.5 * r - 0.418688 * g - 0.081312 * b));
  }
  return [y, cb, cr];
}
type RgbPair = [number, number, number, number, number, number];

/** The blocks of a grey JPEG, from the first. */
interface GreyScan {
  /** The segments of its tables. */
  readonly tables: readonly Buffer[];
  readonly data: Buffer;
  /** Copies the next block unchanged: a component's blocks keep their order and codes. */
  copyBlock(to: BitWriter): void;
}

async function greyScan(
  plane: Buffer,
  size: { readonly width: number; readonly height: number },
  quality: number,
): Promise<GreyScan> {
  const { height } = size;
  const jpeg = await sharp(plane, { raw: { width: plane.length / height, height, channels: 1 } })
    .toColourspace('b-w')
    .jpeg({ quality, optimiseCoding: false })
    .toBuffer();
  const tables: Buffer[] = [];
  // The table for DC comes first.
  const codes: Uint16Array[] = [];
  let at = startOfImage.length;
  for (let marker = 0; marker !== scan; ) {
    marker = jpeg[at + 1] ?? scan;
    const end = at + 2 + jpeg.readUInt16BE(at + 2);
    if (marker === huffman) codes.push(readCodes(jpeg.subarray(at + 5, end)));
    if (marker !== frame && marker !== scan) tables.push(jpeg.subarray(at, end));
    at = end;
  }
  const data = unstuffed(jpeg.subarray(at, -endOfImage.length));
  const [dc, ac] = codes;
  if (dc === undefined || ac === undefined || codes.length > 2) throw new Error('other tables');
  let bit = 0;
  const peek = (from: number): number =>
    (data.readUIntBE(from >> 3, 3) >> (8 - (from & 7))) & 0xffff;
  /** A block ends after 63 coefficients, or with the symbol 0 (F.1.2.2). */
  const nextBlock = (from: number): number => {
    let to = from;
    for (let coefficient = 0; coefficient < 64; coefficient++) {
      const code = (coefficient === 0 ? dc : ac)[peek(to)] ?? 0;
      const [length, symbol] = [code >> 8, code & 0xff];
      to += length + (symbol & 0xf);
      if (coefficient > 0 && symbol === 0) break;
      if (coefficient > 0) coefficient += symbol >> 4;
    }
    return to;
  };
  return {
    tables,
    data,
    copyBlock(to) {
      for (const end = nextBlock(bit); bit < end; ) {
        const count = Math.min(16, end - bit);
        to.put(peek(bit) >> (16 - count), count);
        bit += count;
      }
    },
  };
}

/** Indexed by the next 16 bits: code length in the upper byte, and its symbol (C.2). */
function readCodes(table: Buffer): Uint16Array {
  const codes = new Uint16Array(0x1_0000);
  let from = 0;
  let next = 16;
  for (let length = 1; length <= 16; length++) {
    for (let count = table[length - 1] ?? 0; count > 0; count--) {
      const to = from + (1 << (16 - length));
      codes.fill((length << 8) | (table[next++] ?? 0), from, to);
      from = to;
    }
  }
  return codes;
}

/** Removes the zeros after all-ones bytes (B.1.1.5), and appends bytes to read past the end. */
function unstuffed(data: Buffer): Buffer {
  const result = Buffer.alloc(data.length + 3, 0xff);
  let length = 0;
  for (let at = 0; at < data.length; at++) {
    result[length++] = data[at] ?? 0;
    if (data[at] === 0xff) at++;
  }
  return result.subarray(0, length + 3);
}

class BitWriter {
  readonly #bytes: Buffer;
  #length = 0;
  #bits = 0;
  #count = 0;

  constructor(maxBytes: number) {
    // A zero follows each all-ones byte.
    this.#bytes = Buffer.alloc(2 * maxBytes);
  }

  /** @param count at most 16 */
  put(value: number, count: number): void {
    this.#bits = (this.#bits << count) | value;
    this.#count += count;
    for (; this.#count >= 8; this.#count -= 8) {
      const byte = (this.#bits >> (this.#count - 8)) & 0xff;
      this.#bytes[this.#length++] = byte;
      if (byte === 0xff) this.#length++;
    }
    this.#bits &= 0xff;
  }

  /** Returns the bytes, with the last byte padded with ones. */
  end(): Buffer {
    if (this.#count > 0) this.put(0xff >> this.#count, 8 - this.#count);
    return this.#bytes.subarray(0, this.#length);
  }
}

/** A camera's EXIF; maker's note and thumbnail can be empty. */
export interface CameraExif {
  /** The rotation needed for display, 1 to 8; 1 is upright. */
  readonly orientation?: number;
  readonly thumbnail?: Buffer;
  /** Of the maker's note; a segment has room for 65,000 bytes of all. */
  readonly noteBytes?: number;
}

/** Inserts a camera's EXIF into a JPEG without EXIF. */
export function withExif(
  jpeg: Buffer,
  { orientation = 1, thumbnail = Buffer.of(), noteBytes = 0 }: CameraExif,
): Buffer {
  const note = Buffer.alloc(noteBytes, 'note ');
  const [short, long, undefinedType] = [3, 4, 7];
  // The offsets of the directories follow from their numbers of entries.
  const [firstAt, exifAt, secondAt, noteAt] = [8, 38, 56, 98];
  const tiff = Buffer.concat([
    Buffer.of(0x49, 0x49, 42, 0, firstAt, 0, 0, 0),
    directory(secondAt, [0x0112, short, 1, orientation], [0x8769, long, 1, exifAt]),
    directory(0, [0x927c, undefinedType, note.length, noteAt]),
    directory(
      0,
      [0x0103, short, 1, 6],
      [0x0201, long, 1, noteAt + note.length],
      [0x0202, long, 1, thumbnail.length],
    ),
    note,
    thumbnail,
  ]);
  const exif = segment(app1, Buffer.from('Exif\0\0'), tiff);
  return Buffer.concat([startOfImage, exif, jpeg.subarray(startOfImage.length)]);
}

/** @param next the offset of the next directory */
function directory(
  next: number,
  ...entries: ReadonlyArray<readonly [tag: number, type: number, count: number, value: number]>
): Buffer {
  const bytes = Buffer.alloc(2 + 12 * entries.length + 4);
  bytes.writeUInt16LE(entries.length);
  for (const [index, [tag, type, count, value]] of entries.entries()) {
    const at = 2 + 12 * index;
    bytes.writeUInt16LE(tag, at);
    bytes.writeUInt16LE(type, at + 2);
    bytes.writeUInt32LE(count, at + 4);
    bytes.writeUInt32LE(value, at + 8);
  }
  bytes.writeUInt32LE(next, bytes.length - 4);
  return bytes;
}
