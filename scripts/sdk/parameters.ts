import colourNames from 'color-name';
import { maxFramePixels, maxSide } from '../../pool/bounds.ts';
import { maxOutputPixels, outputFormats } from '../../pool/rendering/encode/encodings.ts';
import { fileName } from '../../server/image/download.ts';
import { maxWords } from '../../server/image/layer-fields.ts';
import { widthSteps } from '../../server/image/negotiate.ts';
import { type ParameterName, parameterNames, parameters } from '../../server/image/parameters.ts';
import { maxSourceLength, sourceUrl } from '../../server/image/source-url.ts';
import {
  aspectRatio,
  colour,
  flag,
  type ParameterType,
  percentage,
  type ValueSchema,
} from '../../server/image/values.ts';
import { documentation } from './documentation.ts';

const literal = (value: unknown): string => JSON.stringify(value);

/** Returns a schema and its alternatives. */
const alternatives = (schema: ValueSchema): readonly ValueSchema[] => [
  schema,
  ...(schema.anyOf ?? []),
];
const isFlag = (schema: ValueSchema): boolean =>
  alternatives(schema).some(({ type }) => type === 'boolean');
const isNumber = ({ type }: ValueSchema): boolean => type === 'integer' || type === 'number';

/** Returns the words of a choice that are identifiers, such as `webp`. */
const plainWords = (schema: ValueSchema): readonly string[] =>
  alternatives(schema)
    .flatMap((part) => part.enum ?? [])
    .filter((word) => !isFlag(schema) || !/^[01]?$/.test(word));

/** Returns all words of a choice, including words such as `right-top` from its schema's pattern. */
const allWords = (schema: ValueSchema): readonly string[] => [
  ...plainWords(schema),
  ...(schema.anyOf ?? []).flatMap(
    (part) => /^\^\(\?:(.*)\)\$$/.exec(part.pattern ?? '')?.[1]?.split('|') ?? [],
  ),
];

/** Returns a type's alternatives, or itself. */
const plainTypes = (type: ParameterType<unknown>): readonly ParameterType<unknown>[] =>
  type.alternatives?.flatMap(plainTypes) ?? [type];

/** Returns an option's TypeScript type. */
function optionType(type: ParameterType<unknown>): string {
  const { schema, parts } = type;
  if (type.alternatives !== undefined) {
    const union = new Set(plainTypes(type).flatMap((part) => optionType(part).split(' | ')));
    // Texts include words.
    return [...union].filter((part) => !(union.has('string') && part.startsWith('"'))).join(' | ');
  }
  if (parts !== undefined) {
    return `readonly [${Object.keys(parts)
      .map((name) => `${name}: number`)
      .join(', ')}]`;
  }
  if (schema === aspectRatio.schema) return `number | \`\${number}:\${number}\``;
  if (schema === percentage.schema) return `\`\${number}p\``;
  const types = [
    ...(isFlag(schema) ? ['boolean'] : []),
    ...(alternatives(schema).some(isNumber) ? ['number'] : []),
    ...plainWords(schema).map(literal),
  ];
  return types.length === 0 ? 'string' : types.join(' | ');
}

/** Returns whether values are texts, even if they look like numbers, such as the word 420. */
const isText = (type: ParameterType<unknown>): boolean =>
  optionType(type) === 'string' || plainWords(type.schema).some((word) => Number(word) > 1);

/** Returns a parameter's example as an option value. */
function exampleOption(name: ParameterName): string {
  const { example, schema } = parameters[name];
  if (plainTypes(parameters[name]).some(({ parts }) => parts) && example.includes(','))
    return `[${example.split(',').join(', ')}]`;
  if (isFlag(schema) && /^0?$/.test(example)) return example === '0' ? 'false' : 'true';
  const isWritten = alternatives(schema).some(isNumber) && !Number.isNaN(Number(example));
  return isWritten ? example : `'${example}'`;
}

function optionField(name: ParameterName): string {
  const { aliases, accepts, meaning, schema, defaultInWords } = parameters[name];
  const also = aliases.length === 0 ? '' : ` In URLs also \`${aliases.join('`, `')}\`.`;
  const accepted = schema === flag.schema ? '' : `Accepts ${accepts}. `;
  const text = `${meaning}\n\n${accepted}Default: ${defaultInWords}. Example: \`${name}: ${exampleOption(name)}\`.${also}`;
  return `${documentation(text)}readonly ${name}?: ${optionType(parameters[name])} | undefined;`;
}

/** Minimum factor between two default widths: each step shows at least 1.5 times as many pixels. */
const minStep = 1.25;
/** From a narrow phone to a wide screen with two device pixels per CSS pixel. */
const [minWidth, maxWidth] = [320, 3840];

/** Returns the service's steps that differ enough from their predecessor. */
function defaultWidths(): readonly number[] {
  const kept: number[] = [];
  for (const width of widthSteps.filter((step) => step >= minWidth && step <= maxWidth)) {
    if (width >= minStep * (kept.at(-1) ?? 0)) kept.push(width);
  }
  return kept;
}

/**
 * Returns the maximum pixels for lossy and lossless encoding, for formats with a lower limit than
 * others.
 */
