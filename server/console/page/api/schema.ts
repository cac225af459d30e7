/** The JSON Schema keywords that controls derive from. */
export interface Schema {
  /** The name of the referenced schema. */
  readonly name?: string;
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly pattern?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** A form's texts by field name. An empty control has '' or no key. */
export type Values = Readonly<Record<string, string>>;

export const getFields = ({ properties = {} }: Schema) => Object.entries(properties);

export const getField = ({ properties = {} }: Schema, name: string): Schema =>
  properties[name] ?? {};

type ControlKind = 'choice' | 'flag' | 'number' | 'colour' | 'list' | 'choices' | 'text';

/** Returns a schema and its alternatives, which the service's own rules nest in an `allOf`. */
const getAlternatives = (schema: Schema): readonly Schema[] => [
  schema,
  ...[schema, ...(schema.allOf ?? [])].flatMap(({ anyOf = [] }) => anyOf),
];

const hasType = (schema: Schema, type: string): boolean =>
  getAlternatives(schema).some((alternative) => [alternative.type ?? []].flat().includes(type));

const isNumeric = (schema: Schema): boolean =>
  hasType(schema, 'integer') || hasType(schema, 'number');

export function chooseKind(schema: Schema): ControlKind {
  if (schema.name === 'ImageColour' || schema.name === 'ImageBg') return 'colour';
  if (hasType(schema, 'array')) return getWords(schema.items ?? {}).length > 0 ? 'choices' : 'list';
  if (hasType(schema, 'boolean')) return isNumeric(schema) ? 'text' : 'flag';
  const isForm = (form: Schema) => form.pattern !== undefined && getOwnWords(form).length === 0;
  // Such as 10%.
  if (getAlternatives(schema).some(isForm)) return 'text';
  if (isNumeric(schema)) return 'number';
  return getWords(schema).length > 0 ? 'choice' : 'text';
}

const wordList = String.raw`\^\(\?:([a-z01|-]*)\)\$`;
const onlyWords = new RegExp(`^${wordList}(?:\\|${wordList})*$`);

/**
 * Returns a schema's words. Hyphenated words are in a pattern, because client generators turn
 * enumerations into identifiers.
 */
function getOwnWords({ enum: words, pattern = '' }: Schema): readonly string[] {
  if (words !== undefined || !onlyWords.test(pattern)) return words ?? [];
  return [...pattern.matchAll(new RegExp(wordList, 'g'))].flatMap(([, list = '']) =>
    list.split('|'),
  );
}

/** The texts of flags in URLs. */
const flagTexts = ['', '0', '1'];

/** Returns the words of enumerations, including alternatives to other values, but no flag texts. */
export function getWords(schema: Schema): readonly string[] {
  const words = getAlternatives(schema).flatMap(getOwnWords);
  return hasType(schema, 'boolean') ? words.filter((word) => !flagTexts.includes(word)) : words;
}

/** Returns a number's range, including as an alternative to words. */
export function getRange(schema: Schema) {
  const number = [...getAlternatives(schema)].reverse().find(isNumeric);
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER, type } = number ?? {};
  return { minimum, maximum, isInteger: type === 'integer' };
}

export const splitLines = (text: string, separator = /[\s,]+/): readonly string[] =>
  text.split(separator).filter((line) => line !== '');

/**
 * Returns the JSON value of a text, or the text itself if it is invalid, so that the service
 * explains the error.
 */
function jsonValue(schema: Schema, text: string): unknown {
  const kind = chooseKind(schema);
  if (kind === 'list' || kind === 'choices') {
    const { items = {} } = schema;
    // URLs can contain commas.
    const lines = splitLines(text, items.format?.startsWith('uri') ? /\s+/ : undefined);
    return lines.map((line) => jsonValue(items, line));
  }
  if (kind === 'flag' && /^[01]$/.test(text)) return text === '1';
  if (hasType(schema, 'boolean') && /^(true|false)$/.test(text)) return text === 'true';
  const number = Number(text);
  return isNumeric(schema) && !Number.isNaN(number) ? number : text;
}

/**
 * Returns a value's first example as control text. Returns '' if there is no example, or if the
 * control lists its values.
 */
export function getExample(schema: Schema): string {
  if (['choice', 'choices', 'flag'].includes(chooseKind(schema))) return '';
  const [example] = schema.examples ?? [];
  return Array.isArray(example) ? String(example[0]) : toText(schema, example);
}

/** Returns a JSON value as text. Flags become 1 and 0, as in URLs. */
function toText(schema: Schema, value: unknown): string {
  if (value === undefined || value === null) return '';
  const isFlag = typeof value === 'boolean' && chooseKind(schema) === 'flag';
  return String(isFlag ? Number(value) : value);
}

/** Returns a form's body, omitting empty fields. */
export function toBody(schema: Schema, values: Values): Record<string, unknown> {
  const given = getFields(schema).flatMap(([name, schema]) => {
    const text = (values[name] ?? '').trim();
    return text === '' ? [] : [[name, jsonValue(schema, text)] as const];
  });
  return Object.fromEntries(given);
}

/** Returns the texts of an object's fields. */
export function toValues(schema: Schema, object: object | null): Values {
  const values: Readonly<Record<string, unknown>> = { ...object };
  return Object.fromEntries(
    getFields(schema).map(([name, field]) => [name, toText(field, values[name])]),
  );
}
