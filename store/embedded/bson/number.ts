import { Double, Int32, Long } from 'bson';
import { ReplyError } from '../errors.ts';
import { isNumber, type NumberValue, type Value } from './value.ts';

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