function pixelLimits(): Record<string, readonly [number, number]> {
  const limits = outputFormats.map((format) => {
    const of = (lossless: boolean) => Math.min(maxFramePixels, maxOutputPixels(format, lossless));
    return [format, [of(false), of(true)]] as const;
  });
  const least = (index: 0 | 1) => Math.min(...limits.map(([, pair]) => pair[index]));
  const lower = limits.filter(([, pair]) => pair[1] < maxFramePixels);
  return Object.fromEntries([['auto', [least(0), least(1)]], ...lower]);
}

/** Returns the module with an image's options, and the tables to write and read its URL. */
export function parametersModule(): string {
  const aliases = parameterNames.flatMap((name) =>
    parameters[name].aliases.map((alias) => [alias, name] as const),
  );
  const named = (matches: (type: ParameterType<unknown>) => boolean) =>
    `^(${parameterNames.filter((name) => matches(parameters[name])).join('|')})$`;
  return `/** Transform parameters of an image URL. Absent parameters use the project's defaults. */
  export interface ImageOptions {
    ${parameterNames.map(optionField).join('\n')}
    ${documentation(`Words of a text layer of \`layer\`, such as \`'text.price': '19,90 €'\`: at most ${maxWords} characters.`)}readonly [words: \`text.\${string}\`]: string | undefined;
    ${documentation("More images like `overlay`, such as `overlay2`, and the fields of their layers, such as `'overlay.w': 120`.")}readonly [overlay: \`overlay\${string}\`]: string | number | undefined;
  }

  /** Image formats. */
  export type ImageFormat = ${outputFormats.map((format) => `'${format}'`).join(' | ')};

  /** Canonical names of parameters with several names. */
  export const canonicalNames: Readonly<Record<string, string>> = {
    // This table inherits no other names.
    __proto__: null as never,
    ${aliases.map(([alias, name]) => `${alias}: '${name}',`).join('\n')}
  };

  /** Parameters with the values 1 and 0 for true and false. */
  export const flagName = /${named(({ schema }) => isFlag(schema) && !alternatives(schema).some(isNumber))}/;

  /** Parameters with text values, although some look like numbers. */
  export const textName = /${named(isText)}|^text\\./;

  /** Maximum number of characters in a layer's words. */
  export const maxWords = ${maxWords};

  /** Srcset widths in device pixels: the steps to which the service rounds client-hint widths. */
  export const defaultWidths: readonly number[] = ${literal(defaultWidths())};

  /** Maximum device pixels per output side. */
  export const maxSide = ${maxSide};

  /** Maximum pixels per output. */
  export const maxPixels = ${maxFramePixels};

  /** Maximum pixels in formats with lower limits: lossy and lossless. */
  export const pixelLimits: Readonly<Record<string, readonly [lossy: number, lossless: number]>> = ${literal(pixelLimits())};`;
}

const toRange = ({ type, minimum, maximum }: ValueSchema): unknown => ({
  minimum,
  maximum,
  whole: type === 'integer' ? true : undefined,
});

/** Returns the rule for a value; `kind` selects rules that a schema cannot state. */
function rule(type: ParameterType<unknown>): object {
  if (type.alternatives !== undefined) return { anyOf: type.alternatives.map(rule) };
  if (type.repeats !== undefined) return { ...rule(type.repeats.item), times: type.repeats.most };
  const { schema, parts } = type;
  const ranges =
    parts === undefined
      ? alternatives(schema).filter(isNumber)
      : Object.values(parts).map((part) => part.schema);
  const words = allWords(schema);
  const kinds = new Map<ValueSchema, string>([
    [colour.schema, 'colour'],
    [fileName.schema, 'fileName'],
    [sourceUrl.schema, 'url'],
  ]);
  return {
    flag: isFlag(schema) ? true : undefined,
    words: words.length === 0 ? undefined : words,
    ranges: ranges.length === 0 ? undefined : ranges.map(toRange),
    kind: kinds.get(schema),
    pattern:
      parts === undefined && words.length === 0 && !kinds.has(schema)
        ? alternatives(schema).find((part) => part.pattern !== undefined)?.pattern
        : undefined,
    maxLength: schema.maxLength,
  };
}

/** Returns the rules for option values that development checks use. */
export const rulesModule = (): string =>
  `/** Allowed numbers. */
  export interface Range {
    readonly minimum: number;
    readonly maximum: number;
    readonly whole?: true;
  }
  
  /** The allowed texts for an option: any of the given alternatives. */
  export interface Rule {
    readonly anyOf?: readonly Rule[];
    /** True for a flag, or a flag and other values. */
    readonly flag?: true;
    /** In lower case. */
    readonly words?: readonly string[];
    /** A number's range, or a range per number in a list. */
    readonly ranges?: readonly Range[];
    /** How often the ranges can follow each other; once if absent. */
    readonly times?: number;
    readonly kind?: 'colour' | 'fileName' | 'url';
    /** A regular expression. */
    readonly pattern?: string;
    /** In characters; the text is not empty then. */
    readonly maxLength?: number;
  }

  /** With the accepted texts in words. */
  export const rules: Readonly<Record<string, Rule & { readonly accepts: string }>> = {
    ${parameterNames.map((name) => `${name}: ${literal({ accepts: parameters[name].accepts, ...rule(parameters[name]) })},`).join('\n')}
  };

  /** CSS colour names. */
  export const colourNames = ${literal([...Object.keys(colourNames), 'transparent'].join(' '))};

  /** Maximum number of characters in a source URL. */
  export const maxSourceLength = ${maxSourceLength};`;
