import { parseOrDefault, type ReadUint, uintReader } from '../bytes.ts';

/** Bytes per value type (TIFF 6.0, section 2), by number. */
const typeBytes = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8];
const ascii = 2;

/** Tags with offsets of more directories: Exif, GPS, interoperability. */
const directoryTags: ReadonlySet<number> = new Set([0x8769, 0x8825, 0xa005]);

/** Exif 3.0 defines fewer directories (4.6.3). */
const maxDirectories = 16;
/**
 * Maximum total size of the values, which can share bytes, as a multiple of the EXIF's size;
 * cameras need less.
 */
const maxSharing = 4;

const prefix = Buffer.from('Exif\0\0', 'latin1');

/**
 * Removes the thumbnail from EXIF, because it would show pixels that a crop or a blur removes. The
 * length stays the same: bytes that are unreachable from the image's directory become zeros (Exif
 * 3.0, 4.5).
 *
 * @returns the argument if it contains no thumbnail; null if it is unreadable
 */
export function withoutThumbnail(exif: Buffer): Buffer | null {
  return parseOrDefault(null, () => {
    const { start, bytes, read, first, link } = openExif(exif);
    if (read(link, 4) === 0) return exif;
    return Buffer.concat([exif.subarray(0, start), directoriesFrom(first, bytes, read)]);
  });
}

/** Returns the texts of the image's tags, including their padding. */
export function textTags(exif: Buffer, tags: readonly number[]): ReadonlyMap<number, Buffer> {
  return parseOrDefault(new Map(), () => {
    const { bytes, read, first, link } = openExif(exif);
    const texts = new Map<number, Buffer>();
    for (let entry = first + 2; entry < link; entry += 12) {
      const tag = read(entry, 2);
      if (!tags.includes(tag) || read(entry + 2, 2) !== ascii) continue;
      const length = read(entry + 4, 4);
      const at = length > 4 ? read(entry + 8, 4) : entry + 8;
      if (at + length <= bytes.length) texts.set(tag, bytes.subarray(at, at + length));
    }
    return texts;
  });
}

/**
 * Reduces EXIF to the directories reachable from the first, for a parser that does not limit its
 * work: their values have at most {@link maxSharing} times the EXIF's bytes.
 *
 * @returns null if the EXIF is unreadable
 */
export function boundedExif(exif: Buffer): Buffer | null {
  return parseOrDefault(null, () => {
    const { bytes, read, first } = openExif(exif);
    return directoriesFrom(first, bytes, read);
  });
}

const orientationTag = 0x0112;

/**
 * Resets the orientation, because decoders apply the orientation in HEIC and JPEG XL containers.
 */
export const withoutOrientation = (exif: Buffer): Buffer => withOrientations(exif, () => false);

/**
 * Removes an orientation unless it is a single SHORT, because browsers ignore it and libvips does
 * not. Returns the same bytes if it removes no tag.
 */
export const withUsualOrientation = (exif: Buffer): Buffer =>
  withOrientations(exif, (type, count) => type === short && count === 1);

const short = 3;

function withOrientations(exif: Buffer, isKept: (type: number, count: number) => boolean): Buffer {
  return parseOrDefault(exif, () => {
    const { start, read, first, link } = openExif(exif);
    let changed = exif;
    for (let entry = first + 2; entry < link; entry += 12) {
      if (read(entry, 2) !== orientationTag) continue;
      if (isKept(read(entry + 2, 2), read(entry + 4, 4))) continue;
      if (changed === exif) changed = Buffer.from(exif);
      // 0 means no orientation (Exif 3.0, 4.6.5.1.5), in both byte orders.
      changed.fill(0, start + entry + 8, start + entry + 12);
    }
    return changed;
  });
}

/**
 * Returns the TIFF in EXIF, from `start`, with the offsets of the first directory and of its link
 * to the second, which describes the thumbnail.
 *
 * @throws RangeError for an unknown byte order or an offset outside the bytes
 */
function openExif(exif: Buffer) {
  const start = exif.subarray(0, prefix.length).equals(prefix) ? prefix.length : 0;
  const bytes = exif.subarray(start);
  const read = uintReader(bytes);
  if (read === null) throw new RangeError('The byte order is unknown.');
  const first = read(4, 4);
  return { start, bytes, read, first, link: first + 2 + 12 * read(first, 2) };
}

/**
 * Copies the directories reachable from the first, and their values; all other bytes become zeros.
 */
function directoriesFrom(first: number, bytes: Buffer, read: ReadUint): Buffer {
  const copy = Buffer.alloc(bytes.length);
  let copied = 0;
  const keep = (from: number, length: number) => {
    copied += length;
    if (copied > maxSharing * copy.length) throw new RangeError('The values share bytes.');
    if (from + length > bytes.length) throw new RangeError('A value is outside.');
    copy.set(bytes.subarray(from, from + length), from);
  };
  keep(0, 8);
  const seen = new Set<number>();
  const waiting = [first];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (seen.has(at)) continue;
    seen.add(at);
    if (seen.size > maxDirectories) throw new RangeError('The EXIF has too many directories.');
    const end = at + 2 + 12 * read(at, 2);
    keep(at, end - at);
    for (let entry = at + 2; entry < end; entry += 12) {
      const size = (typeBytes[read(entry + 2, 2)] ?? 0) * read(entry + 4, 4);
      if (size > 4) keep(read(entry + 8, 4), size);
      if (directoryTags.has(read(entry, 2))) waiting.push(read(entry + 8, 4));
    }
  }
  return copy;
}
