import { crc32, deflateSync } from 'node:zlib';

/** Reads and writes parts of image files. */

export const pngSignature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

export function be32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

export function be16(value: number): Buffer {
  return Buffer.from([(value >> 8) & 0xff, value & 0xff]);
}

export const le16 = (value: number): Buffer => be16(value).reverse();
export const le32 = (value: number): Buffer => be32(value).reverse();

/** Returns a PNG chunk with its length and checksum (PNG, 5.3). */
export function pngChunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  return Buffer.concat([be32(data.length), body, be32(crc32(body))]);
}

export interface PngChunk {
  readonly type: string;
  readonly data: Buffer;
}

/** Returns a PNG's chunks up to the first damaged chunk. */
export function pngChunks(png: Buffer): PngChunk[] {
  const chunks: PngChunk[] = [];
  for (let at = pngSignature.length; at + 12 <= png.length; ) {
    const length = png.readUInt32BE(at);
    if (at + 12 + length > png.length) break;
    const type = png.toString('latin1', at + 4, at + 8);
    chunks.push({ type, data: png.subarray(at + 8, at + 8 + length) });
    at += 12 + length;
  }
  return chunks;
}

export function createPng(chunks: readonly PngChunk[]): Buffer {
  return Buffer.concat([pngSignature, ...chunks.map(({ type, data }) => pngChunk(type, data))]);
}

/** Inserts chunks after the header. */
export function withPngChunks(png: Buffer, added: readonly PngChunk[]): Buffer {
  const [header, ...rest] = pngChunks(png);
  if (header === undefined) throw new Error('no PNG');
  return createPng([header, ...added, ...rest]);
}

/** Zeros of this many bytes, compressed about a thousandfold. */
export const zeros = (bytes: number): Buffer => deflateSync(Buffer.alloc(bytes), { level: 9 });

/** Returns a JPEG segment (ITU-T T.81, B.1.1.4). */
export function jpegSegment(marker: number, data: Uint8Array): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16BE(0xff00 | marker);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, data]);
}

/** Inserts segments after the start marker of a JPEG. */
export function withSegments(jpeg: Buffer, ...segments: readonly Buffer[]): Buffer {
  return Buffer.concat([jpeg.subarray(0, 2), ...segments, jpeg.subarray(2)]);
}

export type RiffChunk = readonly [type: string, data: Buffer];

/** Returns a WebP's chunks (RFC 9649, 2.3). */
export function riffChunks(webp: Buffer, from = 12): RiffChunk[] {
  const chunks: RiffChunk[] = [];
  for (let at = from; at + 8 <= webp.length; ) {
    const length = webp.readUInt32LE(at + 4);
    chunks.push([webp.toString('latin1', at, at + 4), webp.subarray(at + 8, at + 8 + length)]);
    at += 8 + length + (length % 2);
  }
  return chunks;
}

export function riffChunk([type, data]: RiffChunk): Buffer {
  const padding = Buffer.alloc(data.length % 2);
  return Buffer.concat([Buffer.from(type, 'latin1'), le32(data.length), data, padding]);
}

export function riff(chunks: readonly RiffChunk[]): Buffer {
  const all = Buffer.concat([Buffer.from('WEBP'), ...chunks.map(riffChunk)]);
  return Buffer.concat([Buffer.from('RIFF'), le32(all.length), all]);
}
