import { compareScalars, equalityKey, sameRank } from '../bson/compare.ts';
import {
  type Document,
  isArray,
  isDocument,
  isNaNValue,
  isScalar,
  type Scalar,
  type Value,
} from '../bson/value.ts';
import { notSupported, ReplyError } from '../errors.ts';
import type { QueryOperator } from '../supported.ts';
import { type Path, parsePath, someValueAt } from './path.ts';

/** Every matching document contains one of these values at the path. */
export interface Requirement {
  readonly path: Path;
  readonly values: readonly Value[];
  readonly operator: '$eq' | '$in';
}

/** Every matching document contains an accepted value of the same rank at the path. */
export interface Bound {
  readonly path: Path;
  readonly value: Scalar;
  /** @param order the result of comparing a value to the bound's */
  readonly accepts: (order: number) => boolean;
}

export interface Filter {
  matches(document: Document): boolean;
  /** Used to choose an index, and for the document that an upsert inserts. */
  readonly requirements: readonly Requirement[];
  /** Used to choose an index. */
  readonly bounds: readonly Bound[];
  /** Whether requirements and bounds alone decide for single scalar values. */
  readonly exhaustive: boolean;
}

type Test = (value: Value) => boolean;

interface Condition {
  /** True if at least one value at the path matches; with `negated`, if no value matches. */
  readonly test: Test;
  readonly negated?: true;
  readonly requires?: Pick<Requirement, 'values' | 'operator'>;
  readonly bounds?: Pick<Bound, 'value' | 'accepts'>;
}

type Parse = (operator: string, operand: Value, siblings: Document) => Condition;

const conditionParsers: Readonly<Record<Exclude<QueryOperator, '$or' | '$options'>, Parse>> = {
  $ne: (_, operand) => ({ test: equal(operand).test, negated: true }),
  $gt: range((order) => order > 0),
  $gte: range((order) => order >= 0),
  $lt: range((order) => order < 0),
  $lte: range((order) => order <= 0),
  $in: oneOf,
  $nin: (operator, operand) => ({ test: oneOf(operator, operand).test, negated: true }),
  $regex: contains,
};

/** @throws {ReplyError} 2 for a malformed operand, 115 for unsupported operators and operands. */
export function parseFilter(document: Document): Filter {
  const tests: Filter['matches'][] = [];
  const requirements: Requirement[] = [];
  const bounds: Bound[] = [];
  let exhaustive = true;
  for (const [field, value] of Object.entries(document)) {
    if (field === '$or') {
      const branches = parseBranches(value);
      tests.push((candidate) => branches.some(({ matches }) => matches(candidate)));
      exhaustive = false;
      continue;
    }
    if (field.startsWith('$')) throw notSupported(`the query operator ${field}`);
    const path = parsePath(field);
    for (const { test, negated = false, requires, bounds: limits } of parseConditions(value)) {
      tests.push((candidate) => someValueAt(candidate, path, test) !== negated);
      if (requires !== undefined) requirements.push({ path, ...requires });
      else if (limits !== undefined) bounds.push({ path, ...limits });
      else exhaustive = false;
    }
  }
  const matches: Filter['matches'] = (candidate) => tests.every((test) => test(candidate));
  return { matches, requirements, bounds, exhaustive };
}

/** Refuses a single branch: it would need requirements, and no client sends it. */
function parseBranches(value: Value): Filter[] {
  if (!isArray(value) || value.length < 2)
    throw new ReplyError(2, '$or needs at least two branches');
  return value.map((branch) => {
    if (isDocument(branch)) return parseFilter(branch);
    throw new ReplyError(2, '$or entries need to be full objects');
  });
}

function parseConditions(value: Value): Condition[] {
  if (!isOperators(value)) return [equal(value)];
  return Object.entries(value).flatMap(([operator, operand]) => {
    if (operator === '$options' && Object.hasOwn(value, '$regex')) return [];
    if (isConditionName(operator)) return [conditionParsers[operator](operator, operand, value)];
    throw notSupported(`the query operator ${operator}`);
  });
}

/** Whether a condition is a set of operators. As in MongoDB, the first field decides. */
function isOperators(value: Value): value is Document {
  return isDocument(value) && Object.keys(value)[0]?.startsWith('$') === true;
}

function isConditionName(operator: string): operator is keyof typeof conditionParsers {
  return Object.hasOwn(conditionParsers, operator);
}

function equal(operand: Value): Condition {
  const key = equalityKey(operand);
  // Covers most operands without computing a key per value.
  const direct = operand === null || typeof operand === 'string' || typeof operand === 'boolean';
  const test: Test = direct ? (value) => value === operand : (value) => equalityKey(value) === key;
  return { test, requires: { values: [operand], operator: '$eq' } };
}

function oneOf(operator: string, operand: Value): Condition {
  if (!isArray(operand)) throw new ReplyError(2, `${operator} needs an array`);
  if (operand.some(isOperators)) throw new ReplyError(2, `cannot nest $ under ${operator}`);
  const keys = new Set(operand.map(equalityKey));
  return {
    test: (value) => keys.has(equalityKey(value)),
    requires: { values: operand, operator: '$in' },
  };
}

/** Values with a different rank do not match; NaN does not match either. */
function range(accepts: (order: number) => boolean): Parse {
  return (operator, operand) => {
    if (operand === null || !isScalar(operand) || isNaNValue(operand)) {
      throw notSupported(`${operator} with a document, an array, null or NaN`);
    }
    return {
      test: (value) =>
        isScalar(value) &&
        sameRank(value, operand) &&
        !isNaNValue(value) &&
        accepts(compareScalars(value, operand)),
      bounds: { value: operand, accepts },
    };
  };
}

/** Literal text with all special characters escaped, which PCRE and JavaScript interpret alike. */
const literalPattern = /^(?:[^\\^$.*+?()[\]{}|]|\\[\\^$.*+?()[\]{}|])*$/u;

/** `$regex` as a case-insensitive search for literal text, which takes linear time. */
function contains(_operator: string, operand: Value, siblings: Document): Condition {
  if (siblings['$options'] !== 'i') throw notSupported("a $regex without $options: 'i'");
  if (typeof operand !== 'string' || !literalPattern.test(operand)) {
    throw notSupported('a $regex other than literal text');
  }
  const pattern = new RegExp(operand, 'iu');
  return { test: (value) => typeof value === 'string' && pattern.test(value) };
}
