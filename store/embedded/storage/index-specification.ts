import { Int32 } from 'bson';
import { compareNumbers, wholeNumber } from '../bson/number.ts';
import { type Document, fieldOf, isDocument, isNumber, type Value } from '../bson/value.ts';
import { CommandError, notSupported } from '../errors.ts';
import { type Filter, parseFilter } from '../query/filter.ts';
import { type Path, parsePath } from '../query/path.ts';

export interface IndexSpecification {
  readonly name: string;
  readonly key: Document;
  readonly paths: readonly Path[];
  readonly unique: boolean;
  readonly partial: { readonly filter: Filter; readonly document: Document } | null;
  readonly expireAfterSeconds: number | null;
  /** As `listIndexes` shows it, and as it is stored. */
  readonly document: Document;
}

const OPTIONS = new Set([
  'v',
  'key',
  'name',
  'unique',
  'background',
  'partialFilterExpression',
  'expireAfterSeconds',
]);

/** The protocol's bound on expireAfterSeconds. */
const MAX_EXPIRY_SECONDS = 2 ** 31 - 1;

/**
 * Parses one entry of `createIndexes`.
 * @throws {CommandError} 67 for what no index can be, 115 for kinds and options not offered.
 */
export function parseIndexSpecification(given: Document): IndexSpecification {
  for (const option of Object.keys(given)) {
    if (!OPTIONS.has(option)) throw notSupported(`the index option '${option}'`);
  }
  const key = fieldOf(given, 'key');
  const name = fieldOf(given, 'name');
  if (!isDocument(key) || Object.keys(key).length === 0) {
    throw new CommandError(67, 'an index needs a key with at least one field');
  }
  if (typeof name !== 'string' || name === '' || name === '*') {
    throw new CommandError(67, 'an index needs a name');
  }
  const version = fieldOf(given, 'v');
  if (version !== undefined && (!isNumber(version) || wholeNumber(version) !== 2)) {
    throw notSupported('an index version other than 2');
  }
  const unique = flag(given, 'unique');
  const partial = partialOf(fieldOf(given, 'partialFilterExpression'));
  const expiry = expiryOf(fieldOf(given, 'expireAfterSeconds'), key);
  return {
    name,
    key,
    paths: pathsOf(key),
    unique,
    partial,
    expireAfterSeconds: expiry,
    document: {
      v: new Int32(2),
      key,
      name,
      ...(unique ? { unique } : {}),
      ...(partial === null ? {} : { partialFilterExpression: partial.document }),
      ...(expiry === null ? {} : { expireAfterSeconds: new Int32(expiry) }),
    },
  };
}

function pathsOf(key: Document): Path[] {
  return Object.entries(key).map(([field, direction]) => {
    if (typeof direction === 'string') throw notSupported(`a ${direction} index`);
    if (!isNumber(direction) || compareNumbers(direction, new Int32(0)) === 0) {
      throw new CommandError(67, `the direction of '${field}' must be a number other than 0`);
    }
    if (field.includes('$')) throw notSupported(`an index on '${field}'`);
    return parsePath(field);
  });
}

function flag(given: Document, option: string): boolean {
  const value = fieldOf(given, option) ?? false;
  if (typeof value === 'boolean') return value;
  throw new CommandError(14, `the index option '${option}' must be a bool`);
}

function partialOf(value: Value | undefined): IndexSpecification['partial'] {
  if (value === undefined) return null;
  if (!isDocument(value)) throw new CommandError(14, 'partialFilterExpression must be an object');
  const filter = parseFilter(value);
  refuseUnfit(filter);
  return { filter, document: value };
}

/** MongoDB too allows only these in a partial index. */
function refuseUnfit(filter: Filter): void {
  if (filter.kind === 'nor') throw unfit('a negation');
  if (filter.kind !== 'field') filter.filters.forEach(refuseUnfit);
  else if (['match', 'sized', 'withElement'].includes(filter.test.is)) throw unfit(filter.test.is);
}

function unfit(what: string): CommandError {
  return new CommandError(67, `unsupported expression in a partial index: ${what}`);
}

function expiryOf(value: Value | undefined, key: Document): number | null {
  if (value === undefined) return null;
  const seconds = isNumber(value) ? wholeNumber(value) : null;
  if (seconds === null || seconds < 0 || seconds > MAX_EXPIRY_SECONDS) {
    throw new CommandError(67, 'expireAfterSeconds must be a whole number from 0 to 2147483647');
  }
  const [field, ...others] = Object.keys(key);
  if (field === '_id' || others.length > 0) {
    throw new CommandError(67, 'TTL indexes are single-field indexes and not on _id');
  }
  return seconds;
}
