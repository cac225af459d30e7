import { BSONRegExp, Int32 } from 'bson';
import { compareNumbers, wholeNumber } from '../bson/number.ts';
import { type Document, isArray, isDocument, isNumber, type Value } from '../bson/value.ts';
import { CommandError, notSupported } from '../errors.ts';
import { type Path, parsePath } from './path.ts';
import { compileOperand, compilePattern } from './pattern.ts';
import { parseTypes, type TypeTest } from './type.ts';

/** What a single value is tested for. Negations are `nor` around these. */
export type Test =
  | { readonly is: 'equal'; readonly value: Value }
  | { readonly is: 'below' | 'belowOrEqual' | 'above' | 'aboveOrEqual'; readonly value: Value }
  | { readonly is: 'oneOf'; readonly values: readonly Value[]; readonly tests: readonly Test[] }
  | { readonly is: 'match'; readonly pattern: RegExp; readonly source: BSONRegExp }
  | { readonly is: 'type'; readonly types: readonly TypeTest[] }
  | { readonly is: 'present' }
  | { readonly is: 'sized'; readonly size: number }
  | { readonly is: 'withElement'; readonly filter: Filter; readonly bare: boolean };

/** A parsed filter. */
export type Filter =
  | { readonly kind: 'and' | 'or' | 'nor'; readonly filters: readonly Filter[] }
  | { readonly kind: 'field'; readonly path: Path; readonly test: Test };

/** The name under which a bare value is put to make a document of it for a filter. */
export const BARE: Path = [''];

const NEVER: Filter = { kind: 'or', filters: [] };

/**
 * Parses a filter document.
 * @throws {CommandError} 2 for a malformed operand, 115 for an operator that is not offered.
 */
export function parseFilter(document: Document): Filter {
  const filters: Filter[] = [];
  for (const [field, value] of Object.entries(document)) {
    if (field === '$and') filters.push({ kind: 'and', filters: branches(field, value) });
    else if (field === '$or') filters.push({ kind: 'or', filters: branches(field, value) });
    else if (field === '$nor') filters.push({ kind: 'nor', filters: branches(field, value) });
    else if (field === '$comment') continue;
    else if (field.startsWith('$')) throw notSupported(`the query operator ${field}`);
    else filters.push(...parseCondition(parsePath(field), value));
  }
  return all(filters);
}

/** Parses what stands beside a path (or, for {@link BARE}, what an element is asked for). */
export function parseCondition(path: Path, value: Value): Filter[] {
  if (value instanceof BSONRegExp) return [{ kind: 'field', path, test: patternTest(value) }];
  if (!isOperators(value)) return [{ kind: 'field', path, test: { is: 'equal', value } }];
  return Object.entries(value).flatMap(([operator, operand]) => {
    if (operator === '$options') {
      if (Object.hasOwn(value, '$regex')) return [];
      throw new CommandError(2, '$options needs a $regex');
    }
    return [parseOperator(path, operator, operand, value)];
  });
}

/** Whether a value beside a path is a set of operators. The first field decides, as in MongoDB. */
export function isOperators(value: Value): value is Document {
  return isDocument(value) && Object.keys(value)[0]?.startsWith('$') === true;
}

