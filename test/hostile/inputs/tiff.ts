import { le16 } from './chunks.ts';

/** Writes TIFF files and EXIF (TIFF 6.0; Exif 3.0, 4.5) with any contents. */

/** Written once, however many entries point to it. */
type Target = Buffer | Directory;

export interface Entry {
  tag: number;
  /** 1 bytes, 2 ASCII, 3 SHORT, 4 LONG, 7 undefined, 13 a directory. */
  type: number;
  /** A false number of values. */
  count?: number;
  /** The values, or the targets of offsets. */
  value: Buffer | readonly Target[];
}

export interface Directory {
  entries: Entry[];
  next?: Directory;
}

/** Bytes per value, by type number. */
export const typeBytes = [1, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4];

/** Writes a file. */
export function createTiff(first: Directory, little = true): Buffer {
  const short = (to: Buffer, value: number, at: number) =>
    little ? to.writeUInt16LE(value & 0xffff, at) : to.writeUInt16BE(value & 0xffff, at);
  const long = (to: Buffer, value: number, at: number) =>
    little ? to.writeUInt32LE(value >>> 0, at) : to.writeUInt32BE(value >>> 0, at);
  const places = new Map<Target, number>();
  const inOrder: Target[] = [];
  let end = 8;
  const place = (target: Target): number => {
    const known = places.get(target);
    if (known !== undefined) return known;
    const at = end;
    const size = Buffer.isBuffer(target) ? target.length : 6 + 12 * target.entries.length;
    // Values start at an even offset.
    end += size + (size & 1);
    places.set(target, at);
    inOrder.push(target);
    return at;
  };
  place(first);
  const written: Buffer[] = [];
  const toBytes = (value: Entry['value']): Buffer => {
    if (Buffer.isBuffer(value)) return value;
    const offsets = Buffer.alloc(4 * value.length);
    for (const [index, to] of value.entries()) long(offsets, place(to), 4 * index);
    return offsets;
  };
  // The list grows during the loop.
  for (const target of inOrder) {
    if (Buffer.isBuffer(target)) {
      written.push(target, Buffer.alloc(target.length & 1));
      continue;
    }
    const { entries, next } = target;
    const directory = Buffer.alloc(6 + 12 * entries.length);
    short(directory, entries.length, 0);
    for (const [index, { tag, type, count, value }] of entries.entries()) {
      const at = 2 + 12 * index;
      const bytes = toBytes(value);
      short(directory, tag, at);
      short(directory, type, at + 2);
      long(directory, count ?? Math.floor(bytes.length / (typeBytes[type] ?? 1)), at + 4);
      if (bytes.length > 4) long(directory, place(bytes), at + 8);
      else directory.set(bytes, at + 8);
    }
    long(directory, next === undefined ? 0 : place(next), directory.length - 4);
    written.push(directory);
  }
  const head = Buffer.from(little ? 'II*\0\x08\0\0\0' : 'MM\0*\0\0\0\x08', 'latin1');
  return Buffer.concat([head, ...written]);
}

export const text = (tag: number, value: Buffer): Entry => ({ tag, type: 2, value });

export const shorts = (tag: number, ...values: readonly number[]): Entry => ({
  tag,
  type: 3,
  value: Buffer.concat(values.map(le16)),
});

export const pointer = (tag: number, to: Target): Entry => ({ tag, type: 4, value: [to] });

/**
 * Returns a grey 8 × 8 image.
 * @param entries additional entries, which replace entries with the same tag
 */
export function tiffPicture(entries: readonly Entry[]): Directory {
  const replaced = new Set(entries.map(({ tag }) => tag));
  const pixels = Buffer.alloc(64, 0x80);
  const required = [
    shorts(256, 8),
    shorts(257, 8),
    shorts(258, 8),
    shorts(259, 1),
    shorts(262, 1),
    pointer(273, pixels),
    shorts(277, 1),
    shorts(278, 8),
    shorts(279, pixels.length),
  ];
  const kept = required.filter(({ tag }) => !replaced.has(tag));
  return { entries: [...kept, ...entries].sort((a, b) => a.tag - b.tag) };
}

/**
 * Returns a rotated 60 × 40 image with 16 bits per sample, and two samples that are neither colours
 * nor alpha.
 * @param at colour of a pixel, 0..255
 */
export function deepTiff(profile: Buffer, at: (x: number, y: number) => readonly number[]): Buffer {
  const [width, height, samples] = [60, 40, 5];
  const pixels = Buffer.alloc(2 * width * height * samples);
  for (let index = 0; index < width * height; index++) {
    const colour = at(index % width, Math.floor(index / width));
    for (const [sample, value] of colour.entries())
      pixels.writeUInt16LE(257 * value, 2 * (index * samples + sample));
  }
  const entries = [
    shorts(256, width),
    shorts(257, height),
    shorts(258, ...Array<number>(samples).fill(16)),
    shorts(262, 2),
    pointer(273, pixels),
    shorts(274, 6),
    shorts(277, samples),
    shorts(278, height),
    shorts(279, pixels.length),
    shorts(338, 0, 0),
    { tag: 34_675, type: 7, value: profile },
  ];
  return createTiff(tiffPicture(entries));
}

/**
 * Returns 4 MB of EXIF with overlapping directories. Each of 350,000 entries refers to another
 * directory, and that directory takes its number of entries from the lower half of an offset.
 */
export function crossedDirectories(): Buffer {
  const entries = 350_000;
  // The longest directory ends inside.
  const bytes = Buffer.alloc(10 + 12 * (entries + 0x10000));
  bytes.write('MM\0*', 'latin1');
  bytes.writeUInt32BE(8, 4);
  bytes.writeUInt16BE(entries % 0x10000, 8);
  for (let entry = 0; entry < entries; entry++) {
    const at = 10 + 12 * entry;
    bytes.writeUInt16BE(0x8769, at);
    bytes.writeUInt16BE(4, at + 2);
    bytes.writeUInt32BE(1, at + 4);
    bytes.writeUInt32BE(8 + 12 * ((entry * 7919 + 1) % entries), at + 8);
  }
  return bytes;
}
