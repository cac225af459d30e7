import { Decimal128, Double, Int32, Long } from 'bson';
import { CommandError, notSupported } from '../errors.ts';
import type { NumberValue } from './value.ts';

const INT32_MAX = 2 ** 31 - 1;
const INT32_MIN = -(2 ** 31);
const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);

/** A finite number, exactly: `digits` x 10^`exponent`. `digits` has no trailing zero. */
interface Exact {
  readonly digits: bigint;
  readonly exponent: number;
}

/** The number as a JavaScript number where that is exact (or infinite, or NaN), else null. */
function asDouble(value: NumberValue): number | null {
  if (value instanceof Int32 || value instanceof Double) return value.value;
  if (value instanceof Long) {
    const approximation = value.toNumber();
    return Number.isSafeInteger(approximation) ? approximation : null;
  }
  const text = value.toString();
  if (text === 'NaN' || text === 'Infinity' || text === '-Infinity') return Number(text);
  return null;
}

function exact(value: NumberValue): Exact {
  if (value instanceof Long) return normalised(value.toBigInt(), 0);
  if (value instanceof Decimal128) {
    const [mantissa = '0', exponent = '0'] = value.toString().split('E');
    const [whole = '0', fraction = ''] = mantissa.split('.');
    return normalised(BigInt(whole + fraction), Number(exponent) - fraction.length);
  }
  return exactDouble(value.value);
}

function exactDouble(value: number): Exact {
  if (Number.isInteger(value)) return normalised(BigInt(value), 0);
  // Doubling is exact, so after k doublings value = whole / 2^k = whole x 5^k / 10^k.
  let whole = value;
  let doublings = 0;
  while (!Number.isInteger(whole)) {
    whole *= 2;
    doublings += 1;
  }
  return normalised(BigInt(whole) * 5n ** BigInt(doublings), -doublings);
}

function normalised(digits: bigint, exponent: number): Exact {
  if (digits === 0n) return { digits, exponent: 0 };
  let text = digits.toString();
  let stripped = 0;
  while (text.charCodeAt(text.length - 1 - stripped) === 48) stripped += 1;
  if (stripped > 0) text = text.slice(0, -stripped);
  return { digits: BigInt(text), exponent: exponent + stripped };
}

/** Order of numbers across all four BSON number types: NaN first, -0 equal to 0. */
export function compareNumbers(left: NumberValue, right: NumberValue): number {
  const a = asDouble(left);
  const b = asDouble(right);
  if (a !== null && b !== null) {
    if (Number.isNaN(a) || Number.isNaN(b))
      return Number(Number.isNaN(b)) - Number(Number.isNaN(a));
    return a < b ? -1 : a > b ? 1 : 0;
  }
  if (a !== null && !Number.isFinite(a)) return a === Number.POSITIVE_INFINITY ? 1 : -1;
  if (b !== null && !Number.isFinite(b)) return b === Number.POSITIVE_INFINITY ? -1 : 1;
  return compareExact(exact(left), exact(right));
}

function compareExact(a: Exact, b: Exact): number {
  if (a.digits < 0n !== b.digits < 0n) return a.digits < 0n ? -1 : 1;
  if (a.digits === 0n || b.digits === 0n) {
    return a.digits === b.digits ? 0 : a.digits < b.digits ? -1 : 1;
  }
  const sign = a.digits < 0n ? -1 : 1;
  // Orders of magnitude first: aligning 1E6000 with 1 would build a needless giant.
  const magnitude = (of: Exact) =>
    of.digits.toString().length + (of.digits < 0n ? -1 : 0) + of.exponent;
  if (magnitude(a) !== magnitude(b)) return magnitude(a) < magnitude(b) ? -sign : sign;
  const exponent = Math.min(a.exponent, b.exponent);
  const left = a.digits * 10n ** BigInt(a.exponent - exponent);
  const right = b.digits * 10n ** BigInt(b.exponent - exponent);
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Equal for two numbers exactly when {@link compareNumbers} says 0. */
export function numberKey(value: NumberValue): string {
  const double = asDouble(value);
  if (double !== null && (Number.isSafeInteger(double) || !Number.isFinite(double))) {
    return String(double === 0 ? 0 : double);
  }
  const { digits, exponent } = exact(value);
  // Every type must come to the same text, so small whole Decimal128s take the short form as well.
  if (exponent >= 0 && exponent < 16) {
    const whole = digits * 10n ** BigInt(exponent);
    if (whole <= BigInt(Number.MAX_SAFE_INTEGER) && whole >= BigInt(Number.MIN_SAFE_INTEGER)) {
      return whole.toString();
    }
  }
  return `${digits}e${exponent}`;
}

export function isNaNValue(value: NumberValue): boolean {
  return Number.isNaN(asDouble(value));
}

/** The number when it is whole and within what a double holds exactly, else null. */
export function wholeNumber(value: NumberValue): number | null {
  const double = asDouble(value);
  return double !== null && Number.isSafeInteger(double) ? double : null;
}

/**
 * The sum in the wider of the two types; int32 grows to int64 as the protocol has it.
 * @throws {CommandError} 2 when an int64 overflows, 115 for Decimal128.
 */
export function addNumbers(left: NumberValue, right: NumberValue): NumberValue {
  if (left instanceof Decimal128 || right instanceof Decimal128) {
    throw notSupported('arithmetic with Decimal128');
  }
  if (left instanceof Double || right instanceof Double) {
    return new Double(approximation(left) + approximation(right));
  }
  if (left instanceof Int32 && right instanceof Int32) {
    const sum = left.value + right.value;
    return sum > INT32_MAX || sum < INT32_MIN ? Long.fromNumber(sum) : new Int32(sum);
  }
  const sum = whole(left) + whole(right);
  if (sum > INT64_MAX || sum < INT64_MIN) throw new CommandError(2, 'the sum overflows int64');
  return Long.fromBigInt(sum);
}

function approximation(value: Int32 | Double | Long): number {
  return value instanceof Long ? value.toNumber() : value.value;
}

function whole(value: Int32 | Long): bigint {
  return value instanceof Long ? value.toBigInt() : BigInt(value.value);
}
