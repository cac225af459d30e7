import { type Document, getField, isArray, isDocument, type Value } from './bson/value.ts';
import { notSupported, ReplyError } from './errors.ts';
import type {
  ArgumentShape,
  ArgumentType,
  CommandName,
  commandShapes,
  Shape,
} from './supported.ts';

/** Maps each argument kind to its parsed type. */
interface ParsedAs extends Record<ArgumentType, unknown> {
  ignored: null;
  false: false;
  zero: 0;
  string: string;
  collection: string;
  boolean: boolean;
  nonNegativeInteger: number;
  document: Document;
  documents: readonly Document[];
  statement: Document;
  statements: readonly Document[];
  integers: readonly number[];
}

export type ArgumentsOf<S extends Shape> = {
  readonly [Field in keyof S]: S[Field] extends `${infer Optional extends ArgumentType}?`
    ? ParsedAs[Optional] | undefined
    : ParsedAs[S[Field] & ArgumentType];
};

export type CommandArguments<Name extends CommandName> = ArgumentsOf<(typeof commandShapes)[Name]>;

type Reader<K extends ArgumentType> = (value: Value, where: string) => ParsedAs[K] | undefined;

/** Each reader returns undefined for a value of another type. */
const readers: { readonly [K in ArgumentType]: Reader<K> } = {
  ignored: () => null,
  false: (value, where) => supportedValue(value === false ? value : undefined, where),
  zero: (value, where) => supportedValue(value === 0 ? 0 : undefined, where),
  string: (value) => (typeof value === 'string' ? value : undefined),
  collection: (value) => (typeof value === 'string' ? validName(value) : undefined),
  boolean: (value) => (typeof value === 'boolean' ? value : undefined),
  nonNegativeInteger: (value) => (isInteger(value) && value >= 0 ? value : undefined),
  document: (value) => (isDocument(value) ? value : undefined),
  documents: (value) => toList(value, isDocument),
  statement: (value, where) => {
    const [document, ...others] = toList(value, isDocument) ?? [];
    if (others.length > 0) throw notSupported(`more than one document in ${where}`);
    return document;
  },
  statements: (value) => {
    const documents = toList(value, isDocument);
    return documents?.length === 0 ? undefined : documents;
  },
  integers: (value) => toList(value, isInteger),
};

/**
 * Parses a command or a command's statement by its table.
 * @param where the command's name, for messages
 * @throws {ReplyError} 115 for an argument missing from the table, because ignoring it could
 *   return a wrong result; 14 for an argument with the wrong type.
 */
export function readArguments<S extends Shape>(
  document: Document,
  shape: S,
  where: string,
): ArgumentsOf<S> {
  for (const field of Object.keys(document)) {
    if (!Object.hasOwn(shape, field)) throw notSupported(`the option '${where}.${field}'`);
  }
  const read = Object.entries(shape).map(([field, kind]) => [
    field,
    readArgument(getField(document, field), kind, `${where}.${field}`),
  ]);
  return Object.fromEntries(read) as ArgumentsOf<S>;
}

function readArgument(value: Value | undefined, kind: ArgumentShape, where: string): unknown {
  const required = kind.replace('?', '') as ArgumentType;
  if (value === undefined && (required !== kind || kind === 'ignored')) return undefined;
  const read = value === undefined ? undefined : readers[required](value, where);
  if (read === undefined) throw new ReplyError(14, `${where} must be a ${required}`);
  return read;
}

/** Accepts only the names of databases and collections that the service uses. */
export function validName(name: string): string {
  if (/^[\w-]{1,63}$/.test(name)) return name;
  throw new ReplyError(73, `Invalid name of a database or a collection: '${name}'`);
}

function supportedValue<T>(value: T | undefined, where: string): T {
  if (value === undefined) throw notSupported(`this value of '${where}'`);
  return value;
}

function toList<T extends Value>(
  value: Value,
  is: (element: Value) => element is T,
): readonly T[] | undefined {
  return isArray(value) && value.every(is) ? value : undefined;
}

function isInteger(value: Value): value is number {
  return Number.isSafeInteger(value);
}
