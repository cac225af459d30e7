import { constants, inflateSync } from 'node:zlib';
import type { Parts, Role } from './parts.ts';

const signatureBytes = 8;

/** What chunks are for (PNG specification, third edition, 11); ancillary ones not listed are `other`. */
const roles: Readonly<Record<string, Role>> = {
  ...Object.fromEntries(['IHDR', 'PLTE', 'tRNS', 'IDAT'].map((type) => [type, 'pixels'])),
  ...Object.fromEntries(['sRGB', 'gAMA', 'cHRM', 'cICP', 'sBIT'].map((type) => [type, 'pixels'])),
  IEND: 'end',
  iCCP: 'profile',
  eXIf: 'exif',
  tEXt: 'text',
  zTXt: 'text',
  iTXt: 'text',
};

/** The keyword of XMP, with the NUL behind it (XMP specification, part 3, 1.1.5). */
const xmpKeyword = 'XML:com.adobe.xmp\0';

/** The chunks of a PNG. Frames of an animation are `other`, because only the still image is used. */
export function* pngParts(file: Buffer): Parts {
  for (let from = signatureBytes; from + 12 <= file.length; ) {
    const to = from + 12 + file.readUInt32BE(from);
    if (to > file.length) return;
    const type = file.toString('latin1', from + 4, from + 8);
    const start = from + 8;
    const isXmp = type === 'iTXt' && isKeyword(file, start);
    const isCritical = /^[A-Z]/.test(type);
    const compressed = type === 'zTXt' || (type === 'iTXt' && isCompressed(file, start, to - 4));
    yield {
      role: isXmp ? 'xmp' : (roles[type] ?? (isCritical ? 'unknown' : 'other')),
      from,
      to,
      content: [start, to - 4],
      compressed,
      ...(type === 'iCCP' ? { bytes: profileBytes(file.subarray(start, to - 4)) } : {}),
      last: type === 'IEND',
    };
    if (type === 'IEND') return;
    from = to;
  }
}

const isKeyword = (file: Buffer, at: number): boolean =>
  file.toString('latin1', at, at + xmpKeyword.length) === xmpKeyword;

/**
 * A keyword has at most 79 bytes; behind it a byte says whether an iTXt is compressed (11.3.3.4).
 */
function isCompressed(file: Buffer, start: number, end: number): boolean {
  const keyword = file.subarray(start, Math.min(end, start + 80));
  const nul = keyword.indexOf(0);
  return nul === -1 || file[start + nul + 1] !== 0;
}

/** Enough for the first bytes of what is compressed. */
const compressedHead = 256;

/**
 * The bytes of a compressed profile, as its own header says (ICC.1:2022, 7.2.2), which libpng holds
 * it to. Not what cannot be decompressed, because libpng ignores that.
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

/** CICP transfer characteristics (ITU-T H.273, table 3); null where the file does not say. */
export function pngTransfer(source: Uint8Array): number | null {
  const file = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
  for (const { from } of pngParts(file)) {
    const type = file.toString('latin1', from + 4, from + 8);
    if (type === 'cICP') return file[from + 9] ?? null;
    // It is before the pixels (11.3.2.6).
    if (type === 'IDAT') return null;
  }
  return null;
}
