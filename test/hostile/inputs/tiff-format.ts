import { latin1Text, none } from './bytes.ts';
import { dataSets, icc, resources, xml } from './metadata-formats.ts';
import { type Format, opened, type Part, readContent } from './part-tree.ts';
import { createTiff, type Directory, type Entry, typeBytes } from './tiff.ts';

/** Tags with directory offsets, and tags with pixel offsets, each with the tag of its length. */
const directoryTags: ReadonlySet<number> = new Set([0x014a, 0x8769, 0x8825, 0xa005]);
const pixelTags: ReadonlyMap<number, number> = new Map([
  [273, 279],
  [324, 325],
  [0x0201, 0x0202],
]);
const maxDirectories = 20;

/** A TIFF's directories, with entries of the types `tag/type`. */
const directories: Format = { read: () => [] };
const entries: Format = { read: () => [] };
const pixels: Format = { read: () => [] };

export const tiff: Format = {
  read: (bytes) => {
    const little = latin1Text(bytes.subarray(0, 2)) === 'II';
    const short = (at: number) => (little ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at));
    const long = (at: number) => (little ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
    let left = maxDirectories;
    const numbers = (entry: number): number[] => {
      const [type, count] = [short(entry + 2), Math.min(long(entry + 4), 100)];
      const size = typeBytes[type] ?? 1;
      const at = size * count > 4 ? long(entry + 8) : entry + 8;
      return Array.from({ length: count }, (_, i) => (size === 2 ? short : long)(at + size * i));
    };
    const chain = (start: number): Part[] => {
      const found: Part[] = [];
      for (let at = start; at !== 0 && left > 0; left--) {
        const all = Array.from({ length: short(at) }, (_, index) => at + 2 + 12 * index);
        const parts = all.map((entry) => entryAt(entry, all));
        found.push({ type: 'directory', data: none, inside: { format: entries, parts } });
        at = long(at + 2 + 12 * all.length);
      }
      return found;
    };
    const entryAt = (entry: number, all: readonly number[]): Part => {
      const [tag, kind, count] = [short(entry), short(entry + 2), long(entry + 4)];
      const type = `${tag}/${kind}`;
      if (directoryTags.has(tag)) {
        const parts = numbers(entry).flatMap(chain);
        return { type, data: none, inside: { format: directories, parts } };
      }
      const lengths = all.find((other) => short(other) === pixelTags.get(tag));
      if (lengths !== undefined) {
        const sizes = numbers(lengths);
        const parts = numbers(entry).map(
          (at, index): Part => ({
            type: 'pixels',
            data: bytes.subarray(at, at + (sizes[index] ?? 0)),
          }),
        );
        return { type, data: none, inside: { format: pixels, parts } };
      }
      const size = (typeBytes[kind] ?? 1) * count;
      const at = size > 4 ? long(entry + 8) : entry + 8;
      const data = bytes.subarray(at, at + size);
      const format = { 700: xml, 33723: dataSets, 34377: resources, 34675: icc }[tag];
      return format === undefined ? { type, data } : opened(type, data, 0, format);
    };
    return [{ type: 'head', data: bytes.subarray(0, 2) }, ...chain(long(4))];
  },
  file: (parts, isChecked) => {
    const isLittle = parts.every(({ type, data }) => type !== 'head' || latin1Text(data) === 'II');
    const rest = parts.filter(({ type }) => type !== 'head');
    return createTiff(chained(rest, isChecked) ?? { entries: [] }, isLittle);
  },
};

/** Links directories to a list. */
function chained(parts: readonly Part[], isChecked: boolean): Directory | undefined {
  let first: Directory | undefined;
  for (const { inside, times = 1, depth = 0 } of parts.toReversed()) {
    const own = toEntries(inside?.parts ?? [], isChecked);
    for (let left = Math.min(times, 3_000); left > 0; left--) {
      first = { entries: own, ...(first === undefined ? {} : { next: first }) };
    }
    for (let left = Math.min(depth, 3_000); left > 0; left--) {
      first = { entries: [...own, { tag: 0x8769, type: 4, value: first ? [first] : none }] };
    }
  }
  return first;
}

const toEntries = (parts: readonly Part[], isChecked: boolean): Entry[] =>
  parts.flatMap((part) => {
    const [tag = 0, type = 7] = part.type.split('/').map((number) => Number(number) || 0);
    const count = part.statedLength === undefined ? {} : { count: part.statedLength };
    const entry = { tag, type, ...count, value: toBytes(part, isChecked) };
    return new Array<Entry>(Math.min(part.times ?? 1, 20_000)).fill(entry);
  });

function toBytes(part: Part, isChecked: boolean): Entry['value'] {
  const { format, parts = [] } = part.inside ?? {};
  if (format === pixels) {
    return parts.flatMap(({ data, times = 1 }) => new Array<Buffer>(times).fill(data));
  }
  if (format !== directories) return readContent(part, isChecked);
  const first = chained(parts, isChecked);
  return first === undefined ? none : [first];
}
