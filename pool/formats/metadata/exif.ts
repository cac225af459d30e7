/** Bytes of each type of value (TIFF 6.0, section 2), by number. */
const typeBytes = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8];

/** The tags whose values are offsets of further directories: Exif, GPS, interoperability. */
const directoryTags: ReadonlySet<number> = new Set([0x8769, 0x8825, 0xa005]);

const prefix = Buffer.from('Exif\0\0', 'latin1');

/**
 * EXIF without its thumbnail, which shows what a crop or a blur was to remove: of the same length,
 * with zeros in place of everything that the first directory (that of the image itself) does not lead
 * to (Exif 3.0, 4.5).
 *
 * @returns the argument when it has no thumbnail; null when it cannot be read
 */
export function withoutThumbnail(exif: Buffer): Buffer | null {
  const start = exif.subarray(0, prefix.length).equals(prefix) ? prefix.length : 0;
  try {
    const tiff = new Tiff(exif.subarray(start));
    if (!tiff.hasThumbnail) return exif;
    return Buffer.concat([exif.subarray(0, start), tiff.withoutThumbnail()]);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/**
 * More than the directories that there are (Exif 3.0, 4.6.3), and than the values together, which may
 * share bytes, have in files of cameras.
 */
const mostDirectories = 16;
const mostShared = 4;

/** The texts of the tags for which the image itself has one, without what pads them. */
export function textTags(exif: Buffer, tags: readonly number[]): ReadonlyMap<number, Buffer> {
  const start = exif.subarray(0, prefix.length).equals(prefix) ? prefix.length : 0;
  try {
    return new Tiff(exif.subarray(start)).texts(new Set(tags));
  } catch (error) {
    if (error instanceof RangeError) return new Map();
    throw error;
  }
}

const ascii = 2;

class Tiff {
  readonly #bytes: Buffer;
  readonly #little: boolean;
  readonly #first: number;
  /** Where the offset of the second directory is, that of the thumbnail. */
  readonly #link: number;

  /** @throws RangeError when an offset leads outside */
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    const order = bytes.toString('latin1', 0, 2);
    if (order !== 'II' && order !== 'MM') throw new RangeError('The byte order is unknown.');
    this.#little = order === 'II';
    this.#first = this.#uint32(4);
    this.#link = this.#first + 2 + 12 * this.#uint16(this.#first);
  }

  get hasThumbnail(): boolean {
    return this.#uint32(this.#link) !== 0;
  }

  withoutThumbnail(): Buffer {
    const plain = Buffer.alloc(this.#bytes.length);
    let kept = 0;
    const keep = (from: number, length: number) => {
      kept += length;
      if (kept > mostShared * plain.length) throw new RangeError('The values share bytes.');
      if (from + length > this.#bytes.length) throw new RangeError('A value is outside.');
      plain.set(this.#bytes.subarray(from, from + length), from);
    };
    keep(0, 8);
    const seen = new Set<number>();
    const waiting = [this.#first];
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      if (seen.has(at)) continue;
      seen.add(at);
      if (seen.size > mostDirectories) throw new RangeError('There are too many directories.');
      const entries = this.#uint16(at);
      keep(at, 2 + 12 * entries);
      for (let entry = at + 2; entry < at + 2 + 12 * entries; entry += 12) {
        const size = (typeBytes[this.#uint16(entry + 2)] ?? 0) * this.#uint32(entry + 4);
        if (size > 4) keep(this.#uint32(entry + 8), size);
        if (directoryTags.has(this.#uint16(entry))) waiting.push(this.#uint32(entry + 8));
      }
    }
    return plain;
  }

  texts(tags: ReadonlySet<number>): Map<number, Buffer> {
    const found = new Map<number, Buffer>();
    for (let entry = this.#first + 2; entry < this.#link; entry += 12) {
      const tag = this.#uint16(entry);
      if (!tags.has(tag) || this.#uint16(entry + 2) !== ascii) continue;
      const length = this.#uint32(entry + 4);
      const at = length > 4 ? this.#uint32(entry + 8) : entry + 8;
      if (at + length <= this.#bytes.length) found.set(tag, this.#bytes.subarray(at, at + length));
    }
    return found;
  }

  #uint16(at: number): number {
    return this.#little ? this.#bytes.readUInt16LE(at) : this.#bytes.readUInt16BE(at);
  }

  #uint32(at: number): number {
    return this.#little ? this.#bytes.readUInt32LE(at) : this.#bytes.readUInt32BE(at);
  }
}
