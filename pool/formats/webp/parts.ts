import { asBuffer } from '../bytes.ts';
import type { MetadataRole, PartRole, Parts } from '../container/examination.ts';

const headBytes = 12;
/** Offset of the flags in the VP8X chunk. */
const flagsAt = 8;
/** VP8X flags for metadata in the file (RFC 9649, 2.7.1). */
const flags: Partial<Readonly<Record<MetadataRole, number>>> = {
  profile: 0x20,
  exif: 0x08,
  xmp: 0x04,
};

const roles: Readonly<Record<string, PartRole>> = {
  ...Object.fromEntries(['VP8X', 'VP8 ', 'VP8L', 'ALPH', 'ANIM'].map((type) => [type, 'pixels'])),
  ANMF: 'frame',
  ICCP: 'profile',
  EXIF: 'exif',
  'XMP ': 'xmp',
  // C2PA 2.1, A.3.7.
  C2PA: 'other',
};

/** Yields a WebP's chunks (RFC 9649); unknown chunks are `other`. */
export function* webpParts(file: Buffer): Parts {
  if (file.length < headBytes) return;
  const end = 8 + file.readUInt32LE(4);
  for (let from = headBytes; from + 8 <= Math.min(end, file.length); ) {
    const length = file.readUInt32LE(from + 4);
    const start = from + 8;
    // Chunk sizes are even.
    const to = start + length + (length & 1);
    const type = file.toString('latin1', from, from + 4);
    const part = { role: roles[type] ?? 'other', content: [start, start + length] } as const;
    if (to > Math.min(end, file.length)) return yield { ...part, from, to: file.length };
    yield { ...part, from, to };
    if (to === end) return yield { role: 'end', from: to, to };
    from = to;
  }
}

/** Corrects a WebP's header after parts were removed. */
export function correctWebp(file: Buffer, removed: ReadonlySet<MetadataRole>): void {
  if (file.length < headBytes) return;
  file.writeUInt32LE(file.length - 8, 4);
  if (file.toString('latin1', headBytes, headBytes + 4) !== 'VP8X') return;
  const at = headBytes + flagsAt;
  for (const role of removed) file[at] = (file[at] ?? 0) & ~(flags[role] ?? 0);
}

/** Maximum missing bytes to add to a chunk, as a multiple of the file's size. */
const maxAdded = 8;

/**
 * Corrects a WebP's size in its header, or adds its last padding byte, in a copy, as browsers do.
 * Returns the same bytes for other files.
 */
export const withWebpSize = (source: Uint8Array): Uint8Array => sized(source, false);

/**
 * Repairs like `withWebpSize`, including truncated files: missing image bytes become zeros, and an
 * incomplete animation frame is dropped.
 */
export const withWebpPixels = (source: Uint8Array): Uint8Array => sized(source, true);

function sized(source: Uint8Array, lenient: boolean): Uint8Array {
  const file = asBuffer(source);
  for (const { role } of webpParts(file)) if (role === 'end') return source;
  let hasImage = false;
  let end = headBytes;
  while (end + 8 <= file.length) {
    const type = file.toString('latin1', end, end + 4);
    const length = file.readUInt32LE(end + 4);
    const to = end + 8 + length + (length & 1);
    // Bytes behind the chunks do not belong to the image.
    if (roles[type] === undefined) break;
    const isFrame = roles[type] === 'frame';
    const isCut = end + 8 + length > file.length;
    if (isCut && (!lenient || to > (1 + maxAdded) * file.length)) return source;
    if (isCut && isFrame && hasImage) break;
    hasImage ||= isFrame || type === 'VP8 ' || type === 'VP8L';
    end = to;
  }
  if (!hasImage) return source;
  const copy = Buffer.alloc(end);
  file.copy(copy, 0, 0, end);
  copy.writeUInt32LE(end - 8, 4);
  return copy;
}
