import { be16, be32 } from './chunks.ts';

/** Reads and writes ICC profiles (ICC.1:2022) with any contents. */

export interface Tag {
  signature: string;
  data: Buffer;
}

const headerBytes = 128;

export function readTags(profile: Buffer): Tag[] {
  const tags: Tag[] = [];
  const count = profile.length > headerBytes + 4 ? profile.readUInt32BE(headerBytes) : 0;
  for (let tag = 0; tag < count; tag++) {
    const at = headerBytes + 4 + 12 * tag;
    if (at + 12 > profile.length) break;
    const from = profile.readUInt32BE(at + 4);
    const data = profile.subarray(from, from + profile.readUInt32BE(at + 8));
    tags.push({ signature: profile.toString('latin1', at, at + 4), data });
  }
  return tags;
}

/** Tags of the same buffer share its bytes, like the curves of most profiles. */
export function createProfile(header: Buffer, tags: readonly Tag[]): Buffer {
  const places = new Map<Buffer, number>();
  let end = headerBytes + 4 + 12 * tags.length;
  const table = Buffer.alloc(12 * tags.length);
  const data: Buffer[] = [];
  for (const [index, tag] of tags.entries()) {
    let at = places.get(tag.data);
    if (at === undefined) {
      at = end;
      const padding = Buffer.alloc(-tag.data.length & 3);
      data.push(tag.data, padding);
      end += tag.data.length + padding.length;
      places.set(tag.data, at);
    }
    table.write(tag.signature, 12 * index, 'latin1');
    table.writeUInt32BE(at, 12 * index + 4);
    table.writeUInt32BE(tag.data.length, 12 * index + 8);
  }
  const head = Buffer.from(header.subarray(0, headerBytes));
  head.writeUInt32BE(end);
  return Buffer.concat([head, be32(tags.length), table, ...data]);
}

const typeSignature = (value: string) => Buffer.from(`${value}\0\0\0\0`, 'latin1');
const floats = (values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeFloatBE(value, 4 * index);
  return bytes;
};
/** From three channels to three. */
const channels = Buffer.from([0, 3, 0, 3]);

/** Returns a chain (10.16) that refers to one element, a matrix, many times. */
function chain(times: number): Buffer {
  const matrix = [0.99, 0.01, 0, 0, 0.99, 0.01, 0.01, 0, 0.99, 0, 0, 0];
  const element = Buffer.concat([typeSignature('matf'), channels, floats(matrix)]);
  const position = Buffer.concat([be32(16 + 8 * times), be32(element.length)]);
  const positions = Buffer.alloc(8 * times, position);
  return Buffer.concat([typeSignature('mpet'), channels, be32(times), positions, element]);
}

/** Returns a chain of curves with many segments (10.16.2). */
function curves(segments: number): Buffer {
  const breaks = floats(Array.from({ length: segments - 1 }, (_, i) => (i + 1) / segments));
  const formula = Buffer.concat([typeSignature('parf'), Buffer.alloc(4), floats([1.1, 1, 0, 0])]);
  const curve = Buffer.concat([
    typeSignature('curf'),
    be16(segments),
    be16(0),
    breaks,
    ...new Array<Buffer>(segments).fill(formula),
  ]);
  const position = Buffer.concat([be32(12 + 24), be32(curve.length)]);
  const element = Buffer.concat([
    typeSignature('cvst'),
    channels,
    position,
    position,
    position,
    curve,
  ]);
  const only = Buffer.concat([be32(24), be32(element.length)]);
  return Buffer.concat([typeSignature('mpet'), channels, be32(1), only, element]);
}

/** Returns a table with 16 bits per colour (10.10). */
function table(grid: number): Buffer {
  const identity = Buffer.concat([1, 0, 0, 0, 1, 0, 0, 0, 1].map((value) => be32(value << 16)));
  const line = Buffer.from([0, 0, 0xff, 0xff]);
  const cells = Buffer.alloc(6 * grid ** 3, 0x5a);
  const head = Buffer.concat([typeSignature('mft2'), Buffer.from([3, 3, grid, 0]), identity]);
  const lines = Buffer.concat([line, line, line]);
  return Buffer.concat([head, be16(2), be16(2), lines, cells, lines]);
}

/** Returns a text in many languages (10.15). */
function languages(records: number, length = 2): Buffer {
  const record = [Buffer.from('enUS'), be32(length), be32(16 + 12 * records)];
  const all = Buffer.alloc(12 * records, Buffer.concat(record));
  const text = Buffer.from('\0s\0R\0G\0B\0', 'latin1');
  return Buffer.concat([typeSignature('mluc'), be32(records), be32(12), all, text]);
}

/** Returns hostile tags by description. */
export function hostileTags(): Readonly<Record<string, () => readonly Tag[]>> {
  const single = (signature: string, make: () => Buffer) => () => [{ signature, data: make() }];
  return {
    'a D2B0 tag that refers to one element 200,000 times': single('D2B0', () => chain(200_000)),
    'a D2B0 tag that refers to one element 4,000,000 times': single('D2B0', () => chain(4_000_000)),
    'a D2B1 tag that refers to one element 20,000 times': single('D2B1', () => chain(20_000)),
    'a D2B0 tag whose curve has 60,000 segments': single('D2B0', () => curves(60_000)),
    'an A2B0 tag with a table of 30 MB': single('A2B0', () => table(170)),
    'an A2B0 and a B2A0 tag with tables of 12 MB': () =>
      ['A2B0', 'B2A0'].map((signature) => ({ signature, data: table(125) })),
    'a curve with 15,000,000 points': () => {
      const points = 15_000_000;
      const data = Buffer.concat([
        typeSignature('curv'),
        be32(points),
        Buffer.alloc(2 * points, 0x40),
      ]);
      return ['rTRC', 'gTRC', 'bTRC'].map((signature) => ({ signature, data }));
    },
    'a text in 2,000,000 languages': single('desc', () => languages(2_000_000)),
    'a text truncated to an odd length': single('desc', () =>
      languages(1, 100).subarray(0, 28 + 7),
    ),
    '2,000,000 tags': () => {
      const data = Buffer.alloc(12);
      return Array.from({ length: 2_000_000 }, (_, i) => ({
        signature: `x${i % 999}`.padEnd(4),
        data,
      }));
    },
  };
}

/** Replaces some tags in a profile of three primaries. */
export function withTags(profile: Buffer, tags: readonly Tag[]): Buffer {
  const replaced = new Set(tags.map(({ signature }) => signature));
  const others = readTags(profile).filter(({ signature }) => !replaced.has(signature));
  return createProfile(profile, [...others, ...tags]);
}
