import { crc32 } from 'node:zlib';

/** The pieces of a chunk of a PNG: length and type, data, and the CRC of type and data (third edition, 5.3). */
export function pngChunk(type: string, ...data: readonly Uint8Array[]): Uint8Array[] {
  const name = Buffer.from(type, 'latin1');
  const head = Buffer.alloc(8);
  head.writeUInt32BE(data.reduce((sum, { byteLength }) => sum + byteLength, 0));
  head.set(name, 4);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(data.reduce((sum, part) => crc32(part, sum), crc32(name)));
  return [head, ...data, check];
}
