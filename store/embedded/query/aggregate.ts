import { Int32 } from 'bson';
import { equalityKey } from '../bson/key.ts';
import { addNumbers, wholeNumber } from '../bson/number.ts';
import {
  type Document,
  fieldOf,
  isArray,
  isDocument,
  isNumber,
  type NumberValue,
  setField,
  type Value,
} from '../bson/value.ts';
import { CommandError, notSupported } from '../errors.ts';
import { all, type Filter, parseFilter } from './filter.ts';
import { compile } from './match.ts';
import { type Path, parsePath } from './path.ts';
import { parseSort, sortDocuments } from './sort.ts';

export interface Pipeline {
  /** What the leading `$match` asks for, so that the collection can answer it by its indexes. */
  readonly filter: Filter;
  readonly stages: readonly Stage[];
}

type Stage = (documents: readonly Document[]) => readonly Document[];

/**
 * Parses a pipeline of the stages that counting and grouping by a field need: `$match`, `$sort`,
 * `$skip`, `$limit` and `$group`.
 * @throws {CommandError} 40573 for a change stream, 115 for any other stage.
 */
export function parsePipeline(pipeline: readonly Value[]): Pipeline {
  const stages = pipeline.map((stage): readonly [string, Value] => {
    const [entry, ...others] = isDocument(stage) ? Object.entries(stage) : [];
    if (entry === undefined || others.length > 0) {
      throw new CommandError(40323, 'A pipeline stage must contain exactly one field');
    }
    return entry;
  });
  const [first] = stages;
  const filter = first?.[0] === '$match' ? parseFilter(documentOf(...first)) : all([]);
  const rest = first?.[0] === '$match' ? stages.slice(1) : stages;
  return { filter, stages: rest.map(([name, operand]) => parseStage(name, operand)) };
}

/** @param find reads the collection */
export function aggregate(
  { filter, stages }: Pipeline,
  find: (filter: Filter) => readonly Document[],
): readonly Document[] {
  return stages.reduce((documents, stage) => stage(documents), find(filter));
}

function parseStage(name: string, operand: Value): Stage {
  switch (name) {
    case '$match': {
      const passes = compile(parseFilter(documentOf(name, operand)));
      return (documents) => documents.filter(passes);
    }
    case '$sort': {
      const order = parseSort(documentOf(name, operand));
      return (documents) => sortDocuments(documents, (document) => document, order);
    }
    case '$skip': {
      const skipped = wholeOf(name, operand, 0);
      return (documents) => documents.slice(skipped);
    }
    case '$limit': {
      const limit = wholeOf(name, operand, 1);
      return (documents) => documents.slice(0, limit);
    }
    case '$group':
      return parseGroup(documentOf(name, operand));
    case '$changeStream':
      throw new CommandError(40573, 'The $changeStream stage is only supported on replica sets');
    default:
      throw notSupported(`the aggregation stage ${name}`);
  }
}

function documentOf(stage: string, operand: Value): Document {
  if (isDocument(operand)) return operand;
  throw new CommandError(14, `the ${stage} stage needs an object`);
}

function wholeOf(stage: string, operand: Value, least: number): number {
  const whole = isNumber(operand) ? wholeNumber(operand) : null;
  if (whole !== null && whole >= least) return whole;
  throw new CommandError(2, `the ${stage} stage needs a whole number from ${least}`);
}

/** `$group` by a field or a constant; its accumulators are `$sum`s of a constant number. */
function parseGroup(group: Document): Stage {
  const by = fieldOf(group, '_id');
  if (by === undefined) throw new CommandError(2, "a group specification must include an '_id'");
  const identify = parseExpression(by);
  const sums = Object.entries(group)
    .filter(([field]) => field !== '_id')
    .map(([field, accumulator]) => ({ field, amount: amountOf(accumulator) }));
  return (documents) => {
    const groups = new Map<string, { identity: Value; totals: NumberValue[] }>();
    for (const document of documents) {
      const identity = identify(document) ?? null;
      const key = equalityKey(identity);
      const known = groups.get(key) ?? { identity, totals: sums.map(() => new Int32(0)) };
      known.totals = known.totals.map((total, i) => addNumbers(total, sums[i]?.amount ?? total));
      groups.set(key, known);
    }
    return [...groups.values()].map(({ identity, totals }) => {
      const result: Document = { _id: identity };
      sums.forEach(({ field }, i) => {
        setField(result, field, totals[i] ?? null);
      });
      return result;
    });
  };
}

function parseExpression(expression: Value): (document: Document) => Value | undefined {
  if (typeof expression === 'string' && expression.startsWith('$')) {
    if (expression.startsWith('$$')) throw notSupported(`the variable ${expression}`);
    const path = parsePath(expression.slice(1));
    return (document) => fieldPath(document, path, 0);
  }
  if (isDocument(expression) || isArray(expression)) {
    throw notSupported('$group by an expression other than a field or a constant');
  }
  return () => expression;
}

/** A field path in an expression: an array on the way becomes the array of what its documents have. */
function fieldPath(value: Value | undefined, path: Path, depth: number): Value | undefined {
  if (depth === path.length) return value;
  if (isArray(value)) {
    return value.flatMap((element) => {
      const inner = isDocument(element) ? fieldPath(element, path, depth) : undefined;
      return inner === undefined ? [] : [inner];
    });
  }
  if (!isDocument(value)) return undefined;
  return fieldPath(fieldOf(value, path[depth] ?? ''), path, depth + 1);
}

function amountOf(accumulator: Value): NumberValue {
  const [entry, ...others] = isDocument(accumulator) ? Object.entries(accumulator) : [];
  if (entry === undefined || others.length > 0) {
    throw new CommandError(40234, 'a $group field must be an object with one accumulator');
  }
  const [operator, amount] = entry;
  if (operator !== '$sum') throw notSupported(`the accumulator ${operator}`);
  if (!isNumber(amount)) throw notSupported('$sum of anything but a constant number');
  return amount;
}
