import { deserialize, ObjectId, serialize } from 'bson';
import { notSupported, ReplyError } from '../errors.ts';
import { type BsonType, maxCommandBytes } from '../supported.ts';

/**
 * A BSON value in memory. As in the driver, numbers are JavaScript's: they are stored as int32 if they
 * are such integers, or else as double.
 */
export type Value = Scalar | readonly Value[] | Document;

/** A sortable value. */
export type Scalar = null | boolean | string | Date | number | ObjectId;

export interface Document {
  [field: string]: Value;
}

/** Maximum nesting in a message: 100 levels of a document, and the command around it. */
const maxDepth = 101;

const rangeOfDatesMs = 8.64e15;

export function isArray(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value);
}

export function isDocument(value: unknown): value is Document {
  if (typeof value !== 'object' || value === null) return false;
  return Object.getPrototypeOf(value) === Object.prototype;
}

export function isNumber(value: Value | undefined): value is number {
  return typeof value === 'number';
}

export function isScalar(value: Value): value is Scalar {
  return !isArray(value) && !isDocument(value);
}

/** The type as MongoDB's alias, or null for an unsupported type. */
export function toBsonType(value: unknown): BsonType | null {
  if (value === null) return 'null';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'double';
  if (value instanceof Date) return 'date';
  if (value instanceof ObjectId) return 'objectId';
  if (Array.isArray(value)) return 'array';
  return isDocument(value) ? 'object' : null;
}

/** Ignores inherited properties such as `constructor`. */
export function getField(document: Document, field: string): Value | undefined {
  return Object.hasOwn(document, field) ? document[field] : undefined;
}

export function setField(document: Document, field: string, value: Value): void {
  // Assigning to __proto__ would set the prototype.
  if (field === '__proto__') {
    const own = { writable: true, enumerable: true, configurable: true };
    Object.defineProperty(document, field, { value, ...own });
  } else {
    document[field] = value;
  }
}

/**
 * @throws {ReplyError} 22 for malformed BSON, 115 for an unsupported type, 2 for values that
 *   would change when written back, 15 for excessive nesting.
 */
export function decode(bytes: Uint8Array): Document {
  const decoded = parse(bytes);
  checkSupported(decoded, 0);
  if (isDocument(decoded)) return decoded;
  throw new ReplyError(22, 'not a document');
}

/**
 * As {@link decode}, with values of every type.
 * @throws {ReplyError} 22 for malformed BSON
 */
export function parse(bytes: Uint8Array): Document {
  if (bytes.length > maxCommandBytes) {
    throw new ReplyError(10334, `a document of ${bytes.length} bytes is too large`);
  }
  try {
    return deserialize(bytes, { bsonRegExp: true });
  } catch (error) {
    throw new ReplyError(22, error instanceof Error ? error.message : 'malformed BSON');
  }
}

export function encode(document: object): Uint8Array {
  return serialize(document, { ignoreUndefined: false, serializeFunctions: false });
}

function checkSupported(value: unknown, depth: number): void {
  const type = toBsonType(value);
  if (type === null) throw notSupported(`the BSON type ${describeType(value)}`);
  if (depth > maxDepth) throw new ReplyError(15, `nested deeper than ${maxDepth} levels`);
  if (Array.isArray(value)) {
    for (const element of value) checkSupported(element, depth + 1);
  } else if (isDocument(value)) {
    // bson treats an object with this field as its own class, and fails to serialise it.
    if (Object.hasOwn(value, '_bsontype')) {
      throw new ReplyError(2, 'a field must not be named _bsontype');
    }
    for (const inner of Object.values(value)) checkSupported(inner, depth + 1);
  } else if (value instanceof Date && !(Math.abs(value.getTime()) <= rangeOfDatesMs)) {
    throw new ReplyError(2, 'a date is out of range');
  }
}

function describeType(value: unknown): string {
  return typeof value === 'object' && value !== null ? value.constructor.name : typeof value;
}

export const isNaNValue = (value: Value): boolean => Number.isNaN(value);
