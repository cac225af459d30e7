import colourNames from 'color-name';
import type { Colour } from '../../pool/transform/variant.ts';

/** A type of parameter values: its parser and its writer. */
export interface Value<T> {
  /** The accepted texts, in words. */
  readonly accepts: string;
  /** The value of a text, or undefined when the text is not accepted. */
  readonly parse: (text: string) => T | undefined;
}

/** Plain decimal notation: no exponent, hex, blanks or plus sign. */
const decimal = /^-?\d{1,9}(?:\.\d{1,6})?$/;

export function number(minimum: number, maximum: number): Value<number> {
  return {
    accepts: `a number from ${minimum} to ${maximum}`,
    parse(text) {
      const value = decimal.test(text) ? Number(text) : Number.NaN;
      // Adding 0 turns -0 into 0.
      return value >= minimum && value <= maximum ? value + 0 : undefined;
    },
  };
}

export function integer(minimum: number, maximum: number): Value<number> {
  const { parse } = number(minimum, maximum);
  return {
    accepts: `a whole number from ${minimum} to ${maximum}`,
    parse: (text) => {
      const value = parse(text);
      return Number.isInteger(value) ? value : undefined;
    },
  };
}

/** @param spellings other texts for some of the values, in lower case */
export function choice<T extends string>(
  values: readonly T[],
  spellings: Readonly<Record<string, T>> = {},
): Value<T> {
  const known = new Map<string, T>([
    ...values.map((value) => [value, value] as const),
    ...Object.entries(spellings),
  ]);
  return {
    accepts: `one of ${values.join(', ')}`,
    parse: (text) => known.get(text.toLowerCase()),
  };
}

/** A value, or one word in its place. */
export function orWord<T, W extends string>(value: Value<T>, word: W): Value<T | W> {
  return {
    accepts: `${value.accepts}, or ${word}`,
    parse: (text) => (text.toLowerCase() === word ? word : value.parse(text)),
  };
}

const flagWords: ReadonlyMap<string, boolean> = new Map([
  ['', true],
  ['1', true],
  ['true', true],
  ['0', false],
  ['false', false],
]);

export const flag: Value<boolean> = {
  accepts: 'nothing, 1 or true, or 0 or false',
  parse: (text) => flagWords.get(text.toLowerCase()),
};

/**
 * A flag or a number. 1 and 0 are always the flag, even if they are in the number's range.
 *
 * @param on the number that the flag stands for; off is null
 */
export function flagOr(value: Value<number>, on: number): Value<number | null> {
  return {
    accepts: `nothing, 1 or true for ${on}, 0 or false for none, or ${value.accepts}`,
    parse(text) {
      const word = flag.parse(decimal.test(text) ? String(Number(text)) : text);
      if (word === undefined) return value.parse(text);
      return word ? on : null;
    },
  };
}

/** Numbers separated by `,` or `_`, in the order of their names. */
export function parts<N extends string>(
  ranges: Readonly<Record<N, Value<number>>>,
): Value<Readonly<Record<N, number>>> {
  const names = Object.keys(ranges) as N[];
  return {
    accepts: `${names.join(',')}: ${rangesInWords(ranges)}`,
    parse(text) {
      const texts = text.split(/[,_]/);
      if (texts.length !== names.length) return undefined;
      const values = names.map((name, index) => ranges[name].parse(texts[index] ?? ''));
      if (values.includes(undefined)) return undefined;
      return Object.fromEntries(names.map((name, index) => [name, values[index]])) as Record<
        N,
        number
      >;
    },
  };
}

/** The ranges of the parts; parts with the same range are grouped. */
function rangesInWords(ranges: Readonly<Record<string, Value<number>>>): string {
  const groups = new Map<string, string[]>();
  for (const [name, { accepts }] of Object.entries(ranges)) {
    groups.set(accepts, [...(groups.get(accepts) ?? []), name]);
  }
  if (groups.size === 1) return `each ${[...groups.keys()]}`;
  return [...groups].map(([accepts, names]) => `${names.join(' and ')} ${accepts}`).join(', ');
}

const hex = /^(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/;

/** As `#rrggbbaa`. */
export const colour: Value<Colour> = {
  accepts: 'hex digits without # (3, 4, 6 or 8), or a CSS colour name',
  parse(text) {
    const lower = text.toLowerCase();
    if (lower === 'transparent') return '#00000000';
    if (Object.hasOwn(colourNames, lower)) {
      return `#${Buffer.from(colourNames[lower as keyof typeof colourNames]).toString('hex')}ff`;
    }
    if (!hex.test(lower)) return undefined;
    const long = lower.length <= 4 ? lower.replaceAll(/./g, '$&$&') : lower;
    return `#${long.padEnd(8, 'f')}`;
  },
};
