import { type Random, seeded } from '../../../bench/load/generator.ts';
import { words } from './bytes.ts';
import { findFormat } from './formats.ts';
import {
  changes,
  copied,
  edgeValues,
  type Format,
  findLists,
  type Part,
  someList,
  written,
} from './part-tree.ts';

interface Mutant {
  /** The image kind and the changes. */
  readonly what: string;
  readonly bytes: Buffer;
}

/** A damaged or hostile image with its request. */
export interface Input extends Mutant {
  readonly query: string;
  /** True for a project that keeps metadata. */
  readonly keepsMetadata: boolean;
}

type Mutate = (bytes: Buffer, random: Random, others: readonly Buffer[]) => Buffer;

/** Changes of bytes, independent of the format. */
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
        // A changed signature would be another format.
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

function changed(bytes: Buffer, change: (copy: Buffer) => void): Buffer {
  const copy = Buffer.from(bytes);
  change(copy);
  return copy;
}

/** Parameters that use different parts of a transform; `&` stands for no parameter. */
const queries = words(`
  w=40&fmt=webp w=40 fmt=json fmt=blurhash fmt=thumbhash fmt=lqip keep=copyright keep=copyright
  keep=copyright&w=20&fmt=jpeg keep=copyright&fmt=png hdr=keep hdr=keep&w=50&fmt=jpeg icc=keep&w=30
  icc=keep&fmt=avif&w=20 trim trim=30&fmt=json page=0 page=1 page=2&w=9 animated=0&w=30 q=auto&w=30
  q=auto&fmt=jpeg lossless&fmt=webp lossless=0&fmt=webp&w=30 lenient lenient&w=30&fmt=png
  lenient&keep=copyright maxbytes=900&fmt=webp fmt=avif&w=16 fmt=gif&w=20 fmt=png&w=30
  fmt=jpeg&bg=fff crop=1,1,8,8 rotate=30&w=30 w=20&h=20&pos=attention w=30&h=30&fit=contain
  dpr=2&w=10&normalize &`);

interface Tree {
  readonly format: Format;
  readonly parts: Part[];
  readonly lists: ReturnType<typeof findLists>;
}

const trees = new WeakMap<Buffer, Tree>();

/** Returns the parts of an original and all lists of parts. Cached. */
function readTree(kind: string, bytes: Buffer): Tree {
  const known = trees.get(bytes);
  if (known !== undefined) return known;
  const list = { format: findFormat(kind), parts: findFormat(kind).read(bytes) };
  const tree = { ...list, lists: findLists(list) };
  trees.set(bytes, tree);
  return tree;
}

/** Changes parts of an original. Metadata and pixels are equally likely. */
function restructured(
  originals: ReadonlyMap<string, Buffer>,
  kind: string,
  random: Random,
): Mutant {
  const others = [...originals].flatMap(([name, bytes]) => readTree(name, bytes).lists);
  const { format, parts } = readTree(kind, originals.get(kind) ?? Buffer.alloc(0));
  const tree = { format, parts: copied(parts) };
  const isChecked = random.below(5) > 0;
  const done: string[] = isChecked ? [] : ['unchecked'];
  for (let left = 1 + random.below(4); left > 0; left--) {
    if (tree.parts.length === 0) break;
    const list = someList(tree, random);
    const part = random.pick(list.parts);
    const related = others.filter((other) => other.format === list.format);
    const name = random.pick(Object.keys(changes));
    done.push(`${part.type} ${name}`);
    changes[name]?.(list, part, random, random.below(4) === 0 ? others : related);
  }
  return { what: done.join(', '), bytes: written(format, tree.parts, isChecked) };
}

/** Returns a mutant by its number in a seed's sequence. */
export function mutant(
  originals: ReadonlyMap<string, Buffer>,
  seed: number,
  number: number,
): Input {
  const random = seeded(Math.imul(seed, 0x9e3779b1) + number);
  const kind = [...originals.keys()][number % originals.size] ?? '';
  const original = originals.get(kind);
  if (original === undefined) throw new Error('no originals');
  const query = random.pick(queries);
  const keepsMetadata = random.below(3) === 0;
  const isRestructured = random.below(4) > 0;
  const made = isRestructured
    ? restructured(originals, kind, random)
    : { what: '', bytes: original };
  let { bytes } = made;
  const done = isRestructured ? [made.what] : [];
  const others = [...originals.values()];
  for (let left = isRestructured ? random.below(5) - 3 : 1 + random.below(2); left > 0; left--) {
    const name = random.pick(Object.keys(damages));
    const next = bytes.length < 16 ? bytes : (damages[name]?.(bytes, random, others) ?? bytes);
    // Stop: too few bytes are left to change.
    if (next.length < 16) break;
    bytes = next;
    done.push(name);
  }
  return { what: `${kind} ${done.join(', ')}`, bytes, query, keepsMetadata };
}
