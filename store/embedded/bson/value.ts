import {
  Binary,
  BSONRegExp,
  BSONSymbol,
  Code,
  Decimal128,
  Double,
  deserialize,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  serialize,
  Timestamp,
} from 'bson';
import { CommandError } from '../errors.ts';
import { MAX_COMMAND_BYTES } from '../limits.ts';

/**
 * A BSON value as this server holds it. Numbers keep the wrapper classes of their BSON types, so
 * that a value which no update touches is written back with the type that it came with.
 */
export type Value =
  | null
  | boolean
  | string
  | Date
  | Int32
  | Double
  | Long
  | Decimal128
  | Timestamp
  | ObjectId
  | Binary
  | BSONRegExp
  | BSONSymbol
  | Code
  | MinKey
  | MaxKey
  | readonly Value[]
  | Document;

export interface Document {
  [field: string]: Value;
}

export type NumberValue = Int32 | Double | Long | Decimal128;

const SCALAR_CLASSES = [
  Int32,
  Double,
  Long,
  ObjectId,
  Date,
  Binary,
  Decimal128,
  BSONRegExp,
  BSONSymbol,
  Code,
  MinKey,
  MaxKey,
] as const;

/** Levels of nesting in a message: a stored document's 100 and the command around it. */
const MAX_DEPTH = 120;

const RANGE_OF_DATES_MS = 8.64e15;

export function isArray(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value);
}

export function isDocument(value: Value | undefined): value is Document {
  if (typeof value !== 'object' || value === null) return false;
  return Object.getPrototypeOf(value) === Object.prototype;
}

export function isNumber(value: Value | undefined): value is NumberValue {
  return (
    value instanceof Int32 ||
    value instanceof Double ||
    // Timestamp extends Long.
    (value instanceof Long && !(value instanceof Timestamp)) ||
    value instanceof Decimal128
  );
}

/** The field's own value: `constructor` and its like are no fields of an empty document. */
export function fieldOf(document: Document, field: string): Value | undefined {
  return Object.hasOwn(document, field) ? document[field] : undefined;
}

export function setField(document: Document, field: string, value: Value): void {
  // Assigning to __proto__ would set the prototype.
  if (field === '__proto__') {
    Object.defineProperty(document, field, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  } else {
    document[field] = value;
  }
}

/**
 * Reads one BSON document.
 * @throws {CommandError} 22 for malformed BSON, 2 for values that could not be written back as they
 *   came, 15 for excessive nesting.
 */
export function decode(bytes: Uint8Array): Document {
  if (bytes.length > MAX_COMMAND_BYTES) {
    throw new CommandError(10334, `a document of ${bytes.length} bytes is too large`);
  }
  let decoded: unknown;
  try {
    decoded = deserialize(bytes, {
      promoteValues: false,
      promoteLongs: false,
      promoteBuffers: false,
      bsonRegExp: true,
    });
  } catch (error) {
    throw new CommandError(22, error instanceof Error ? error.message : 'malformed BSON');
  }
  if (isSound(decoded, 0) && isDocument(decoded)) return decoded;
  throw new CommandError(2, 'a DBRef is not supported by the embedded store');
}

export function encode(document: object): Uint8Array {
  return serialize(document, { ignoreUndefined: false, serializeFunctions: false });
}

/** Whether the value is wholly made of the types of {@link Value}. */
function isSound(value: unknown, depth: number): value is Value {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (value === undefined) throw new CommandError(2, 'the BSON type undefined is not supported');
  if (typeof value !== 'object') return false;
  if (depth > MAX_DEPTH) throw new CommandError(15, `nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) return value.every((element) => isSound(element, depth + 1));
  if (Object.getPrototypeOf(value) === Object.prototype) {
    // bson takes a field of this name for a mark of its own classes and could not write it again.
    if (Object.hasOwn(value, '_bsontype')) {
      throw new CommandError(2, 'a field must not be named _bsontype');
    }
    return Object.values(value).every((field) => isSound(field, depth + 1));
  }
  if (value instanceof Date && !(Math.abs(value.getTime()) <= RANGE_OF_DATES_MS)) {
    throw new CommandError(2, 'a date is out of range');
  }
  if (value instanceof Code && value.scope !== null) return isSound(value.scope, depth + 1);
  return SCALAR_CLASSES.some((scalar) => value instanceof scalar);
}
