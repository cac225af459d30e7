import colourNames from 'color-name';
import type { Colour } from '../../pool/colour.ts';
import type { Backdrop } from '../../pool/rendering/backdrop.ts';
import type { Duotone, SourceArea } from '../../pool/rendering/pixel-effects.ts';
import type { Corners } from '../../pool/rendering/rounded.ts';
import type { Area } from '../../pool/variant.ts';
import type { PresetValue } from '../../store/project.ts';

/**
 * A JSON Schema (2020-12) in a form that client generators understand. As in OpenAPI 3.1, a
 * validator converts a query's text to the schema's type.
 */
export interface ValueSchema {
  readonly type?: 'integer' | 'number' | 'boolean' | 'string';
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly ValueSchema[];
}

/** A type of parameter values: its parser and its descriptions. */
export interface ParameterType<T> {
  /** The accepted texts, in words. */
  readonly accepts: string;
  /**
   * Accepts the texts that `parse` accepts, words in lower case. Only `parse` checks the ranges of
   * numbers within a text, and rules that a pattern cannot express, such as distinct names.
   */
  readonly schema: ValueSchema;
  /** Returns the value of a text, or undefined if it is invalid. */
  readonly parse: (text: string) => T | undefined;
  /** The items of a list, to which a query can add by repeating the parameter; and their maximum. */
  readonly repeats?: { readonly item: ParameterType<unknown>; readonly most: number };
  /** The types of several numbers in one text, in order. */
  readonly parts?: Readonly<Record<string, ParameterType<number>>>;
  /** Types of which a text needs to fit only one. */
  readonly alternatives?: readonly [ParameterType<unknown>, ParameterType<unknown>];
}

/**
 * The source of a pattern for a number in plain decimal notation: no exponent, hex, blanks or plus
 * sign. Programs often print every decimal of a float.
 */
export const decimalPattern = '-?[0-9]{1,9}(?:\\.[0-9]{1,20})?';
const decimal = new RegExp(`^${decimalPattern}$`);

/**
 * Rounds a number to six decimals, the most an image uses, so that it prints in plain decimal
 * notation.
 */
const rounded = (value: number): number => Number(value.toFixed(6));

/** Returns a JSON value as text; numbers in plain decimal notation. */
export const toText = (value: PresetValue): string =>
  String(typeof value === 'number' ? rounded(value) : value);

export function number(minimum: number, maximum: number): ParameterType<number> {
  return {
    accepts: `a number from ${minimum} to ${maximum}`,
    schema: { type: 'number', minimum, maximum },
    parse(text) {
      const value = decimal.test(text) ? Number(text) : Number.NaN;
      // Adding 0 turns -0 into 0.
      return value >= minimum && value <= maximum ? rounded(value) + 0 : undefined;
    },
  };
}

export function integer(minimum: number, maximum: number): ParameterType<number> {
  const { parse } = number(minimum, maximum);
  return {
    accepts: `a whole number from ${minimum} to ${maximum}`,
    schema: { type: 'integer', minimum, maximum },
    parse: (text) => (Number.isInteger(Number(text)) ? parse(text) : undefined),
  };
}

/** A share of a side of the source. */
export interface Share {
  readonly share: number;
}

const percentPattern = '^[1-9][0-9]{0,2}(?:\\.[0-9]{1,20})?[%p]$';
export const percentage: ParameterType<Share> = {
  accepts: 'a percentage of the source from 1p to 999p',
  schema: { type: 'string', pattern: percentPattern },
  parse(text) {
    if (!new RegExp(percentPattern).test(text)) return undefined;
    return { share: rounded(Number(text.slice(0, -1)) / 100) };
  },
};

/** A side in pixels, or as a share of the source's. */
export const sideOrShare = (pixels: ParameterType<number>): ParameterType<number | Share> =>
  either(pixels, percentage);

export function mapped<T, U>(value: ParameterType<T>, map: (parsed: T) => U): ParameterType<U> {
  const parse = (text: string) => {
    const parsed = value.parse(text);
    return parsed === undefined ? undefined : map(parsed);
  };
  return { ...value, parse };
}

/** Maps the value that has no effect to null. */
export function neutral(
  value: ParameterType<number>,
  unchanged: number,
): ParameterType<number | null> {
  return mapped(value, (number) => (number === unchanged ? null : number));
}

const ratioSide = number(1, 10_000);
const quotient = number(0.0001, 10_000);

/** Width and height, such as `16:9`, or their quotient. Both notations cover the same range. */
export const aspectRatio: ParameterType<number> = {
  accepts: `width:height, each ${ratioSide.accepts}, such as 16:9; or their quotient, ${quotient.accepts}`,
  schema: {
    anyOf: [quotient.schema, { type: 'string', pattern: `^${decimalPattern}:${decimalPattern}$` }],
  },
  parse(text) {
    const [first = '', second, ...others] = text.split(':', 3);
    if (second === undefined) return quotient.parse(first);
    const [width, height] = [ratioSide.parse(first), ratioSide.parse(second)];
    if (width === undefined || height === undefined || others.length > 0) return undefined;
    return width / height;
  },
};

