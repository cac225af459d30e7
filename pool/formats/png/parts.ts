import { constants, crc32, deflateSync, inflateSync } from 'node:zlib';
import type { Size } from '../../geometry.ts';
import type { PartRole, Parts } from '../container/examination.ts';

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

/** Chunks that the pixels and their colours need (PNG specification, third edition, 11). */
const pixelChunks = /^(?:IHDR|PLTE|tRNS|IDAT|acTL|fdAT|sRGB|gAMA|cHRM|cICP|sBIT)$/;
/** Roles of other chunks; unlisted ancillary ones are `other`. */
const roles: Readonly<Record<string, PartRole>> = {
  IEND: 'end',
  fcTL: 'frame',
  iCCP: 'profile',
  eXIf: 'exif',
  tEXt: 'text',
  zTXt: 'text',
  iTXt: 'text',
};

/** The keyword of XMP and its NUL (XMP specification, part 3, 1.1.5). */
const xmpKeyword = 'XML:com.adobe.xmp\0';

/** Yields a PNG's chunks. A frame's control chunk stands for the frame. */
export function* pngParts(file: Buffer): Parts {
  for (let from = pngSignature.length; from + 12 <= file.length; ) {
    const to = from + 12 + file.readUInt32BE(from);
    if (to > file.length) return;
    const type = file.toString('latin1', from + 4, from + 8);
    const start = from + 8;
    yield {
      role: readRole(file, type, start),
      from,
      to,
      content: [start, to - 4],
      compressed: type === 'zTXt' || (type === 'iTXt' && isCompressed(file, start, to - 4)),
      ...(type === 'iCCP' ? { bytes: profileBytes(file.subarray(start, to - 4)) } : {}),
      last: type === 'IEND',
    };
    if (type === 'IEND') return;
    from = to;
  }
}

function readRole(file: Buffer, type: string, start: number): PartRole {
  if (pixelChunks.test(type)) return 'pixels';
  const keyword = type === 'iTXt' ? file.toString('latin1', start, start + xmpKeyword.length) : '';
  if (keyword === xmpKeyword) return 'xmp';
  return roles[type] ?? (/^[A-Z]/.test(type) ? 'unknown' : 'other');
}

/** Returns the compression flag in iTXt, after a keyword of at most 79 bytes (11.3.3.4). */
function isCompressed(file: Buffer, start: number, end: number): boolean {
  const keyword = file.subarray(start, Math.min(end, start + 80));
  const nul = keyword.indexOf(0);
  return nul === -1 || file[start + nul + 1] !== 0;
}

/** Compressed bytes that contain the profile's first four. */
const compressedHead = 256;

/**
 * Returns a compressed profile's length from its own header (ICC.1:2022, 7.2.2), which libpng
 * enforces; 0 if decompression fails, because libpng ignores such data.
 */
function profileBytes(chunk: Buffer): number {
  const from = chunk.subarray(0, 80).indexOf(0) + 2;
  try {
    const head = inflateSync(chunk.subarray(from, from + compressedHead), {
      finishFlush: constants.Z_SYNC_FLUSH,
      chunkSize: 1_024,
    });
    return head.length < 4 ? 0 : head.readUInt32BE(0);
  } catch {
    return 0;
  }
}
