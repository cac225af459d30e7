import { parse } from '../bytes.ts';
import { uintReader } from '../container/tiff.ts';

/** Bytes of each type of value (TIFF 6.0, section 2), by number. */
const typeBytes = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8];
const ascii = 2;

/** Tags whose values are offsets of further directories: Exif, GPS, interoperability. */
const directoryTags: ReadonlySet<number> = new Set([0x8769, 0x8825, 0xa005]);

/** Exif 3.0 has fewer directories (4.6.3). */
const maxDirectories = 16;
/** Total size of the values, which may share bytes, as a multiple of the EXIF's; cameras need less. */
const maxSharing = 4;

const prefix = Buffer.from('Exif\0\0', 'latin1');
const prefixBytes = (exif: Buffer): number =>
  exif.subarray(0, prefix.length).equals(prefix) ? prefix.length : 0;

/**
 * EXIF without its thumbnail, which would show pixels that a crop or a blur removes. The length stays the
 * same: bytes that the first directory, that of the image, does not lead to become zeros (Exif 3.0, 4.5).
 *
 * @returns the argument if it has no thumbnail; null if it cannot be read
 */
export function withoutThumbnail(exif: Buffer): Buffer | null {
  const start = prefixBytes(exif);
  return parse(
    () => {
      const tiff = new ExifDirectories(exif.subarray(start));
      if (!tiff.hasThumbnail) return exif;
      return Buffer.concat([exif.subarray(0, start), tiff.withoutThumbnail()]);
    },
    () => null,
  );
}

/** The texts of the image's tags, with their padding. */
export function textTags(exif: Buffer, tags: readonly number[]): ReadonlyMap<number, Buffer> {
  return parse(
    () => new ExifDirectories(exif.subarray(prefixBytes(exif))).texts(new Set(tags)),
    () => new Map(),
  );
}

class ExifDirectories {
  readonly #bytes: Buffer;
  readonly #read: (at: number, bytes: 2 | 4) => number;
  readonly #first: number;
  /** Position of the link to the second directory, that of the thumbnail. */
  readonly #link: number;

  /** @throws RangeError for an unknown byte order or an offset outside of the bytes */
  constructor(bytes: Buffer) {
    const read = uintReader(bytes);
    if (read === null) throw new RangeError('The byte order is unknown.');
    this.#bytes = bytes;
    this.#read = read;
    this.#first = read(4, 4);
    this.#link = this.#first + 2 + 12 * read(this.#first, 2);
  }

  get hasThumbnail(): boolean {
    return this.#read(this.#link, 4) !== 0;
  }

  withoutThumbnail(): Buffer {
    const read = this.#read;
    const plain = Buffer.alloc(this.#bytes.length);
    let kept = 0;
    const keep = (from: number, length: number) => {
      kept += length;
      if (kept > maxSharing * plain.length) throw new RangeError('The values share bytes.');
      if (from + length > this.#bytes.length) throw new RangeError('A value is outside.');
      plain.set(this.#bytes.subarray(from, from + length), from);
    };
    keep(0, 8);
    const seen = new Set<number>();
    const waiting = [this.#first];
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      if (seen.has(at)) continue;
      seen.add(at);
      if (seen.size > maxDirectories) throw new RangeError('The EXIF has too many directories.');
      const entries = read(at, 2);
      keep(at, 2 + 12 * entries);
      for (let entry = at + 2; entry < at + 2 + 12 * entries; entry += 12) {
        const size = (typeBytes[read(entry + 2, 2)] ?? 0) * read(entry + 4, 4);
        if (size > 4) keep(read(entry + 8, 4), size);
        if (directoryTags.has(read(entry, 2))) waiting.push(read(entry + 8, 4));
      }
    }
    return plain;
  }

  texts(tags: ReadonlySet<number>): Map<number, Buffer> {
    const read = this.#read;
    const found = new Map<number, Buffer>();
    for (let entry = this.#first + 2; entry < this.#link; entry += 12) {
      const tag = read(entry, 2);
      if (!tags.has(tag) || read(entry + 2, 2) !== ascii) continue;
      const length = read(entry + 4, 4);
      const at = length > 4 ? read(entry + 8, 4) : entry + 8;
      if (at + length <= this.#bytes.length) found.set(tag, this.#bytes.subarray(at, at + length));
    }
    return found;
  }
}
