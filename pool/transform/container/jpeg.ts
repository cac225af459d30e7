const marker = {
  start: 0xd8,
  end: 0xd9,
  scan: 0xda,
  app0: 0xe0,
  adobe: 0xee,
} as const;

/**
 * The segments that decoders need (ITU-T T.81, B.1.1.3): frame headers, tables, restart intervals.
 * Arithmetic coding and hierarchical images are not among them; browsers do not show them.
 */
const needed: ReadonlySet<number> = new Set([0xc0, 0xc1, 0xc2, 0xc4, 0xdb, 0xdd]);

/**
 * A JPEG without its metadata, previews, comments and anything behind its end. The JFIF segment and
 * Adobe's are kept: they say what the components mean.
 *
 * @returns null for a file that is not a plain series of segments
 */
export function strippedJpeg(source: Uint8Array): Buffer | null {
  const file = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
  if (file[0] !== 0xff || file[1] !== marker.start) return null;
  const parts = [file.subarray(0, 2)];
  for (let at = 2; at + 2 <= file.length; ) {
    if (file[at] !== 0xff) return null;
    const type = file[at + 1] ?? 0;
    if (type === marker.end) return Buffer.concat([...parts, file.subarray(at, at + 2)]);
    if (at + 4 > file.length) return null;
    let end = at + 2 + file.readUInt16BE(at + 2);
    if (end < at + 4 || end > file.length) return null;
    if (type === marker.scan) end = endOfScan(file, end);
    const part = keptSegment(type, file.subarray(at, end));
    if (part === null) return null;
    parts.push(part);
    at = end;
  }
  return null;
}

/** Empty for one that is left out; null for one that must not be. */
function keptSegment(type: number, segment: Buffer): Buffer | null {
  if (type === marker.scan || needed.has(type)) return segment;
  if (type === marker.app0 && segment.toString('latin1', 4, 9) === 'JFIF\0') return jfif(segment);
  if (type === marker.adobe && segment.toString('latin1', 4, 9) === 'Adobe') {
    return segment.length === adobeBytes ? segment : null;
  }
  const isMetadata = (type >= 0xe0 && type <= 0xef) || type === 0xfe;
  return isMetadata ? Buffer.alloc(0) : null;
}

const adobeBytes = 16;

/** Without its thumbnail (ITU-T T.871, 10.1). */
function jfif(segment: Buffer): Buffer | null {
  const length = 18;
  if (segment.length < length) return null;
  const plain = Buffer.from(segment.subarray(0, length));
  plain.writeUInt16BE(length - 2, 2);
  plain.fill(0, length - 2);
  return plain;
}

/** Coded data ends at the first marker that is neither a restart nor a stuffed 0xff. */
function endOfScan(file: Buffer, from: number): number {
  for (let at = file.indexOf(0xff, from); at !== -1; at = file.indexOf(0xff, at + 1)) {
    const next = file[at + 1] ?? 0;
    // 0xff may be repeated before a marker.
    const codes = next === 0 || next === 0xff || (next >= 0xd0 && next <= 0xd7);
    if (!codes) return at;
  }
  return file.length;
}
