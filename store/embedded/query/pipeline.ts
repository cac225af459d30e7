import { equalityKey } from '../bson/compare.ts';
import {
  type Document,
  getField,
  isDocument,
  isNumber,
  setField,
  type Value,
} from '../bson/value.ts';
import { notSupported, ReplyError } from '../errors.ts';
import { pipelineOperators } from '../supported.ts';
import { type Filter, parseFilter } from './filter.ts';

const [matchStage, groupStage, sumOperator] = pipelineOperators;

/** The reads that a pipeline needs. */
export interface CollectionReader {
  find(filter: Filter): readonly { readonly document: Document }[];
  count(filter: Filter): number;
}

/** An optional `$match`, then a `$group`: for counts and for the distinct values of a field. */
export type Aggregation = (collection: CollectionReader) => Document[];

/** @throws {ReplyError} 115 for any other pipeline. */
export function parsePipeline(stages: readonly Document[]): Aggregation {
  const operands = new Map<string, Document>();
  for (const stage of stages) {
    const [name, operand] = onlyEntry(stage);
    const known = name === matchStage ? operands.size === 0 : name === groupStage;
    if (!known || operands.has(groupStage))
      throw notSupported(`${name} at this position in a pipeline`);
    if (!isDocument(operand)) throw new ReplyError(14, `the ${name} stage needs an object`);
    operands.set(name, operand);
  }
  const group = operands.get(groupStage);
  if (group === undefined) throw notSupported(`a pipeline without ${groupStage}`);
  return parseGroup(group, parseFilter(operands.get(matchStage) ?? {}));
}

/** Groups by a field or a constant number, and counts documents. */
function parseGroup(group: Document, filter: Filter): Aggregation {
  const groupKey = parseGroupKey(getField(group, '_id'));
  const counts = Object.keys(group).filter((field) => field !== '_id');
  for (const field of counts) checkAccumulator(getField(group, field) ?? null);
  const result = (_id: Value, size: number): Document => {
    const document: Document = { _id };
    for (const field of counts) setField(document, field, size);
    return document;
  };
  if (typeof groupKey !== 'string') {
    return (collection) => {
      const size = collection.count(filter);
      return size === 0 ? [] : [result(groupKey, size)];
    };
  }
  return (collection) => {
    const groups = new Map<string, { value: Value; size: number }>();
    for (const { document } of collection.find(filter)) {
      const value = getField(document, groupKey) ?? null;
      const key = equalityKey(value);
      const { size } = groups.get(key) ?? { size: 0 };
      groups.set(key, { value, size: size + 1 });
    }
    return [...groups.values()].map(({ value, size }) => result(value, size));
  };
}

/** A constant number or a field name. */
function parseGroupKey(expression: Value | undefined): number | string {
  if (isNumber(expression)) return expression;
  if (typeof expression === 'string' && /^\$[^$.]+$/.test(expression)) return expression.slice(1);
  throw notSupported(`${groupStage} by an expression other than a field or a number`);
}

function checkAccumulator(accumulator: Value): void {
  const [name, amount] = isDocument(accumulator) ? onlyEntry(accumulator) : ['', null];
  if (name !== sumOperator) throw notSupported(`the accumulator ${name}`);
  if (amount !== 1) throw notSupported(`${sumOperator} of a value other than 1`);
}

function onlyEntry(document: Document): readonly [string, Value] {
  const [entry, ...others] = Object.entries(document);
  if (entry !== undefined && others.length === 0) return entry;
  throw new ReplyError(9, 'a stage or an accumulator must have exactly one field');
}
