import { constants, inflateSync } from 'node:zlib';
import type { PartRole, Parts } from '../container/parts.ts';
import { pngSignature } from './chunks.ts';

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