function parseOperator(path: Path, operator: string, operand: Value, beside: Document): Filter {
  const field = (test: Test): Filter => ({ kind: 'field', path, test });
  switch (operator) {
    case '$eq':
      return field({ is: 'equal', value: operand });
    case '$ne':
      return not([field({ is: 'equal', value: comparable(operator, operand) })]);
    case '$lt':
      return field({ is: 'below', value: comparable(operator, operand) });
    case '$lte':
      return field({ is: 'belowOrEqual', value: comparable(operator, operand) });
    case '$gt':
      return field({ is: 'above', value: comparable(operator, operand) });
    case '$gte':
      return field({ is: 'aboveOrEqual', value: comparable(operator, operand) });
    case '$in':
      return field(oneOf(operator, operand));
    case '$nin':
      return not([field(oneOf(operator, operand))]);
    case '$exists':
      return truth(operand) ? field({ is: 'present' }) : not([field({ is: 'present' })]);
    case '$type':
      return field({ is: 'type', types: parseTypes(operand) });
    case '$regex': {
      const pattern = compileOperand(operand, beside['$options']);
      const text = operand instanceof BSONRegExp ? operand.pattern : String(operand);
      const options = pattern.ignoreCase ? 'i' : '';
      return field({ is: 'match', pattern, source: new BSONRegExp(text, options) });
    }
    case '$not':
      if (operand instanceof BSONRegExp) return not([field(patternTest(operand))]);
      if (isOperators(operand)) return not([all(parseCondition(path, operand))]);
      throw new CommandError(2, '$not needs a regex or a document of operators');
    case '$size':
      return field({ is: 'sized', size: size(operand) });
    case '$all':
      return allOf(path, operand);
    case '$elemMatch':
      return field(withElement(operand));
    default:
      if (operator.startsWith('$')) throw notSupported(`the query operator ${operator}`);
      throw new CommandError(2, `unknown operator: ${operator}`);
  }
}

export function all(filters: readonly Filter[]): Filter {
  return filters.length === 1 && filters[0] !== undefined ? filters[0] : { kind: 'and', filters };
}

function not(filters: readonly Filter[]): Filter {
  return { kind: 'nor', filters };
}

function branches(operator: string, value: Value): Filter[] {
  if (!isArray(value) || value.length === 0) {
    throw new CommandError(2, `${operator} must be a nonempty array`);
  }
  return value.map((branch) => {
    if (isDocument(branch)) return parseFilter(branch);
    throw new CommandError(2, `${operator} entries need to be full objects`);
  });
}

function comparable(operator: string, operand: Value): Value {
  if (operand instanceof BSONRegExp) {
    throw new CommandError(2, `Can't have RegEx as arg to predicate over field: ${operator}`);
  }
  return operand;
}

function oneOf(operator: string, operand: Value): Test {
  if (!isArray(operand)) throw new CommandError(2, `${operator} needs an array`);
  if (operand.some(isOperators)) throw new CommandError(2, `cannot nest $ under ${operator}`);
  const values = operand.filter((value) => !(value instanceof BSONRegExp));
  const patterns = operand.filter((value) => value instanceof BSONRegExp);
  return { is: 'oneOf', values, tests: patterns.map(patternTest) };
}

function patternTest(source: BSONRegExp): Test {
  return { is: 'match', pattern: compilePattern(source.pattern, source.options), source };
}

/** Truth as MongoDB has it: false, null and every zero are false, all else is true. */
export function truth(value: Value): boolean {
  if (isNumber(value)) return compareNumbers(value, new Int32(0)) !== 0;
  return value !== false && value !== null;
}

function size(operand: Value): number {
  const whole = isNumber(operand) ? wholeNumber(operand) : null;
  if (whole === null || whole < 0) throw new CommandError(2, '$size needs a whole number from 0');
  return whole;
}

function allOf(path: Path, operand: Value): Filter {
  if (!isArray(operand)) throw new CommandError(2, '$all needs an array');
  if (operand.length === 0) return NEVER;
  if (operand.some(isOperators)) throw notSupported('an operator inside $all');
  return all(operand.flatMap((value) => parseCondition(path, value)));
}

function withElement(operand: Value): Test {
  if (!isDocument(operand)) throw new CommandError(2, '$elemMatch needs an Object');
  const [first] = Object.keys(operand);
  const logical = first === '$and' || first === '$or' || first === '$nor';
  if (isOperators(operand) && !logical) {
    return { is: 'withElement', filter: all(parseCondition(BARE, operand)), bare: true };
  }
  return { is: 'withElement', filter: parseFilter(operand), bare: false };
}
