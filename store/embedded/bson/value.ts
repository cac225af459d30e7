import { Double, deserialize, Int32, Long, ObjectId, serialize } from 'bson';
import { notSupported, ReplyError } from '../errors.ts';
import { type BsonType, maxCommandBytes } from '../supported.ts';

/** A BSON value in memory. Numbers keep the wrapper classes of their BSON types. */
export type Value = Scalar | readonly Value[] | Document;

/** A sortable value. */
export type Scalar = null | boolean | string | Date | NumberValue | ObjectId;

export interface Document {
  [field: string]: Value;
}

export type NumberValue = Int32 | Double | Long;

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

export function isNumber(value: Value | undefined): value is NumberValue {
  return value instanceof Int32 || value instanceof Double || value instanceof Long;
}

export function isScalar(value: Value): value is Scalar {
  return !isArray(value) && !isDocument(value);
}

/** The type as MongoDB's alias, or null for an unsupported type. */
export function toBsonType(value: unknown): BsonType | null {
  if (value === null) return 'null';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  if (value instanceof Int32) return 'int';
  if (value instanceof Double) return 'double';
  if (value instanceof Date) return 'date';
  if (value instanceof ObjectId) return 'objectId';
  if (Array.isArray(value)) return 'array';
  if (isDocument(value)) return 'object';
  // Timestamp extends Long.
  return value instanceof Long && value._bsontype === 'Long' ? 'long' : null;
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
    return deserialize(bytes, {
      promoteValues: false,
      promoteLongs: false,
      promoteBuffers: false,
      bsonRegExp: true,
    });
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

const int32Max = 2 ** 31 - 1;
const int32Min = -(2 ** 31);
const int64Max = 2n ** 63n - 1n;
const int64Min = -(2n ** 63n);

/** JavaScript compares bigint and number by their exact values. */
function primitive(value: NumberValue): number | bigint {
  return value instanceof Long ? value.toBigInt() : value.value;
}

export function isNaNValue(value: Value): boolean {
  return isNumber(value) && Number.isNaN(primitive(value));
}

/** Compares numbers of all BSON types: NaN first, -0 equal to 0. */
export function compareNumbers(left: NumberValue, right: NumberValue): number {
  const [a, b] = [primitive(left), primitive(right)];
  if (a < b) return -1;
  if (a > b) return 1;
  return Number(isNaNValue(right)) - Number(isNaNValue(left));
}

/** Equal for two numbers if and only if {@link compareNumbers} returns 0. */
export function numberKey(value: NumberValue): string {
  const number = primitive(value);
  // JavaScript rounds the decimal text of a double above the safe integers.
  const exact = typeof number === 'number' && Number.isInteger(number) ? BigInt(number) : number;
  return String(exact);
}

/** The number if it is a safe integer, else null. */
export function safeInteger(value: NumberValue): number | null {
  const number = Number(primitive(value));
  return Number.isSafeInteger(number) ? number : null;
}

/**
 * The sum in the wider of the two types; int32 overflows to int64, as in MongoDB.
 * @throws {ReplyError} 2 when an int64 overflows.
 */
export function addNumbers(left: NumberValue, right: NumberValue): NumberValue {
  if (left instanceof Double || right instanceof Double) {
    return new Double(Number(primitive(left)) + Number(primitive(right)));
  }
  const sum = BigInt(primitive(left)) + BigInt(primitive(right));
  if (left instanceof Int32 && right instanceof Int32 && sum <= int32Max && sum >= int32Min) {
    return new Int32(Number(sum));
  }
  if (sum > int64Max || sum < int64Min) throw new ReplyError(2, 'the sum overflows int64');
  return Long.fromBigInt(sum);
}
