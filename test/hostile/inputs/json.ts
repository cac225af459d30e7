import { seeded } from '../../../bench/load/generator.ts';
import { words } from './bytes.ts';
import {
  changes,
  copied,
  encodedParts,
  type Format,
  type Part,
  readContent,
  someList,
  written,
} from './part-tree.ts';

/** Malformed bodies of the control plane. */

const text = (value: string) => Buffer.from(value);
const inBrackets = (format: Format, parts: readonly Part[], [open, close]: string): Buffer => {
  const all = Buffer.concat(encodedParts(format, parts, true));
  return Buffer.concat([text(open ?? ''), all.subarray(0, -1), text(close ?? '')]);
};

/** Members of an object, with their names as types, and elements of an array. */
const object: Format = {
  read: () => [],
  encodePart: ({ type }, content) => Buffer.concat([text(`${type}:`), content, text(',')]),
  file: (parts) => inBrackets(object, parts, '{}'),
};
const array: Format = {
  read: () => [],
  encodePart: (_, content) => Buffer.concat([content, text(',')]),
  file: (parts) => inBrackets(array, parts, '[]'),
};
const body: Format = { read: () => [] };

function createPart(type: string, value: unknown): Part {
  if (typeof value !== 'object' || value === null) {
    return { type, data: text(JSON.stringify(value)) };
  }
  const format = Array.isArray(value) ? array : object;
  const parts = Object.entries(value).map(([name, its]) => createPart(JSON.stringify(name), its));
  return { type, data: text(''), inside: { format, parts } };
}

/** Lengths up to slightly more than the body limit. */
const long = [50, 500, 8_000, 30_000, 66_000];
const edgeValues = words(`
  null true [] {} "" 0 -0 -1 1e400 1e-400 -1e400 9007199254740993 0.1 "\\ud800" "\\u0000" "$where"
  "__proto__" 01`);
const values: readonly ((length: number) => string)[] = [
  ...edgeValues.map((value) => () => value),
  (length) => '9'.repeat(length),
  (length) => `0.${'0'.repeat(length)}1`,
  (length) => `1e${'9'.repeat(length)}`,
  (length) => '['.repeat(length / 2) + ']'.repeat(length / 2),
  (length) => '['.repeat(length),
  (length) => `${'{"a":'.repeat(length / 6)}1${'}'.repeat(length / 6)}`,
  (length) => `[${'{},'.repeat(length / 3)}{}]`,
  (length) => `[${'"a.example",'.repeat(length / 12)}"a.example"]`,
  (length) => `{${Array.from({ length: length / 12 }, (_, i) => `"k${i}":${i}`).join()}}`,
  (length) => `"${'a'.repeat(length)}"`,
  (length) => `"${'.'.repeat(length)}"`,
  (length) => `"${'a.'.repeat(length / 2)}example"`,
  (length) => `"${'😀'.repeat(length / 4)}"`,
  (length) => `"${'\u4f60'.repeat(length / 3)}.example"`,
  (length) => `"${'\\u202e'.repeat(length / 6)}"`,
  (length) => `"http://${'a'.repeat(length)}/"`,
  (length) => `"https://a.example/${'%41'.repeat(length / 3)}"`,
  (length) => `"https://a.example/${'../'.repeat(length / 3)}"`,
  (length) => `"https://${'@'.repeat(length)}a.example/"`,
  (length) => `"http://[${':'.repeat(length)}]/"`,
];
const names = words(`
  "__proto__" "constructor" "$set" "a.b" "" "\\u0000" "\\ud83d" "id" "${'k'.repeat(20_000)}" "toString"
  "hasOwnProperty" name 'name' 1`);
const whitespace = [' ', '\n', '\t', '\ufeff', '/**/', '\u00a0'];

/** @param original a valid body */
export function hostileJson(original: unknown, seed: number, number: number) {
  const random = seeded(Math.imul(seed, 0x9e3779b1) + number);
  const parts = copied([createPart('body', original)]);
  const tree = { format: body, parts };
  const others = parts.flatMap(({ inside }) => (inside === undefined ? [] : [inside]));
  const done: string[] = [];
  for (let left = 1 + random.below(3); left > 0 && parts.length > 0; left--) {
    const list = someList(tree, random);
    const part = random.pick(list.parts);
    const how = random.below(5);
    if (how < 2) {
      part.data = text(random.pick(values)(random.pick(long)));
      delete part.inside;
      done.push(`${part.type} is ${part.data.toString('utf8', 0, 20)} of ${part.data.length}`);
    } else if (how === 2) {
      part.type = random.pick(names);
      done.push(`named ${part.type.slice(0, 20)}`);
    } else {
      const name = random.pick(Object.keys(changes));
      changes[name]?.(list, part, random, others);
      done.push(`${part.type} ${name}`);
    }
    // Repeating a long part would far exceed the body limit.
    if (readContent(part, true).length > 1_000) {
      delete part.times;
      delete part.depth;
    }
  }
  const made = written(body, parts, true);
  const isPadded = random.below(10) === 0;
  const padding = isPadded ? text(random.pick(whitespace).repeat(random.pick(long))) : text('');
  return { what: done.join(', '), bytes: Buffer.concat([padding, made]) };
}