/** Maps an angle in degrees to at least 0 and below 360. */
export function angle(value: ParameterType<number>): ParameterType<number> {
  return mapped(value, (degrees) => (degrees + 360) % 360);
}

/** A non-empty text. @param what its description; @param maxLength in characters */
export function text(what: string, maxLength: number): ParameterType<string> {
  return {
    accepts: `${what}, of 1 to ${maxLength} characters`,
    schema: { type: 'string', minLength: 1, maxLength },
    parse: (given) => (given === '' || [...given].length > maxLength ? undefined : given),
  };
}

/** A fixed set of words. @param spellings other words for some of the values, in lower case */
export function choice<T extends string>(
  values: readonly T[],
  spellings: Readonly<Record<string, T>> = {},
): ParameterType<T> {
  const known = new Map<string, T>([
    ...values.map((value) => [value, value] as const),
    ...Object.entries(spellings),
  ]);
  return {
    accepts: `${values.length > 1 ? 'one of ' : ''}${values.join(', ')}`,
    schema: wordsSchema([...known.keys()]),
    parse: (text) => known.get(text.toLowerCase()),
  };
}

/**
 * Plain words as an enum, others as a pattern: some generators fail when `left-top` and `left_top`
 * become the same identifier.
 */
function wordsSchema(words: readonly string[]): ValueSchema {
  const isPlain = (word: string): boolean => /^[a-z0-9]+$/.test(word);
  const plain = { type: 'string', enum: words.filter(isPlain) } as const;
  const others = words.filter((word) => !isPlain(word));
  if (others.length === 0) return plain;
  return { anyOf: [plain, { type: 'string', pattern: `^(?:${others.join('|')})$` }] };
}

/** Accepts the texts of both types. */
export function either<T, U>(
  first: ParameterType<T>,
  second: ParameterType<U>,
): ParameterType<T | U> {
  const schemas = ({ schema }: ParameterType<unknown>) => schema.anyOf ?? [schema];
  return {
    alternatives: [first, second],
    accepts: `${first.accepts}, or ${second.accepts}`,
    schema: { anyOf: [...schemas(first), ...schemas(second)] },
    parse(text) {
      const value = first.parse(text);
      return value === undefined ? second.parse(text) : value;
    },
  };
}

export const withKeyword = <T, W extends string>(
  value: ParameterType<T>,
  word: W,
): ParameterType<T | W> => either(value, choice([word]));

const radius = integer(0, 10_000);
const corners = mapped(
  either(
    mapped(radius, (all) => ({ topLeft: all, topRight: all, bottomRight: all, bottomLeft: all })),
    parts({ topLeft: radius, topRight: radius, bottomRight: radius, bottomLeft: radius }),
  ),
  (radii): Corners | null => (Object.values(radii).some((length) => length > 0) ? radii : null),
);
/** Null for corners that are not rounded. */
export const cornerRadius = withKeyword(corners, 'max');

const flagWords: ReadonlyMap<string, boolean> = new Map([
  ['', true],
  ['1', true],
  ['true', true],
  ['0', false],
  ['false', false],
]);

const boolean = { type: 'boolean' } as const;
/** Texts of a flag other than JSON booleans. */
const flagTexts = { type: 'string', enum: ['', '1', '0'] } as const;

export const flag: ParameterType<boolean> = {
  accepts: 'empty, 1 or true, or 0 or false',
  schema: { anyOf: [boolean, flagTexts] },
  parse: (text) => flagWords.get(text.toLowerCase()),
};

/**
 * A flag or a number; 1 and 0 are always flags. A false flag becomes null.
 * @param on the value of a true flag
 */
export function flagOrNumber(
  value: ParameterType<number>,
  on: number,
): ParameterType<number | null> {
  return {
    accepts: `empty, 1 or true for ${on}, 0 or false to disable it, or ${value.accepts}`,
    schema: { anyOf: [boolean, value.schema, flagTexts] },
    parse(text) {
      const word = flag.parse(decimal.test(text) ? String(Number(text)) : text);
      if (word === undefined) return value.parse(text);
      return word ? on : null;
    },
  };
}

