import { Binary, BSONRegExp, BSONSymbol, Code, MaxKey, MinKey, ObjectId, Timestamp } from 'bson';
import { compareNumbers } from './number.ts';
import { type Document, isArray, isNumber, type Value } from './value.ts';

/**
 * The place of a value's type in BSON's comparison order
 * (https://www.mongodb.com/docs/manual/reference/bson-type-comparison-order/). `undefined` stands
 * for an absent value, as an empty array is to an index. Types of one rank compare by value.
 */
export function typeRank(value: Value | undefined): number {
  if (value === undefined) return 0;
  if (value === null) return 5;
  if (typeof value === 'string' || value instanceof BSONSymbol) return 15;
  if (typeof value === 'boolean') return 40;
  if (isNumber(value)) return 10;
  if (isArray(value)) return 25;
  if (value instanceof Binary) return 30;
  if (value instanceof ObjectId) return 35;
  if (value instanceof Date) return 45;
  if (value instanceof Timestamp) return 47;
  if (value instanceof BSONRegExp) return 50;
  if (value instanceof Code) return value.scope === null ? 60 : 65;
  if (value instanceof MinKey) return -1;
  if (value instanceof MaxKey) return 127;
  return 20;
}

/** Negative, 0 or positive by BSON's comparison order. */
export function compareValues(left: Value | undefined, right: Value | undefined): number {
  const difference = typeRank(left) - typeRank(right);
  if (difference !== 0) return difference;
  if (isNumber(left) && isNumber(right)) return compareNumbers(left, right);
  if (isText(left) && isText(right)) return compareText(left.toString(), right.toString());
  if (left instanceof ObjectId && right instanceof ObjectId) {
    return compareBytes(left.id, right.id);
  }
  if (left instanceof Date && right instanceof Date) return left.getTime() - right.getTime();
  if (typeof left === 'boolean') return Number(left) - Number(right);
  if (isArray(left) && isArray(right)) return compareArrays(left, right);
  if (left instanceof Binary && right instanceof Binary) return compareBinaries(left, right);
  // Timestamp extends an unsigned Long, so its own comparison is the unsigned one.
  if (left instanceof Timestamp && right instanceof Timestamp) return left.compare(right);
  if (left instanceof BSONRegExp && right instanceof BSONRegExp) {
    return compareText(left.pattern, right.pattern) || compareText(left.options, right.options);
  }
  if (left instanceof Code && right instanceof Code) return compareCode(left, right);
  if (isPlain(left) && isPlain(right)) return compareDocuments(left, right);
  return 0;
}

function isText(value: Value | undefined): value is string | BSONSymbol {
  return typeof value === 'string' || value instanceof BSONSymbol;
}

/** Only called where the rank has said that it is a document, MinKey, MaxKey or null. */
function isPlain(value: Value | undefined): value is Document {
  return typeRank(value) === 20;
}

function compareDocuments(left: Document, right: Document): number {
  const leftFields = Object.keys(left);
  const rightFields = Object.keys(right);
  const shared = Math.min(leftFields.length, rightFields.length);
  for (let i = 0; i < shared; i += 1) {
    const leftName = leftFields[i] ?? '';
    const rightName = rightFields[i] ?? '';
    const a = left[leftName];
    const b = right[rightName];
    const order =
      typeRank(a) - typeRank(b) || compareText(leftName, rightName) || compareValues(a, b);
    if (order !== 0) return order;
  }
  return leftFields.length - rightFields.length;
}

function compareArrays(left: readonly Value[], right: readonly Value[]): number {
  const shared = Math.min(left.length, right.length);
  for (let i = 0; i < shared; i += 1) {
    const order = compareValues(left[i], right[i]);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function compareBinaries(left: Binary, right: Binary): number {
  return (
    left.length() - right.length() ||
    left.sub_type - right.sub_type ||
    compareBytes(left.value(), right.value())
  );
}

function compareCode(left: Code, right: Code): number {
  const order = compareText(left.code, right.code);
  if (order !== 0 || left.scope === null || right.scope === null) return order;
  return compareDocuments({ ...left.scope }, { ...right.scope });
}

function compareBytes(left: Uint8Array, right: Uint8Array): number {
  return Buffer.compare(left, right);
}

/** By UTF-8 bytes, which is by code point; JavaScript's own order is by UTF-16 unit. */
export function compareText(left: string, right: string): number {
  if (left === right) return 0;
  const shared = Math.min(left.length, right.length);
  for (let i = 0; i < shared; i += 1) {
    const a = left.charCodeAt(i);
    const b = right.charCodeAt(i);
    if (a !== b) return codePointRank(a) - codePointRank(b);
  }
  return left.length - right.length;
}

/** Surrogates stand for code points above U+FFFF, so they rank above U+E000 to U+FFFF. */
function codePointRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
