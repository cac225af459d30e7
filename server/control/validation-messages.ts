import type { ErrorObject } from 'ajv/dist/2020.js';
import { nearestName } from '../../contract/near-miss.ts';

/** The most faults that are listed; a hostile body can have thousands. */
export const maxErrors = 20;

/** The longest part of a value and of a name that an error message repeats, in UTF-16 code units. */
const maxValue = 100;
const maxName = 80;

const withoutUserinfo = (text: string): string => text.replace(/\/\/[^/?#]*@/, '//');

/** The beginning of a text for an error message, without userinfo, which may contain a password. */
export const excerpt = (text: string): string =>
  withoutUserinfo(text).slice(0, maxValue).toWellFormed();

export const typeNames: Readonly<Record<string, string>> = {
  object: 'an object',
  array: 'an array',
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  null: 'null',
};

export const formatNames: Readonly<Record<string, string>> = {
  uri: 'a URI',
  'date-time': 'a date and time of RFC 3339',
};

/** What was sent: its value where it is short, else its type. */
function sent(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value !== 'string') return String(value);
  if (value === '') return 'empty';
  return `"${excerpt(value)}"${withoutUserinfo(value).length > maxValue ? ' …' : ''}`;
}

/** The same, with the type of a value that could be mistaken for one of another type. */
function sentType(value: unknown): string {
  if (typeof value === 'string')
    return value === '' ? 'an empty string' : `the string ${sent(value)}`;
  return typeof value === 'number' ? `the number ${value}` : sent(value);
}

const count = (number: number, singular: string, plural = `${singular}s`): string =>
  `${number} ${number === 1 ? singular : plural}`;

const orNothing = (number: number): string => (number === 0 ? 'none' : String(number));

const listed = (values: readonly unknown[]): string => values.map(String).join(', ');

/** As JSON Schema counts them. */
const characters = (value: unknown): number => [...String(value)].length;

const fieldsOf = (value: unknown): number => Object.keys(Object(value)).length;

const itemsOf = (value: unknown): number => (Array.isArray(value) ? value.length : 0);

/** The rule of a schema in words, which schemas state where a keyword's value does not tell. */
const rule = ({ parentSchema }: ErrorObject): string | undefined => parentSchema?.['x-rule'];

type Describe = (error: ErrorObject) => string;

/**
 * The fault of a value for each keyword of JSON Schema that the schemas of bodies use, as a sentence
 * without its subject: the rule, then what was sent.
 */
export const keywordMessages: Readonly<Record<string, Describe>> = {
  type: ({ params, data }) => {
    const wanted: readonly string[] = [params['type']].flat();
    return `must be ${wanted.map((type) => typeNames[type] ?? type).join(' or ')}, and is ${sentType(data)}`;
  },
  enum: ({ params, data }) =>
    `must be one of ${listed(params['allowedValues'])}, and is ${sent(data)}`,
  const: ({ params, data }) => `must be ${params['allowedValue']}, and is ${sent(data)}`,
  format: ({ params, data }) =>
    `must be ${formatNames[params['format']] ?? params['format']}, and is ${sent(data)}`,
  pattern: (error) =>
    `${rule(error) ?? `must match ${error.params['pattern']}`}, and is ${sent(error.data)}`,
  minimum: ({ params, data }) => `must be at least ${params['limit']}, and is ${sent(data)}`,
  maximum: ({ params, data }) => `must be at most ${params['limit']}, and is ${sent(data)}`,
  minLength: ({ params, data }) =>
    `must have at least ${count(params['limit'], 'character')}, and has ${orNothing(characters(data))}`,
  maxLength: ({ params, data }) =>
    `must have at most ${count(params['limit'], 'character')}, and has ${characters(data)}`,
  minItems: ({ params, data }) =>
    `must have at least ${count(params['limit'], 'item')}, and has ${orNothing(itemsOf(data))}`,
  maxItems: ({ params, data }) =>
    `must have at most ${count(params['limit'], 'item')}, and has ${itemsOf(data)}`,
  minProperties: ({ params, data }) =>
    `must have at least ${count(params['limit'], 'field')}, and has ${orNothing(fieldsOf(data))}`,
  anyOf: (error) => {
    const scalar = typeof error.data !== 'object' || error.data === null;
    return `${rule(error) ?? error.message}${scalar ? `, and is ${sent(error.data)}` : ''}`;
  },
  // These two have another subject: the field that is missing, or that is not known.
  required: () => 'is required',
  additionalProperties: ({ params, parentSchema }) => {
    const known = Object.keys(parentSchema?.['properties'] ?? {});
    const meant = nearestName(String(params['additionalProperty']).slice(0, maxName), known);
    return `is not a known field${meant === undefined ? '' : ` (did you mean ${meant}?)`}`;
  },
};

/** What an error is about, in the notation of JavaScript: `sources[0]`, or `the body`. */
function subjectOf({ instancePath, params }: ErrorObject): string {
  const field = instancePath
    .slice(1)
    .replaceAll(/\/(\d+)/g, '[$1]')
    .replaceAll('/', '.');
  const inner = params['missingProperty'] ?? params['additionalProperty'];
  if (inner === undefined) return field === '' ? 'the body' : field;
  const name = String(inner).slice(0, maxName).toWellFormed();
  return field === '' ? name : `${field}.${name}`;
}

/** An error of ajv in words, such as `maxWidth must be at most 10000, and is 10001`. */
export function errorMessage(error: ErrorObject): string {
  const words = Object.hasOwn(keywordMessages, error.keyword)
    ? keywordMessages[error.keyword]
    : undefined;
  return `${subjectOf(error)} ${words?.(error) ?? error.message}`;
}
