/** The two forms of TIFF: bytes of a directory's count, entries and link (TIFF 6.0, BigTIFF). */
const forms = {
  42: { first: 4, count: 2, entry: 12, link: 4 },
  43: { first: 8, count: 8, entry: 20, link: 8 },
} as const;

/** Of BigTIFF; no picture fits in fewer. */
const headBytes = 16;

/**
 * The pages of a TIFF, which are a linked list; 0 for other files. What is malformed ends the list.
 *
 * @param most counting ends above this number
 */
export function countTiffPages(source: Uint8Array, most: number): number {
  const file = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
  if (file.length < headBytes) return 0;
  const order = file.toString('latin1', 0, 2);
  if (order !== 'II' && order !== 'MM') return 0;
  const little = order === 'II';
  const read = (at: number, bytes: 2 | 4 | 8): number => {
    if (bytes === 8) return Number(little ? file.readBigUInt64LE(at) : file.readBigUInt64BE(at));
    return little ? file.readUIntLE(at, bytes) : file.readUIntBE(at, bytes);
  };
  const version = read(2, 2);
  if (version !== 42 && version !== 43) return 0;
  const { first, count, entry, link } = forms[version];
  const seen = new Set<number>();
  for (let at = read(first, link); at !== 0 && !seen.has(at) && seen.size <= most; ) {
    if (at + count > file.length) break;
    seen.add(at);
    const next = at + count + entry * read(at, count);
    if (next + link > file.length) break;
    at = read(next, link);
  }
  return seen.size;
}
