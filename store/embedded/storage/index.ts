import { readArguments } from '../arguments.ts';
import { compareScalars, sameRank } from '../bson/compare.ts';
import { type Document, isNaNValue, isScalar, type Scalar } from '../bson/value.ts';
import { notSupported, ReplyError } from '../errors.ts';
import type { Bound, Filter } from '../query/filter.ts';
import { exists, type Path } from '../query/path.ts';
import { compareKeys, parseSort, type SortOrder, sortKey } from '../query/sort.ts';
import { statementShapes } from '../supported.ts';

export interface IndexSpecification {
  readonly name: string;
  readonly key: Document;
  readonly order: SortOrder;
  /** Path of the first field, the only one of a unique, sparse or TTL index. */
  readonly path: Path;
  readonly unique: boolean;
  /** Whether the index omits documents that lack the field. */
  readonly sparse: boolean;
  readonly expireAfterSeconds: number | null;
  /** The specification as received and stored. */
  readonly document: Document;
}

const argument = 'createIndexes.indexes';

/** The protocol's maximum of expireAfterSeconds. */
const maxExpirySeconds = 2 ** 31 - 1;

/**
 * Parses an index specification of `createIndexes`.
 * @throws {ReplyError} 67 for an invalid specification, 115 for unsupported kinds and options.
 */
export function parseIndexSpecification(document: Document): IndexSpecification {
  const given = readArguments(document, statementShapes[argument], argument);
  const { key, name, unique = false, sparse = false, expireAfterSeconds = null } = given;
  const order = parseSort(key);
  const [path, ...others] = order.paths;
  if (path === undefined) throw new ReplyError(67, 'an index needs a key with a field');
  if (name === '') throw new ReplyError(67, 'an index needs a name');
  if (others.length > 0 && unique) throw notSupported('a unique index over several fields');
  if (others.length > 0 && sparse) throw notSupported('a sparse index over several fields');
  if (others.length > 0 && expireAfterSeconds !== null) {
    throw new ReplyError(67, 'TTL indexes are single-field indexes');
  }
  if (expireAfterSeconds !== null && expireAfterSeconds > maxExpirySeconds) {
    throw new ReplyError(67, 'expireAfterSeconds must be within an int32');
  }
  return { name, key, order, path, unique, sparse, expireAfterSeconds, document };
}

/** Every collection includes this index, so it is neither created nor written to the log. */
export const idSpecification = parseIndexSpecification({
  key: { _id: 1 },
  name: '_id_',
  unique: true,
});

/** A stored document. An update replaces `document` and keeps the entry. */
export interface Entry {
  /** Increases with each insertion; defines the natural order. */
  readonly record: number;
  document: Document;
}

/** A document's values in the indexed fields. */
type Key = readonly Scalar[];

interface Keyed {
  readonly key: Key;
  readonly entry: Entry;
}

/** The range of an index that a filter selects: it includes all matching entries. */
export interface Scan {
  readonly size: number;
  entries(): Iterable<Entry>;
  /** Whether all of the entries match. */
  readonly isExact: boolean;
  /** Whether the entries are in the requested order. */
  readonly isSorted: boolean;
}

/**
 * Entries sorted by key. A filter selects a range by equality on the first fields and bounds on the
 * next field, in logarithmic time. Arrays and documents have no order, so they are refused.
 */
export class Index {
  readonly specification: IndexSpecification;
  /** Sorted by key, and equal keys by record. */
  readonly #keyed: Keyed[];

  /** @throws {ReplyError} as {@link conflict} */
  constructor(specification: IndexSpecification, entries: Iterable<Entry> = []) {
    this.specification = specification;
    this.#keyed = [...entries].flatMap((entry) => this.#toKeyed(entry) ?? []);
    this.#keyed.sort((a, b) => this.#compare(a, b));
  }

  /** The first value that several entries have in a unique index, or undefined. */
  duplicate(): Scalar | undefined {
    if (!this.specification.unique) return undefined;
    const isRepeated = ({ key }: Keyed, i: number) =>
      i > 0 && this.#compareKeys(key, this.#keyed[i - 1]?.key ?? []) === 0;
    return this.#keyed.find(isRepeated)?.key[0];
  }

  /**
   * Returns the value that would violate uniqueness, or undefined.
   * @param self the entry to replace
   * @throws {ReplyError} 115 for an array or a document
   */
  conflict(document: Document, self?: Entry): Scalar | undefined {
    const key = this.#toKey(document);
    if (key === null || !this.specification.unique) return undefined;
    const [from, to] = this.#range(key, []);
    return from < to && this.#keyed[from]?.entry !== self ? key[0] : undefined;
  }

