import {
  Binary,
  BSONRegExp,
  BSONSymbol,
  Code,
  Decimal128,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
} from 'bson';
import { wholeNumber } from '../bson/number.ts';
import { isArray, isDocument, isNumber, type Value } from '../bson/value.ts';
import { CommandError } from '../errors.ts';

export type TypeTest = (value: Value) => boolean;

/** BSON types by alias, with the number that the BSON specification gives each. */
const TYPES: readonly (readonly [alias: string, number: number, test: TypeTest])[] = [
  ['double', 1, (value) => value instanceof Double],
  ['string', 2, (value) => typeof value === 'string'],
  ['object', 3, isDocument],
  ['array', 4, isArray],
  ['binData', 5, (value) => value instanceof Binary],
  ['objectId', 7, (value) => value instanceof ObjectId],
  ['bool', 8, (value) => typeof value === 'boolean'],
  ['date', 9, (value) => value instanceof Date],
  ['null', 10, (value) => value === null],
  ['regex', 11, (value) => value instanceof BSONRegExp],
  ['javascript', 13, (value) => value instanceof Code && value.scope === null],
  ['symbol', 14, (value) => value instanceof BSONSymbol],
  ['javascriptWithScope', 15, (value) => value instanceof Code && value.scope !== null],
  ['int', 16, (value) => value instanceof Int32],
  ['timestamp', 17, (value) => value instanceof Timestamp],
  ['long', 18, (value) => value instanceof Long && !(value instanceof Timestamp)],
  ['decimal', 19, (value) => value instanceof Decimal128],
  ['minKey', -1, (value) => value instanceof MinKey],
  ['maxKey', 127, (value) => value instanceof MaxKey],
];

/** Parses the operand of `$type`: an alias or number, or an array of them. */
export function parseTypes(operand: Value): TypeTest[] {
  const wanted = isArray(operand) ? operand : [operand];
  if (wanted.length === 0) throw new CommandError(9, '$type must match at least one type');
  return wanted.map((want) => {
    if (want === 'number') return isNumber;
    const number = isNumber(want) ? wholeNumber(want) : null;
    const entry = TYPES.find(([alias, code]) => alias === want || code === number);
    if (entry === undefined)
      throw new CommandError(2, `Unknown type name or code: ${String(want)}`);
    return entry[2];
  });
}

/** The alias of a value's type, as error messages name it. */
export function typeAlias(value: Value | undefined): string {
  if (value === undefined) return 'missing';
  return TYPES.find(([, , test]) => test(value))?.[0] ?? 'object';
}
