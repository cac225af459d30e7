import type { MetadataRole, PartRole, Parts } from '../container/parts.ts';

export const headBytes = 12;
/** Offset of the flags in the VP8X chunk. */
const flagsAt = 8;
/** VP8X flags for metadata in the file (RFC 9649, 2.7.1). */
const flags: Partial<Readonly<Record<MetadataRole, number>>> = {
  profile: 0x20,
  exif: 0x08,
  xmp: 0x04,
};

export const roles: Readonly<Record<string, PartRole>> = {
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
