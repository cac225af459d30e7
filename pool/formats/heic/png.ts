import { crc32 } from 'node:zlib';
import type { Size } from '../../geometry.ts';
import { pngChunk, pngColourType, pngHead, pngProfile } from '../png/parts.ts';

export interface PngForm extends Size {
  /** RGB, or RGB and alpha. */
  readonly channels: 3 | 4;
}

export interface PngMetadata {
  readonly icc: Uint8Array | undefined;
  readonly exif: Uint8Array | undefined;
  readonly xmp: Uint8Array | undefined;
}

const exifPrefix = Buffer.from('Exif\0\0', 'latin1');

/**
 * Writes an uncompressed PNG (W3C, PNG third edition) to a separate ArrayBuffer. Writes it once and
 * in place, because a copy of a large image's pixels would exceed the process's memory.
 *
 * @param read writes the row `y`
 */
export function pngOfRows(
  form: PngForm,
  { icc, exif, xmp }: PngMetadata,
  read: (y: number, row: Uint8Array) => void,
): Buffer<ArrayBuffer> {
  const colourType = form.channels === 4 ? pngColourType.rgba : pngColourType.rgb;
  const before = Buffer.concat([
    ...pngHead(form, 8, colourType),
    ...(icc === undefined ? [] : pngProfile(icc)),
    ...(exif === undefined ? [] : pngChunk('eXIf', withoutPrefix(exif))),
    ...(xmp === undefined ? [] : pngChunk('iTXt', Buffer.from('XML:com.adobe.xmp\0\0\0\0\0'), xmp)),
  ]);
  const after = Buffer.concat(pngChunk('IEND'));
  const dataBytes = storedBytes(form);
  const png = Buffer.from(new ArrayBuffer(before.length + chunkBytes + dataBytes + after.length));
  png.set(before, 0);
  const chunk = png.subarray(before.length, png.length - after.length);
  chunk.writeUInt32BE(dataBytes, 0);
  chunk.write('IDAT', 4, 'latin1');
  writeStored(form, chunk.subarray(8, -4), read);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), chunk.length - 4);
  png.set(after, png.length - after.length);
  return png;
}

/** Per chunk, excluding its data: length, name and checksum. */
const chunkBytes = 12;

function withoutPrefix(exif: Uint8Array): Uint8Array {
  const start = exif.subarray(0, exifPrefix.length);
  return exifPrefix.equals(start) ? exif.subarray(exifPrefix.length) : exif;
}

/** Maximum bytes in a stored block (RFC 1951, 3.2.4), which starts with a 5-byte header. */
const maxBlock = 65_535;
const blockHead = 5;

/**
 * Returns the bytes in a row, including the first byte, which names the filter: 0 for unfiltered.
 */
const rowBytes = ({ width, channels }: PngForm): number => 1 + width * channels;

/**
 * Returns the length of the zlib stream from {@link writeStored}: 2 bytes before the blocks, and 4
 * after them.
 */
function storedBytes(form: PngForm): number {
  const row = rowBytes(form);
  return 2 + form.height * (row + blockHead * Math.ceil(row / maxBlock)) + 4;
}

/** Writes an uncompressed zlib stream (RFC 1950). Rows do not share blocks. */
function writeStored(
  form: PngForm,
  target: Buffer,
  read: (y: number, row: Uint8Array) => void,
): void {
  const row = Buffer.alloc(rowBytes(form));
  let at = target.writeUInt16BE(0x7801, 0);
  let sum = 1;
  for (let y = 0; y < form.height; y += 1) {
    read(y, row.subarray(1));
    sum = adler32(row, sum);
    for (let from = 0; from < row.length; from += maxBlock) {
      const block = row.subarray(from, from + maxBlock);
      const isLast = y === form.height - 1 && from + block.length === row.length;
      at = target.writeUInt8(isLast ? 1 : 0, at);
      at = target.writeUInt16LE(block.length, at);
      at = target.writeUInt16LE(maxBlock - block.length, at);
      target.set(block, at);
      at += block.length;
    }
  }
  target.writeUInt32BE(sum, at);
}

/** Returns the Adler-32 checksum (RFC 1950, 8.2), continued from `sum`. */
function adler32(bytes: Uint8Array, sum: number): number {
  // The most bytes that keep `high` below 2^31, so that V8 stores it as an integer.
  const atOnce = 3_000;
  let low = sum & 0xffff;
  let high = sum >>> 16;
  for (let at = 0; at < bytes.length; ) {
    for (const end = Math.min(at + atOnce, bytes.length); at < end; at += 1) {
      low += bytes[at] ?? 0;
      high += low;
    }
    low %= 65_521;
    high %= 65_521;
  }
  return ((high << 16) | low) >>> 0;
}
