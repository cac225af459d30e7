/** The keywords of JSON Schema from which controls are generated. */
export interface Schema {
  /** The name of a schema that was a reference. */
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

export type Fields = ReadonlyArray<readonly [name: string, schema: Schema]>;

/** The texts of a form's controls by field name; '' or no key for an empty control. */
export type Values = Readonly<Record<string, string>>;

export const fieldsOf = (schema: Schema | undefined): Fields =>
  Object.entries(schema?.properties ?? {});

type ControlKind = 'choice' | 'flag' | 'number' | 'colour' | 'list' | 'text';

/** A schema and its alternatives, which the service's own rules have inside an `allOf`. */
const alternativesOf = (schema: Schema): readonly Schema[] => [
  schema,
  ...[schema, ...(schema.allOf ?? [])].flatMap(({ anyOf = [] }) => anyOf),
];

const hasType = (schema: Schema, type: string): boolean =>
  alternativesOf(schema).some((one) => [one.type ?? []].flat().includes(type));

const isNumeric = (schema: Schema): boolean =>
  hasType(schema, 'integer') || hasType(schema, 'number');

export function kindOf(schema: Schema): ControlKind {
  if (schema.name === 'ImageColour') return 'colour';
  if (hasType(schema, 'array')) return 'list';
  if (hasType(schema, 'boolean')) return isNumeric(schema) ? 'text' : 'flag';
  const isForm = (one: Schema) => one.pattern !== undefined && ownWordsOf(one).length === 0;
  // Such as 10%.
  if (alternativesOf(schema).some(isForm)) return 'text';
  if (isNumeric(schema)) return 'number';
  return wordsOf(schema).length > 0 ? 'choice' : 'text';
}

const wordList = String.raw`\^\(\?:([a-z|-]+)\)\$`;
const onlyWords = new RegExp(`^${wordList}(?:\\|${wordList})*$`);

/** Words with hyphens are in a pattern, because client generators make names of those of an enumeration. */
function ownWordsOf({ enum: words, pattern = '' }: Schema): readonly string[] {
  if (words !== undefined || !onlyWords.test(pattern)) return words ?? [];
  return [...pattern.matchAll(new RegExp(wordList, 'g'))].flatMap(([, list = '']) =>
    list.split('|'),
  );
}

/** The words of enumerations, which may be alternatives to other values. */
export const wordsOf = (schema: Schema): readonly string[] =>
  alternativesOf(schema).flatMap(ownWordsOf);

/** The range of a number, which may be an alternative to words. */
export function rangeOf(schema: Schema) {
  const number = [...alternativesOf(schema)].reverse().find(isNumeric);
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER, type } = number ?? {};
  return { minimum, maximum, isInteger: type === 'integer' };
}

export const linesOf = (text: string, separator = /[\s,]+/): readonly string[] =>
  text.split(separator).filter((line) => line !== '');

/** The JSON value of a text. The text itself if it is invalid, so that the service explains the error. */
function jsonValue(schema: Schema, text: string): unknown {
  const kind = kindOf(schema);
  if (kind === 'list') {
    const { items = {} } = schema;
    // URLs may have commas.
    const lines = linesOf(text, items.format === 'uri' ? /\s+/ : undefined);
    return lines.map((line) => jsonValue(items, line));
  }
  if (kind === 'flag') return text === '1';
  if (hasType(schema, 'boolean') && /^(true|false)$/.test(text)) return text === 'true';
  const number = Number(text);
  return isNumeric(schema) && !Number.isNaN(number) ? number : text;
}

/** The first example of a value as the text of its control; '' for none, and for a control that lists its values. */
export function exampleOf(schema: Schema): string {
  if (['choice', 'flag'].includes(kindOf(schema))) return '';
  const [example] = schema.examples ?? [];
  return Array.isArray(example) ? String(example[0]) : textOf(schema, example);
}

/** The text of a JSON value. Flags are 1 and 0, as in URLs. */
function textOf(schema: Schema, value: unknown): string {
  if (value === undefined || value === null) return '';
  return String(kindOf(schema) === 'flag' ? Number(value) : value);
}

/** The body of a form, without empty fields. */
export function bodyOf(fields: Fields, values: Values): Record<string, unknown> {
  const given = fields.flatMap(([name, schema]) => {
    const text = (values[name] ?? '').trim();
    return text === '' ? [] : [[name, jsonValue(schema, text)] as const];
  });
  return Object.fromEntries(given);
}

/** The texts of an object's fields. */
export function valuesOf(fields: Fields, object: object): Values {
  const values: Readonly<Record<string, unknown>> = { ...object };
  return Object.fromEntries(fields.map(([name, schema]) => [name, textOf(schema, values[name])]));
}
