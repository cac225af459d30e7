import type { Parts, Role } from './part.ts';

/** The two forms of TIFF: bytes of a directory's count, entries and link (TIFF 6.0, BigTIFF). */
const forms = {
  42: { first: 4, count: 2, entry: 12, link: 4 },
  43: { first: 8, count: 8, entry: 20, link: 8 },
} as const;

/** Of BigTIFF; no picture fits in fewer. */
const headBytes = 16;

/** Bytes of each type of value (TIFF 6.0, section 2; BigTIFF), by number. */
const typeBytes = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8];
const ascii = 2;

/** What tags are for; other texts are `text`, and all else `pixels`. */
const roles: ReadonlyMap<number, Role> = new Map([
  [700, 'xmp'],
  [33723, 'iptc'],
  [34377, 'iptc'],
  [34675, 'profile'],
]);

/**
 * The entries of a TIFF's directories, which are a linked list of pages. The first part of each page is
 * its directory; an entry is where its value is. What is malformed ends the list.
 */
export function* tiffParts(file: Buffer): Parts {
  if (file.length < headBytes) return;
  const order = file.toString('latin1', 0, 2);
  if (order !== 'II' && order !== 'MM') return;
  const little = order === 'II';
  const read = (at: number, bytes: 2 | 4 | 8): number => {
    if (bytes === 8) return Number(little ? file.readBigUInt64LE(at) : file.readBigUInt64BE(at));
    return little ? file.readUIntLE(at, bytes) : file.readUIntBE(at, bytes);
  };
  const version = read(2, 2);
  if (version !== 42 && version !== 43) return;
  const { first, count, entry, link } = forms[version];
  const seen = new Set<number>();
  for (let at = read(first, link); at !== 0 && !seen.has(at); ) {
    if (at + count > file.length) return;
    seen.add(at);
    const next = at + count + entry * read(at, count);
    yield { role: 'page', from: at, to: Math.min(next, file.length) };
    for (let from = at + count; from + entry <= Math.min(next, file.length); from += entry) {
      const type = read(from + 2, 2);
      const bytes = (typeBytes[type] ?? 0) * read(from + 4, link);
      const start = bytes <= link ? from + entry - link : read(from + entry - link, link);
      const role = roles.get(read(from, 2)) ?? (type === ascii ? 'text' : 'pixels');
      const end = Math.min(start + bytes, file.length);
      yield { role, from: start, to: Math.max(start, end), content: [start, end] };
    }
    if (next + link > file.length) return;
    at = read(next, link);
  }
}
