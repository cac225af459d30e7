import { type Fit, fits, type OutputFormat, outputFormats } from '../../pool/transform/variant.ts';
import { Failure } from '../http/failure.ts';

/** One transform parameter of the image endpoint. */
export interface Parameter<T> {
  readonly aliases: readonly string[];
  /** What it accepts, in words. */
  readonly accepts: string;
  /** The value of a text, or undefined when the text is not acceptable. */
  readonly parse: (text: string) => T | undefined;
  readonly meaning: string;
  readonly example: string;
}

type Details = Pick<Parameter<unknown>, 'aliases' | 'meaning' | 'example'>;

/** Plain decimal notation only: no sign games, exponents, hex or blanks. */
const decimal = /^-?\d{1,9}(?:\.\d{1,6})?$/;

function number(minimum: number, maximum: number, details: Details): Parameter<number> {
  return {
    accepts: `a number from ${minimum} to ${maximum}`,
    parse(text) {
      const value = decimal.test(text) ? Number(text) : Number.NaN;
      return value >= minimum && value <= maximum ? value : undefined;
    },
    ...details,
  };
}

function integer(minimum: number, maximum: number, details: Details): Parameter<number> {
  const { parse, ...rest } = number(minimum, maximum, details);
  return {
    ...rest,
    accepts: `a whole number from ${minimum} to ${maximum}`,
    parse: (text) => {
      const value = parse(text);
      return Number.isInteger(value) ? value : undefined;
    },
  };
}

function choice<T extends string>(
  values: readonly T[],
  details: Details & { readonly spellings?: Readonly<Record<string, T>> },
): Parameter<T> {
  const { spellings = {}, ...rest } = details;
  const known = new Map<string, T>([
    ...values.map((value) => [value, value] as const),
    ...Object.entries(spellings),
  ]);
  return {
    accepts: `one of ${values.join(', ')}`,
    parse: (text) => known.get(text.toLowerCase()),
    ...rest,
  };
}

/** The sigma that a mere `blur` stands for, so that `blur`, `blur=true` and `blur=1` are one thing. */
const flagSigma = 1;

const sigma = number(0.3, 100, {
  aliases: [],
  meaning: 'Gaussian blur with this sigma, in pixels of the output.',
  example: '5',
});

const blur: Parameter<number | null> = {
  ...sigma,
  accepts: 'nothing, true or false, or a sigma from 0.3 to 100',
  parse(text) {
    if (text === '' || text === 'true') return flagSigma;
    if (text === '0' || text === 'false') return null;
    return sigma.parse(text);
  },
};

/**
 * Every parameter by its canonical name. Parsing, error messages, the list of supported
 * parameters and the documentation derive from this table.
 */
export const parameters = {
  w: integer(1, 10_000, {
    aliases: ['width'],
    meaning: 'Width of the output in CSS pixels; the height follows unless it is given too.',
    example: '400',
  }),
  h: integer(1, 10_000, {
    aliases: ['height'],
    meaning: 'Height of the output in CSS pixels; the width follows unless it is given too.',
    example: '300',
  }),
  q: integer(1, 100, {
    aliases: ['quality'],
    meaning: 'Quality of a lossy output.',
    example: '70',
  }),
  fmt: choice<OutputFormat | 'auto'>(['auto', ...outputFormats], {
    aliases: ['f', 'format'],
    spellings: { jpg: 'jpeg' },
    meaning: 'Format of the output; `auto` takes the best one that the client names in Accept.',
    example: 'webp',
  }),
  fit: choice<Fit>(fits, {
    aliases: [],
    meaning: 'How the picture fits the box when both w and h are given.',
    example: 'contain',
  }),
  dpr: number(1, 3, {
    aliases: [],
    meaning: 'Device pixels for each CSS pixel: multiplies w and h.',
    example: '2',
  }),
  blur,
} as const;

export type ParameterName = keyof typeof parameters;
type ValueOf<P> = P extends Parameter<infer T> ? T : never;

/** What a query asks for, by canonical names; what it does not mention is absent. */
export type Options = { readonly [N in ParameterName]?: ValueOf<(typeof parameters)[N]> };

export const parameterNames = Object.keys(parameters) as ParameterName[];

/** Canonical names by every accepted name. */
const canonicalNames = new Map<string, ParameterName>(
  parameterNames.flatMap((name) =>
    [name, ...parameters[name].aliases].map((spelling) => [spelling, name] as const),
  ),
);

/** Whether a name, canonical or an alias, means something. */
export const isParameter = (name: string): boolean => canonicalNames.has(name);

/**
 * Options of a query's parameters. Names that are not in the table are ignored.
 * @throws Failure parameter_invalid naming the parameter and what it accepts
 */
export function readOptions(query: ReadonlyMap<string, string>): Options {
  const options: Record<string, unknown> = {};
  for (const [spelling, text] of query) {
    const name = canonicalNames.get(spelling);
    if (name === undefined) continue;
    if (name in options) {
      throw new Failure(
        'parameter_invalid',
        `${name} is given more than once, as ${spelling} too.`,
      );
    }
    const value = parameters[name].parse(text);
    if (value === undefined) {
      throw new Failure('parameter_invalid', `${spelling} must be ${parameters[name].accepts}.`);
    }
    options[name] = value;
  }
  return options as Options;
}

/** The parameters as a Markdown table. */
export function parametersMarkdown(): string {
  const rows = parameterNames.map((name) => {
    const { aliases, accepts, meaning, example } = parameters[name];
    const names = [name, ...aliases].map((spelling) => `\`${spelling}\``).join(', ');
    return `| ${names} | ${accepts} | ${meaning} | \`${name}=${example}\` |`;
  });
  const heads = ['| Name | Accepts | Meaning | Example |', '| --- | --- | --- | --- |'];
  return [...heads, ...rows].join('\n');
}
