import { jpegMarkers, pngChunks, pngOf } from './chunks.ts';
import { type Kind, kinds } from './pictures.ts';
import { type Random, seeded } from './random.ts';

/** A damaged or hostile picture. */
export interface Mutant {
  /** What was done to what; with the seed and the number it says how to make it again. */
  readonly what: string;
  readonly bytes: Buffer;
}

type Mutate = (bytes: Buffer, random: Random, others: readonly Buffer[]) => Buffer;

/** Values at which decoders' arithmetic goes wrong. */
const edgeValues = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000];

/** Damages that know nothing of the format. */
const damages: Readonly<Record<string, Mutate>> = {
  truncated: (bytes, random) => bytes.subarray(0, random.below(bytes.length)),
  'truncated at the end': (bytes, random) =>
    bytes.subarray(0, bytes.length - 1 - random.below(Math.min(32, bytes.length - 1))),
  'with flipped bits': (bytes, random) =>
    changed(bytes, (copy) => {
      for (let left = 1 + random.below(16); left > 0; left--) {
        const at = random.below(copy.length);
        copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8));
      }
    }),
  'with flipped bits in the head': (bytes, random) =>
    changed(bytes, (copy) => {
      for (let left = 1 + random.below(4); left > 0; left--) {
        // Signatures stay, or the damage would only be another format.
        const at = 12 + random.below(Math.min(160, copy.length - 12));
        copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8));
      }
    }),
  'with an edge value': (bytes, random) =>
    changed(bytes, (copy) => {
      const value = random.pick(edgeValues) >>> 0;
      const at = 8 + random.below(Math.max(1, Math.min(copy.length, 400) - 12));
      if (random.below(2) === 0) copy.writeUInt32BE(value, at);
      else copy.writeUInt32LE(value, at);
    }),
  'with a block of noise': (bytes, random) =>
    changed(bytes, (copy) => {
      const from = random.below(copy.length);
      const to = Math.min(copy.length, from + 1 + random.below(64));
      for (let at = from; at < to; at++) copy[at] = random.below(256);
    }),
  'with a part repeated': (bytes, random) => {
    const from = random.below(bytes.length);
    const part = bytes.subarray(from, from + 1 + random.below(200));
    const times = 1 + random.below(300);
    return Buffer.concat([
      bytes.subarray(0, from),
      ...new Array<Buffer>(times).fill(part),
      bytes.subarray(from),
    ]);
  },
  'with a part cut out': (bytes, random) => {
    const from = random.below(bytes.length);
    return Buffer.concat([
      bytes.subarray(0, from),
      bytes.subarray(from + 1 + random.below(bytes.length - from)),
    ]);
  },
  'spliced with another': (bytes, random, others) => {
    const other = random.pick(others);
    return Buffer.concat([
      bytes.subarray(0, random.below(bytes.length)),
      other.subarray(random.below(other.length)),
    ]);
  },
  'followed by another': (bytes, random, others) => Buffer.concat([bytes, random.pick(others)]),
};

/** Where a format keeps its width and height, and how. */
const sizeFields: Partial<Record<Kind, (bytes: Buffer) => readonly [at: number, size: Field][]>> = {
  jpeg: (bytes) => jpegMarkers(bytes, 0xc0, 0xc2).map((at) => [at + 5, 'be16'] as const),
  'progressive jpeg': (bytes) => jpegMarkers(bytes, 0xc2).map((at) => [at + 5, 'be16'] as const),
  png: () => [[16, 'be32']],
  'palette png': () => [[16, 'be32']],
  gif: (bytes) => [[6, 'le16'], ...imageDescriptors(bytes)],
  'animated gif': (bytes) => [[6, 'le16'], ...imageDescriptors(bytes)],
  webp: (bytes) => webpSizes(bytes),
  'lossless webp': (bytes) => webpSizes(bytes),
  'animated webp': (bytes) => webpSizes(bytes),
  // ISO/IEC 14496-12: ispe has a version and flags before the size.
  avif: (bytes) => found(bytes, 'ispe').map((at) => [at + 8, 'be32'] as const),
};

type Field = 'be16' | 'be32' | 'le16' | 'le24';
const widths: Readonly<Record<Field, number>> = { be16: 2, be32: 4, le16: 2, le24: 3 };

