/** A chunk of a PNG file (PNG specification, third edition, 5.3). */
export interface PngChunk {
  readonly type: string;
  readonly data: Buffer;
  /** With length, type and checksum. */
  readonly whole: Buffer;
}

const signatureBytes = 8;

/**
 * The chunks up to IEND; null for a file that is not a series of chunks. Bytes behind IEND are left
 * out.
 */
export function pngChunks(source: Uint8Array): PngChunk[] | null {
  const file = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
  const chunks: PngChunk[] = [];
  for (let at = signatureBytes; at + 12 <= file.length; ) {
    const length = file.readUInt32BE(at);
    const end = at + 12 + length;
    if (end > file.length) return null;
    const type = file.toString('latin1', at + 4, at + 8);
    chunks.push({ type, data: file.subarray(at + 8, end - 4), whole: file.subarray(at, end) });
    if (type === 'IEND') return chunks;
    at = end;
  }
  return null;
}

/** What pixels and their colours need. Frames of an animation are left out: it is a still image. */
const kept: ReadonlySet<string> = new Set([
  ...['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND'],
  ...['sRGB', 'gAMA', 'cHRM', 'cICP', 'sBIT'],
]);

/** Null when the file has an unknown part that it cannot be shown without. */
export function strippedPng(source: Uint8Array): Buffer | null {
  const chunks = pngChunks(source);
  if (chunks === null) return null;
  const isCritical = (type: string) => /^[A-Z]/.test(type);
  if (chunks.some(({ type }) => isCritical(type) && !kept.has(type))) return null;
  const parts = chunks.filter(({ type }) => kept.has(type)).map(({ whole }) => whole);
  return Buffer.concat([source.subarray(0, signatureBytes), ...parts]);
}

/** CICP transfer characteristics (ITU-T H.273, table 3); null where the file does not say. */
export function pngTransfer(source: Uint8Array): number | null {
  const cicp = pngChunks(source)?.find(({ type }) => type === 'cICP');
  return cicp?.data[1] ?? null;
}
