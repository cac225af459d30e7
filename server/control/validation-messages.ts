import type { ErrorObject } from 'ajv/dist/2020.js';
import { ServiceError } from '../../contract/errors.ts';
import { nearestName } from '../../contract/suggestion.ts';
import { likelyUrl } from '../../contract/url-text.ts';

/** Maximum errors in a response; a hostile body can cause thousands. */
export const maxErrors = 20;

/** Maximum UTF-16 code units of a value and of a name in an error message. */
const maxValue = 100;
const maxName = 80;

const withoutUserinfo = (text: string): string => text.replace(/\/\/[^/?#]*@/, '//');

/**
 * Returns the start of a text for an error message, removing userinfo, which might contain a
 * password.
 */
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
  uri: 'an absolute URL',
  'uri-reference': "an absolute URL or a path on the project's site",
  date: 'an RFC 3339 date',
  'date-time': 'an RFC 3339 date and time',
};

/** Returns the URL with all characters encoded that a URI cannot contain, if that changes the URL. */
function encodedUrl(text: string): string | undefined {
  if (text.length > maxValue || !/^https?:\/\//i.test(text) || !URL.canParse(text))
    return undefined;
  const { href } = new URL(text);
  return href === text || href.length > maxValue ? undefined : href;
}

/** Returns the URL that a rejected text probably means. */
function urlHint(value: unknown): string {
  if (typeof value !== 'string') return '';
  const likely = likelyUrl(value) ?? encodedUrl(value);
  return likely === undefined ? '' : ` (did you mean ${excerpt(likely)}?)`;
}

const isUrl = (format: unknown): boolean => format === 'uri' || format === 'uri-reference';

/** Returns a short rejected value, or the type of a long value. */
function valueText(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value !== 'string') return String(value);
  if (value === '') return 'empty';
  return `"${excerpt(value)}"${withoutUserinfo(value).length > maxValue ? ' …' : ''}`;
}

const countText = (count: number, unit: string): string =>
  `${count} ${unit}${count === 1 ? '' : 's'}`;

const tooShort =
  (unit: string): Describe =>
  ({ params }) =>
    `must have at least ${countText(params['limit'], unit)}`;
const tooLong =
  (unit: string): Describe =>
  ({ params }) =>
    `must have at most ${countText(params['limit'], unit)}`;

/** Returns a schema's rule in words. */
const rule = ({ parentSchema }: ErrorObject): string | undefined => parentSchema?.['x-rule'];

type Describe = (error: ErrorObject) => string;

/** Messages by JSON Schema keyword, excluding the subject: the rule, then the value. */
export const keywordMessages: Readonly<Record<string, Describe>> = {
  type: ({ params, data }) => {
    const types: readonly string[] = [params['type']].flat();
    return `must be ${types.map((type) => typeNames[type] ?? type).join(' or ')}, but is ${valueText(data)}`;
  },
  enum: ({ params, data }) => {
    const values: readonly unknown[] = params['allowedValues'];
    const names = values.filter((value) => typeof value === 'string');
    const near = typeof data === 'string' ? nearestName(data, names) : undefined;
    const hint = near === undefined ? '' : ` (did you mean ${near}?)`;
    return `must be ${values.length > 1 ? 'one of ' : ''}${values.join(', ')}, but is ${valueText(data)}${hint}`;
  },
  format: ({ params, data }) => {
    const hint = isUrl(params['format']) ? urlHint(data) : '';
    return `must be ${formatNames[params['format']] ?? params['format']}, but is ${valueText(data)}${hint}`;
  },
  pattern: (error) => {
    const { params, data, parentSchema } = error;
    const hint = isUrl(parentSchema?.['format']) ? urlHint(data) : '';
    return `${rule(error) ?? `must match ${params['pattern']}`}, but is ${valueText(data)}${hint}`;
  },
  minimum: ({ params, data }) => `must be at least ${params['limit']}, but is ${valueText(data)}`,
  maximum: ({ params, data }) => `must be at most ${params['limit']}, but is ${valueText(data)}`,
  minLength: tooShort('character'),
  maxLength: tooLong('character'),
  minItems: tooShort('item'),
  maxItems: tooLong('item'),
  minProperties: tooShort('field'),
  maxProperties: tooLong('field'),
  anyOf: (error) => {
    const isScalar = typeof error.data !== 'object' || error.data === null;
    const hint = rule(error)?.includes('URL') ? urlHint(error.data) : '';
    return `${rule(error) ?? error.message}${isScalar ? `, but is ${valueText(error.data)}${hint}` : ''}`;
  },
  not: (error) => rule(error) ?? 'is not allowed',
  // The subject of these two is the missing or unknown field.
  required: () => 'is required',
  additionalProperties: ({ params, parentSchema }) => {
    const aliases: Readonly<Record<string, string>> = parentSchema?.['x-aliases'] ?? {};
    const known = [...Object.keys(parentSchema?.['properties'] ?? {}), ...Object.keys(aliases)];
    const unknown = String(params['additionalProperty']).slice(0, maxName);
    const near = nearestName(unknown, known);
    if (near === undefined) return 'is not a known field';
    const canonical = Object.hasOwn(aliases, near) ? `${aliases[near]} for ${near}` : near;
    return `is not a known field (did you mean ${canonical}?)`;
  },
};

/** Returns an error's subject in JavaScript notation: `sources[0]`, or `the body`. */
function describeSubject({ instancePath, params }: ErrorObject): string {
  const path = instancePath.replaceAll(/\/(\d+)/g, '[$1]').replaceAll('/', '.');
  const inner = params['missingProperty'] ?? params['additionalProperty'];
  const name = inner === undefined ? '' : `.${String(inner).slice(0, maxName).toWellFormed()}`;
  return `${path}${name}`.replace(/^\./, '') || 'the body';
}

/** Returns ajv's error in words, such as `maxWidth must be at most 10000, but is 10001`. */
export function errorMessage(error: ErrorObject): string {
  const describe = Object.hasOwn(keywordMessages, error.keyword)
    ? keywordMessages[error.keyword]
    : undefined;
  return `${describeSubject(error)} ${describe?.(error) ?? error.message}`;
}

/** Returns the error of an invalid request, ending with one full stop. */
export const invalidRequest = (reason: string): ServiceError =>
  new ServiceError('invalid_request', reason.replace(/\.?$/, '.'));

/** @throws ServiceError invalid_request with the first `maxErrors` errors, if there are errors */
export function rejectInvalid(errors: readonly string[]): void {
  if (errors.length > 0) throw invalidRequest(errors.slice(0, maxErrors).join('; '));
}