/** Numbers separated by `,` or `_`, in the order of their names. */
export function parts<N extends string>(
  ranges: Readonly<Record<N, ParameterType<number>>>,
): ParameterType<Readonly<Record<N, number>>> {
  const names = Object.keys(ranges) as N[];
  return {
    parts: ranges,
    accepts: `${names.join(',')}: ${rangesInWords(ranges)}`,
    schema: {
      type: 'string',
      pattern: `^${names.map(() => decimalPattern).join('[,_]')}$`,
    },
    parse(text) {
      const texts = text.split(/[,_]/, names.length + 1);
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

/** A list of the same numbers one after the other, such as of areas. */
export function listOf<N extends string>(
  item: ParameterType<Readonly<Record<N, number>>>,
  most: number,
): ParameterType<readonly Readonly<Record<N, number>>[]> {
  const count = Object.keys(item.parts ?? {}).length;
  const numbers = item.schema.pattern?.slice(1, -1) ?? '';
  return {
    repeats: { item, most },
    accepts: `${item.accepts}; up to ${most} times in one list, or as repeated parameters`,
    schema: { type: 'string', pattern: `^${numbers}(?:[,_]${numbers}){0,${most - 1}}$` },
    parse(text) {
      const texts = text.split(/[,_]/, count * most + 1);
      if (texts.length > count * most) return undefined;
      const starts = texts.flatMap((_, index) => (index % count === 0 ? [index] : []));
      const values = starts.map((at) => item.parse(texts.slice(at, at + count).join(',')));
      const items = values.filter((value) => value !== undefined);
      return items.length === values.length ? items : undefined;
    },
  };
}

const pixels = integer(0, 100_000);
const side = integer(1, 100_000);
const start = number(0, 1);
const length = number(0.0001, 1);
const pixelArea = parts({ left: pixels, top: pixels, width: side, height: side });
const shareArea = parts({ left: start, top: start, width: length, height: length });
const inShares = (area: Area): SourceArea => ({ ...area, unit: 'share' });
const areaInWords =
  'left,top,width,height: whole pixels from 0 to 100000; or shares of the source from 0 to 1, such as 0.1,0.2,0.5,0.5, of which one is not whole';

/** An area of the source: four whole numbers are pixels, and other numbers are shares of its sides. */
export const sourceArea: ParameterType<SourceArea> = {
  ...pixelArea,
  ...either(pixelArea, mapped(shareArea, inShares)),
  schema: pixelArea.schema,
  accepts: areaInWords,
};

/** Areas of the source, all in pixels or all in shares. */
export function sourceAreas(most: number): ParameterType<readonly SourceArea[]> {
  const pixelAreas = listOf(pixelArea, most);
  const shareAreas = mapped(listOf(shareArea, most), (areas) => areas.map(inShares));
  return {
    ...either<readonly SourceArea[], readonly SourceArea[]>(pixelAreas, shareAreas),
    schema: pixelAreas.schema,
    accepts: `${areaInWords}; up to ${most} times in one list, or as repeated parameters`,
    repeats: { item: sourceArea, most },
  };
}

/** Describes the ranges of the parts, grouping equal ranges. */
function rangesInWords(ranges: Readonly<Record<string, ParameterType<number>>>): string {
  const groups = new Map<string, string[]>();
  for (const [name, { accepts }] of Object.entries(ranges)) {
    groups.set(accepts, [...(groups.get(accepts) ?? []), name]);
  }
  if (groups.size === 1) return `each ${[...groups.keys()]}`;
  return [...groups].map(([accepts, names]) => `${names.join(' and ')} ${accepts}`).join(', ');
}

const hex = /^(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/;

/** As `#rrggbbaa`. */
export const colour: ParameterType<Colour> = {
  accepts: 'hex digits without # (3, 4, 6 or 8), or a CSS colour name',
  schema: {
    type: 'string',
    pattern: `^(?:[0-9A-Fa-f]{3,4}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8}|${['transparent', ...Object.keys(colourNames)].join('|')})$`,
  },
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

const sigma = number(0.3, 250);
const blurred: ParameterType<Backdrop> = {
  accepts: `blur, or blur,N with N ${sigma.accepts}`,
  schema: { type: 'string', pattern: `^blur(?:[,_]${decimalPattern})?$` },
  parse(text) {
    const [word = '', strength = '20', ...others] = text.toLowerCase().split(/[,_]/, 3);
    const blur = word === 'blur' && others.length === 0 ? sigma.parse(strength) : undefined;
    return blur === undefined ? undefined : { blur };
  },
};

/** A colour, or what shows behind a padded image. */
export const background = either(
  colour,
  either(
    blurred,
    mapped(choice(['edge']), (): Backdrop => ({ blur: null })),
  ),
);

const colourPattern = colour.schema.pattern?.slice(1, -1) ?? '';

/** Two colours, separated by `,` or `_`. */
export const duotone: ParameterType<Duotone> = {
  accepts: `two colours, each ${colour.accepts}`,
  schema: { type: 'string', pattern: `^${colourPattern}[,_]${colourPattern}$` },
  parse(text) {
    const [dark, light, ...others] = text.split(/[,_]/, 3).map((part) => colour.parse(part));
    if (dark === undefined || light === undefined || others.length > 0) return undefined;
    return { dark, light };
  },
};