  add(entry: Entry): void {
    const keyed = this.#toKeyed(entry);
    if (keyed !== null) this.#keyed.splice(this.#position(keyed), 0, keyed);
  }

  remove(entry: Entry): void {
    const keyed = this.#toKeyed(entry);
    if (keyed !== null) this.#keyed.splice(this.#position(keyed), 1);
  }

  /** Whether an update leaves the entry where it is. */
  hasSameKey(before: Document, after: Document): boolean {
    const [from, to] = [this.#toKey(before), this.#toKey(after)];
    if (from === null || to === null) return from === to;
    return this.#compareKeys(from, to) === 0;
  }

  /**
   * Returns null for a filter without a condition on the first field, unless all entries are in the
   * requested order.
   */
  scan({ requirements, bounds, exhaustive }: Filter, order: SortOrder): Scan | null {
    const { order: own, sparse } = this.specification;
    const prefix: Scalar[] = [];
    for (const path of own.paths) {
      const value = scalarFor(path, requirements);
      // Documents without the field match null, but a sparse index omits them.
      if (value === undefined || (sparse && value === null)) break;
      prefix.push(value);
    }
    const next = own.paths[prefix.length];
    const limits = next === undefined ? [] : bounds.filter(({ path }) => samePath(path, next));
    const isSorted = order.paths.every((path, i) => {
      const at = prefix.length + i;
      const field = own.paths[at];
      return (
        field !== undefined && samePath(path, field) && order.directions[i] === own.directions[at]
      );
    });
    const isForOrder = isSorted && order.paths.length > 0 && !sparse;
    if (prefix.length === 0 && limits.length === 0 && !isForOrder) return null;
    const [from, to] = this.#range(prefix, limits);
    const isExact =
      exhaustive && prefix.length === requirements.length && limits.length === bounds.length;
    return { size: to - from, entries: () => this.#between(from, to), isExact, isSorted };
  }

  *#between(from: number, to: number): Generator<Entry> {
    for (let at = from; at < to; at += 1) yield (this.#keyed[at] as Keyed).entry;
  }

  #toKey(document: Document): Key | null {
    const { order, path, sparse } = this.specification;
    if (sparse && !exists(document, path)) return null;
    return order.paths.map((field) => sortKey(document, field, 'an index on'));
  }

  #toKeyed(entry: Entry): Keyed | null {
    const key = this.#toKey(entry.document);
    return key && { key, entry };
  }

  #compare(a: Keyed, b: Keyed): number {
    return this.#compareKeys(a.key, b.key) || a.entry.record - b.entry.record;
  }

  #compareKeys(a: Key, b: Key): number {
    return compareKeys(a, b, this.specification.order.directions);
  }

  /** The position of an entry, or where it belongs. */
  #position(keyed: Keyed): number {
    return this.#first((other) => this.#compare(other, keyed) >= 0);
  }

  /** The first position whose item passes the test; all items from there on pass it too. */
  #first(test: (keyed: Keyed) => boolean): number {
    let [low, high] = [0, this.#keyed.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (test(this.#keyed[middle] as Keyed)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** The positions `[from, to)` of the keys with a prefix, and then a value within limits. */
  #range(prefix: Key, limits: readonly Bound[]): readonly [from: number, to: number] {
    const side = ({ key }: Keyed) => this.#side(key, prefix, limits);
    const from = this.#first((keyed) => side(keyed) >= 0);
    return [from, this.#first((keyed) => side(keyed) > 0)];
  }

  /** Negative for a key before the range, 0 within, positive after it. */
  #side(key: Key, prefix: Key, limits: readonly Bound[]): number {
    const { directions } = this.specification.order;
    const before = compareKeys(key, prefix, directions.slice(0, prefix.length));
    if (before !== 0) return before;
    const direction = directions[prefix.length] ?? 1;
    const value = key[prefix.length] ?? null;
    for (const { value: limit, accepts } of limits) {
      const order = compareScalars(value, limit);
      if (!sameRank(value, limit) || isNaNValue(value)) return order * direction;
      // An exclusive limit itself is outside: below the range if greater values are within it.
      if (!accepts(order)) return (order || (accepts(1) ? -1 : 1)) * direction;
    }
    return 0;
  }
}

function samePath(a: Path, b: Path): boolean {
  return a.length === b.length && a.every((component, i) => component === b[i]);
}

/** The only scalar value that a filter accepts at a path, or undefined. */
function scalarFor(path: Path, requirements: Filter['requirements']): Scalar | undefined {
  for (const { path: required, values } of requirements) {
    const [value] = values;
    const isOnly = values.length === 1 && value !== undefined && isScalar(value);
    if (isOnly && samePath(required, path)) return value;
  }
  return undefined;
}
