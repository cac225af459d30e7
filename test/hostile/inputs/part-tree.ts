import type { Random } from '../../../bench/load/generator.ts';

/** Reads and writes the parts of a format, such as chunks, segments, entries or elements. */
export interface Format {
  read(bytes: Buffer): Part[];
  /** Writes a part with its type, length and checksum. */
  encodePart?(part: Part, content: Buffer, isChecked: boolean): Buffer;
  /** Writes a file that is not simply a sequence of its parts. */
  file?(parts: readonly Part[], isChecked: boolean): Buffer;
}

export interface Part {
  type: string;
  /** Its bytes before the parts inside. */
  data: Buffer;
  inside?: { format: Format; parts: Part[]; packed?: (bytes: Buffer) => Buffer };
  /** Number of repetitions; 1 if absent. */
  times?: number;
  /** Number of nestings in itself. */
  depth?: number;
  /** Length or count that the part states instead of its real value. */
  statedLength?: number;
}

/** Below the source limit, and quick to write. */
const maxBytes = 8_000_000;

export function written(format: Format, parts: readonly Part[], isChecked: boolean): Buffer {
  return format.file?.(parts, isChecked) ?? Buffer.concat(encodedParts(format, parts, isChecked));
}

export function encodedParts(format: Format, parts: readonly Part[], isChecked: boolean): Buffer[] {
  let left = maxBytes;
  return parts.map((part) => {
    const content = readContent(part, isChecked);
    const encoded = (inner: Buffer) => format.encodePart?.(part, inner, isChecked) ?? inner;
    let bytes = encoded(content);
    for (let depth = part.depth ?? 0; depth > 0 && bytes.length < maxBytes; depth--) {
      bytes = encoded(part.inside === undefined ? bytes : Buffer.concat([part.data, bytes]));
    }
    const times = Math.min(part.times ?? 1, Math.max(1, Math.floor(left / (bytes.length + 1))));
    left -= times * bytes.length;
    return times === 1 || bytes.length === 0 ? bytes : Buffer.alloc(times * bytes.length, bytes);
  });
}

export function readContent({ data, inside }: Part, isChecked: boolean): Buffer {
  if (inside === undefined) return data;
  const bytes = written(inside.format, inside.parts, isChecked);
  return Buffer.concat([data, inside.packed?.(bytes) ?? bytes]);
}

/**
 * Returns a part with nested parts behind a prefix, or a plain part if the nested parts are
 * unreadable.
 */
export function opened(
  type: string,
  data: Buffer,
  prefix: number,
  format: Format,
  packing?: readonly [unpack: (bytes: Buffer) => Buffer, pack: (bytes: Buffer) => Buffer],
): Part {
  try {
    const bytes = packing?.[0](data.subarray(prefix)) ?? data.subarray(prefix);
    const packed = packing === undefined ? {} : { packed: packing[1] };
    const inside = { format, parts: format.read(bytes), ...packed };
    return { type, data: data.subarray(0, prefix), inside };
  } catch {
    return { type, data };
  }
}

interface List {
  readonly format: Format;
  readonly parts: Part[];
}

/** Returns a list of parts and all nested lists. */
export function findLists(list: List): List[] {
  return [
    list,
    ...list.parts.flatMap(({ inside }) => (inside === undefined ? [] : findLists(inside))),
  ];
}

/** Returns a random list. Lists of large and small parts are equally likely. */
export function someList(list: List, random: Random): List {
  const within = list.parts.flatMap(({ inside = list }) =>
    inside === list || inside.parts.length === 0 ? [] : [inside],
  );
  return within.length === 0 || random.below(5) < 2 ? list : someList(random.pick(within), random);
}

export function copied(parts: readonly Part[]): Part[] {
  return parts.map(({ inside, ...part }) =>
    inside === undefined ? part : { ...part, inside: { ...inside, parts: copied(inside.parts) } },
  );
}

/** Values at limits of integers. */
export const edgeValues = [
  0, 1, 2, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000, 0xffffff, 0x1000000, 0x7ffffff,
  0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff,
];

/** Returns a random number, mostly small. */
function many(random: Random): number {
  return Math.floor(10 ** (1 + 3 * random.fraction() ** 2 + (random.below(40) === 0 ? 1.5 : 0)));
}

type Change = (list: List, part: Part, random: Random, others: readonly List[]) => void;

const place = ({ parts }: List, random: Random) => random.below(parts.length + 1);

/** Changes to a list of parts or a single part. */
export const changes: Readonly<Record<string, Change>> = {
  repeated: (_, part, random) => {
    part.times = many(random);
  },
  'nested in itself': (_, part, random) => {
    part.depth = Math.min(many(random), 1_000);
  },
  removed: ({ parts }, part) => {
    parts.splice(parts.indexOf(part), 1);
  },
  moved: (list, part, random) => {
    list.parts.splice(list.parts.indexOf(part), 1);
    list.parts.splice(place(list, random), 0, part);
  },
  copied: (list, part, random) => {
    list.parts.splice(place(list, random), 0, ...copied([part]));
  },
  'with a part of another file': (list, _, random, others) => {
    const { parts } = random.pick(others);
    if (parts.length > 0)
      list.parts.splice(place(list, random), 0, ...copied([random.pick(parts)]));
  },
  'with all before it moved behind': ({ parts }, part) => {
    parts.push(...parts.splice(0, parts.indexOf(part)));
  },
  'with all behind it removed': ({ parts }, part) => {
    parts.length = parts.indexOf(part) + 1;
  },
  'with the type of another': ({ parts }, part, random, others) => {
    const all = random.below(3) === 0 ? random.pick(others).parts : parts;
    if (all.length > 0) part.type = random.pick(all).type;
  },
  truncated: (_, part, random) => {
    part.data = part.data.subarray(0, random.below(part.data.length + 1));
  },
  'with a false length': (_, part, random) => {
    part.statedLength =
      random.below(3) === 0 ? random.pick(edgeValues) : part.data.length + random.below(9) - 4;
  },
  huge: (_, part, random) => {
    const fill = random.pick([
      Buffer.alloc(1),
      Buffer.from('\xff', 'latin1'),
      part.data,
      part.data,
    ]);
    const more = Buffer.alloc(
      many(random) * random.pick([1, 10, 100]),
      fill.length > 0 ? fill : 'a',
    );
    part.data = Buffer.concat([part.data, more]);
  },
  'with an edge value': (_, part, random) =>
    changeBytes(part, random, (copy, at) => {
      const value = random.pick(edgeValues);
      const width = Math.min(random.pick([1, 2, 2, 4, 4]), copy.length - at);
      if (random.below(2) === 0) copy.writeUIntBE(value % 2 ** (8 * width), at, width);
      else copy.writeUIntLE(value % 2 ** (8 * width), at, width);
    }),
  'with flipped bits': (_, part, random) =>
    changeBytes(part, random, (copy, at) => {
      copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8));
    }),
};

/** Changes mostly the first bytes, which contain counts, sizes and offsets. */
function changeBytes(part: Part, random: Random, change: (copy: Buffer, at: number) => void): void {
  if (part.data.length === 0) return;
  const copy = Buffer.from(part.data);
  for (let left = 1 + random.below(3); left > 0; left--) {
    change(copy, Math.floor(copy.length * random.fraction() ** 3));
  }
  part.data = copy;
}
