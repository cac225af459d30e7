import { crc32, deflateSync } from 'node:zlib';
import type { Size } from '../../geometry.ts';

export const pngSignature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

/** Colour types for RGB, palette and RGBA pixels (third edition, 11.2.1). */
export const pngColourType = { rgb: 2, indexed: 3, rgba: 6 } as const;

/**
 * Returns the first pieces of a PNG: the signature and IHDR.
 *
 * @param bits per sample or index
 */
export function pngHead({ width, height }: Size, bits: number, colourType: number): Uint8Array[] {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([bits, colourType], 8);
  return [pngSignature, ...pngChunk('IHDR', header)];
}

/** Returns the pieces of a chunk with a colour profile. */
export const pngProfile = (profile: Uint8Array): Uint8Array[] =>
  pngChunk('iCCP', Buffer.from('icc\0\0', 'latin1'), deflateSync(profile));

/**
 * Returns a PNG chunk's pieces: length and type, data, and the CRC over type and data (third
 * edition, 5.3).
 */
export function pngChunk(type: string, ...data: readonly Uint8Array[]): Uint8Array[] {
  const name = Buffer.from(type, 'latin1');
  const head = Buffer.alloc(8);
  head.writeUInt32BE(data.reduce((sum, { byteLength }) => sum + byteLength, 0));
  head.set(name, 4);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(data.reduce((sum, part) => crc32(part, sum), crc32(name)));
  return [head, ...data, check];
}
