import { ObjectId } from 'bson';
import type { BsonType } from '../supported.ts';
import { type Document, isArray, isNumber, type Scalar, toBsonType, type Value } from './value.ts';

/**
 * Rank per type in BSON's comparison order
 * (https://www.mongodb.com/docs/manual/reference/bson-type-comparison-order/). Documents and arrays
 * have no rank, because no query here sorts them.
 */
const ranks: Readonly<Record<Exclude<BsonType, 'object' | 'array'>, number>> = {
  null: 5,
  int: 10,
  double: 10,
  string: 15,
  objectId: 35,
  bool: 40,
  date: 45,
};

const firstSurrogate = 0xd800;

/** Filters compare only values of the same rank. */
export function sameRank(left: Scalar, right: Scalar): boolean {
  if (left === null || right === null) return left === right;
  return toRank(left) === toRank(right);
}

/** Negative, 0 or positive by BSON's comparison order. */
export function compareScalars(left: Scalar, right: Scalar): number {
  if (left === right) return 0;
  if (typeof left === 'string' && typeof right === 'string') return compareText(left, right);
  if (isNumber(left) && isNumber(right)) {
    // NaN comes first.
    return left - right || Number(Number.isNaN(right)) - Number(Number.isNaN(left));
  }
  if (left instanceof Date && right instanceof Date) return left.getTime() - right.getTime();
  if (left instanceof ObjectId && right instanceof ObjectId) {
    return Buffer.compare(left.id, right.id);
  }
  if (typeof left === 'boolean' && typeof right === 'boolean') return Number(left) - Number(right);
  return toRank(left) - toRank(right);
}

/** Compares by code point, like UTF-8 bytes; JavaScript compares UTF-16 units. */
export function compareText(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  for (let i = 0; i < length; i += 1) {
    const [a, b] = [left.charCodeAt(i), right.charCodeAt(i)];
    if (a === b) continue;
    // Below the surrogates, code units sort like code points.
    if (a < firstSurrogate || b < firstSurrogate) return a - b;
    return Buffer.compare(Buffer.from(left), Buffer.from(right));
  }
  return left.length - right.length;
}

function toRank(value: Scalar): number {
  const type = toBsonType(value);
  if (type === null || type === 'object' || type === 'array') throw new TypeError('not a scalar');
  return ranks[type];
}

/**
 * Returns the same string for two values if and only if BSON compares them as equal, such as 0 and
 * -0. The strings are self-delimiting, so callers can join them.
 */
export function equalityKey(value: Value): string {
  if (value === null) return 'z;';
  if (typeof value === 'string') return textKey('s', value);
  if (typeof value === 'boolean') return value ? 't;' : 'f;';
  if (isNumber(value)) return `n${value};`;
  if (value instanceof ObjectId) return `o${value.toHexString()};`;
  if (value instanceof Date) return `d${value.getTime()};`;
  if (isArray(value)) return `a${value.map(equalityKey).join('')}]`;
  return documentKey(value);
}

function documentKey(document: Document): string {
  const fields = Object.entries(document);
  return `{${fields.map(([field, value]) => textKey('', field) + equalityKey(value)).join('')}}`;
}

function textKey(prefix: string, content: string): string {
  return `${prefix}${content.length}:${content}`;
}