function found(bytes: Buffer, text: string): number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) places.push(at);
  return places;
}

/** GIF89a, 20: the separator, the position, then the size. */
function imageDescriptors(bytes: Buffer): [number, Field][] {
  const places: [number, Field][] = [];
  for (let at = 13; at < bytes.length && places.length < 3; at++) {
    if (bytes[at] === 0x2c && bytes.readUInt32LE(Math.min(at + 1, bytes.length - 4)) === 0) {
      places.push([at + 5, 'le16']);
    }
  }
  return places;
}

/** VP8X (canvas), ANMF (frame) and VP8 (RFC 9649; RFC 6386, 9.1). */
function webpSizes(bytes: Buffer): [number, Field][] {
  return [
    ...found(bytes, 'VP8X').map((at): [number, Field] => [at + 12, 'le24']),
    ...found(bytes, 'ANMF').map((at): [number, Field] => [at + 14, 'le24']),
    ...found(bytes, 'VP8 ').map((at): [number, Field] => [at + 14, 'le16']),
    ...found(bytes, 'VP8L').map((at): [number, Field] => [at + 9, 'le16']),
  ];
}

const inflatedSides = [0, 1, 255, 9_999, 16_383, 16_384, 30_000, 65_535, 0x7fff_ffff, 0xffff_ffff];

/** Says of a picture that it is of another size. */
function inflated(bytes: Buffer, random: Random, kind: Kind): Buffer {
  if (kind === 'svg') {
    const side = () => random.pick(['1e9', '99999', '-5', '0', '100%', '1e-9', 'NaN', '30000mm']);
    const text = bytes.toString().replace('width="96"', `width="${side()}"`);
    return Buffer.from(text.replace('height="64"', `height="${side()}"`));
  }
  const places = kind.endsWith('tiff') ? tiffEntries(bytes) : (sizeFields[kind]?.(bytes) ?? []);
  if (places.length === 0) return bytes;
  return changed(bytes, (copy) => {
    const [at, field] = random.pick(places);
    const width = widths[field];
    for (const place of [at, at + width]) {
      if (place + width > copy.length || random.below(4) === 0) continue;
      const value = random.pick(inflatedSides) % 2 ** (8 * width);
      if (field.startsWith('be')) copy.writeUIntBE(value, place, width);
      else copy.writeUIntLE(value, place, width);
    }
  });
}

/** TIFF 6.0: the values of the first directory's entries, sizes and offsets among them. */
function tiffEntries(bytes: Buffer): [number, Field][] {
  const directory = bytes.readUInt32LE(4);
  if (directory + 2 > bytes.length) return [];
  const count = bytes.readUInt16LE(directory);
  return Array.from({ length: count }, (_, i): [number, Field] => [
    directory + 2 + 12 * i + 8,
    'le24',
  ]).filter(([at]) => at + 8 <= bytes.length);
}

function changed(bytes: Buffer, change: (copy: Buffer) => void): Buffer {
  const copy = Buffer.from(bytes);
  change(copy);
  return copy;
}

/** Corrects the checksums of a PNG, so that a decoder reads what is damaged in it. */
const withChecksums = (png: Buffer): Buffer => pngOf(pngChunks(png));

/** One of the endless row of mutants that a seed gives; each can be made alone. */
export function mutant(originals: ReadonlyMap<Kind, Buffer>, seed: number, number: number): Mutant {
  const random = seeded(Math.imul(seed, 0x9e3779b1) + number);
  const kind = kinds[number % kinds.length] ?? 'jpeg';
  const original = originals.get(kind);
  if (original === undefined) throw new Error(`no ${kind}`);
  const others = [...originals.values()];
  let bytes = original;
  const done: string[] = [];
  for (let left = 1 + random.below(2); left > 0; left--) {
    const name = random.pick([...Object.keys(damages), 'with another size', 'with another size']);
    const next = damages[name]?.(bytes, random, others) ?? inflated(bytes, random, kind);
    // What has no bytes any more is not damaged further.
    if (next.length < 16) break;
    bytes = next;
    done.push(name);
  }
  if (kind.endsWith('png') && random.below(3) > 0) bytes = withChecksums(bytes);
  return { what: `${kind} ${done.join(', ')}`, bytes };
}
