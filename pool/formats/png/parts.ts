import { constants, inflateSync } from 'node:zlib';
import { bufferOf } from '../bytes.ts';
import type { PartRole, Parts } from '../container/parts.ts';
import { type Cicp, cicpProfile } from '../metadata/cicp.ts';
import { pngProfile, pngSignature } from './chunks.ts';

/** Chunks that the pixels and their colours need (PNG specification, third edition, 11). */
const pixelChunks = /^(?:IHDR|PLTE|tRNS|IDAT|sRGB|gAMA|cHRM|cICP|sBIT)$/;
/** Roles of other chunks; unlisted ancillary ones are `other`. */
const roles: Readonly<Record<string, PartRole>> = {
  IEND: 'end',
  iCCP: 'profile',
  eXIf: 'exif',
  // C2PA 2.1, A.3.3.
  caBX: 'c2pa',
  tEXt: 'text',
  zTXt: 'text',
  iTXt: 'text',
};

/** The keyword of XMP and its NUL (XMP specification, part 3, 1.1.5). */
const xmpKeyword = 'XML:com.adobe.xmp\0';

/** The chunks of a PNG. Frames of an animation are `other`: only the still image is used. */
export function* pngParts(file: Buffer): Parts {
  for (let from = pngSignature.length; from + 12 <= file.length; ) {
    const to = from + 12 + file.readUInt32BE(from);
    if (to > file.length) return;
    const type = file.toString('latin1', from + 4, from + 8);
    const start = from + 8;
    yield {
      role: roleOf(file, type, start),
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

function roleOf(file: Buffer, type: string, start: number): PartRole {
  if (pixelChunks.test(type)) return 'pixels';
  const keyword = type === 'iTXt' ? file.toString('latin1', start, start + xmpKeyword.length) : '';
  if (keyword === xmpKeyword) return 'xmp';
  return roles[type] ?? (/^[A-Z]/.test(type) ? 'unknown' : 'other');
}

/** A keyword has at most 79 bytes; the compression flag of an iTXt follows it (11.3.3.4). */
function isCompressed(file: Buffer, start: number, end: number): boolean {
  const keyword = file.subarray(start, Math.min(end, start + 80));
  const nul = keyword.indexOf(0);
  return nul === -1 || file[start + nul + 1] !== 0;
}

/** Compressed bytes that contain the profile's first four. */
const compressedHead = 256;

/**
 * Bytes of a compressed profile, from its own header (ICC.1:2022, 7.2.2), which libpng enforces; 0 for data
 * that cannot be decompressed, which libpng ignores.
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

/** What precedes the pixels of a PNG and tells their colours (11.3.2). */
export function pngColours(source: Uint8Array): { cicp: Cicp | null; hasProfile: boolean } {
  const file = bufferOf(source);
  let cicp: Cicp | null = null;
  let hasProfile = false;
  for (const { role, from } of pngParts(file)) {
    const type = file.toString('latin1', from + 4, from + 8);
    if (type === 'IDAT') break;
    hasProfile ||= role === 'profile';
    if (type === 'cICP') cicp = { primaries: file[from + 8] ?? 0, transfer: file[from + 9] ?? 0 };
  }
  return { cicp, hasProfile };
}

/** The end of IHDR, the first chunk. */
const headerEnd = pngSignature.length + 25;

/**
 * A PNG with the profile of its colour codes, in a copy, if it has such codes and no profile. libpng ignores it
 * in a grey PNG.
 */
export function withPngProfile(source: Uint8Array): Uint8Array {
  const { cicp, hasProfile } = pngColours(source);
  const profile = cicp && cicpProfile(cicp);
  const file = bufferOf(source);
  if (profile === null || hasProfile) return source;
  const [head, rest] = [file.subarray(0, headerEnd), file.subarray(headerEnd)];
  return Buffer.concat([head, ...pngProfile(profile), rest]);
}
