/** Flags of the VP8X chunk (RFC 9649, 2.7.1). */
const flags = { profile: 0x20, exif: 0x08, xmp: 0x04 } as const;

const kept: ReadonlySet<string> = new Set(['VP8X', 'VP8 ', 'VP8L', 'ALPH', 'ANIM', 'ANMF']);

/**
 * A WebP without its profile, metadata, unknown chunks and anything behind its end.
 *
 * @returns null for a file that is not a series of chunks
 */
export function strippedWebp(source: Uint8Array): Buffer | null {
  const file = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
  if (file.length < 12) return null;
  const end = 8 + file.readUInt32LE(4);
  if (end > file.length) return null;
  const parts: Buffer[] = [];
  for (let at = 12; at < end; ) {
    if (at + 8 > end) return null;
    const length = file.readUInt32LE(at + 4);
    // Chunks have an even size.
    const next = at + 8 + length + (length & 1);
    if (next > end) return null;
    const type = file.toString('latin1', at, at + 4);
    if (kept.has(type)) parts.push(withoutFlags(type, file.subarray(at, next)));
    at = next;
  }
  const header = Buffer.from(file.subarray(0, 12));
  header.writeUInt32LE(4 + parts.reduce((sum, { length }) => sum + length, 0), 4);
  return Buffer.concat([header, ...parts]);
}

function withoutFlags(type: string, chunk: Buffer): Buffer {
  if (type !== 'VP8X') return chunk;
  const plain = Buffer.from(chunk);
  plain[8] = (plain[8] ?? 0) & ~(flags.profile | flags.exif | flags.xmp);
  return plain;
}
