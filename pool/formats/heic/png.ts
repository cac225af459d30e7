import { deflateSync } from 'node:zlib';
import { pngChunk } from '../container/png-chunk.ts';

export interface PngForm {
  readonly width: number;
  readonly height: number;
  /** RGB, or RGB and alpha. */
  readonly channels: 3 | 4;
  readonly bits: 8 | 16;
}

export interface PngMetadata {
  readonly icc: Uint8Array | undefined;
  readonly exif: Uint8Array | undefined;
  readonly xmp: Uint8Array | undefined;
}

const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const exifPrefix = Buffer.from('Exif\0\0', 'latin1');

/**
 * An uncompressed PNG (W3C, PNG third edition), in an ArrayBuffer of its own.
 *
 * @param read writes the row `y`, with samples of 16 bits in big endian
 */
export function pngOfRows(
  { width, height, channels, bits }: PngForm,
  { icc, exif, xmp }: PngMetadata,
  read: (y: number, row: Uint8Array) => void,
): Buffer<ArrayBuffer> {
  const rowBytes = (width * channels * bits) / 8;
  // The first byte of a row names its filter: 0 for none.
  const rows = new Uint8Array((rowBytes + 1) * height);
  for (let y = 0; y < height; y += 1) {
    const at = y * (rowBytes + 1) + 1;
    read(y, rows.subarray(at, at + rowBytes));
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([bits, channels === 4 ? 6 : 2], 8);
  const parts = [
    signature,
    ...pngChunk('IHDR', header),
    ...(icc === undefined ? [] : pngChunk('iCCP', Buffer.from('icc\0\0'), deflateSync(icc))),
    ...(exif === undefined ? [] : pngChunk('eXIf', withoutPrefix(exif))),
    ...(xmp === undefined ? [] : pngChunk('iTXt', Buffer.from('XML:com.adobe.xmp\0\0\0\0\0'), xmp)),
    ...pngChunk('IDAT', deflateSync(rows, { level: 0, chunkSize: 2 ** 20 })),
    ...pngChunk('IEND'),
  ];
  const length = parts.reduce((sum, part) => sum + part.byteLength, 0);
  const png = Buffer.from(new ArrayBuffer(length));
  let at = 0;
  for (const part of parts) {
    png.set(part, at);
    at += part.byteLength;
  }
  return png;
}

function withoutPrefix(exif: Uint8Array): Uint8Array {
  const start = exif.subarray(0, exifPrefix.length);
  return exifPrefix.equals(start) ? exif.subarray(exifPrefix.length) : exif;
}
