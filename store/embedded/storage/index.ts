import { Int32 } from 'bson';
import { readArguments } from '../arguments.ts';
import { compareScalars, equalityKey, sameRank } from '../bson/compare.ts';
import { type Document, isNaNValue, isScalar, type Scalar, type Value } from '../bson/value.ts';
import { notSupported, ReplyError } from '../errors.ts';
import type { Bound, Filter } from '../query/filter.ts';
import { exists, type Path, parsePath, singleValueAt, valueAt } from '../query/path.ts';
import { parseDirection, type SortOrder } from '../query/sort.ts';
import { statementShapes } from '../supported.ts';

export interface IndexSpecification {
  readonly name: string;
  readonly key: Document;
  /** Same order as the indexed fields. */
  readonly paths: readonly Path[];
  /** 1 ascending, -1 descending; same order as the paths. */
  readonly directions: readonly number[];
  /** Path of the first field, the only one of a unique, sparse or TTL index. */
  readonly path: Path;
  readonly unique: boolean;
  /** Whether the index omits documents that lack the field. */
  readonly sparse: boolean;
  readonly expireAfterSeconds: number | null;
  /** The specification as received and stored. */
  readonly document: Document;
}

/** Every collection includes this index, so it is neither created nor stored. */
export const idSpecification: IndexSpecification = {
  name: '_id_',
  key: { _id: new Int32(1) },
  paths: [['_id']],
  directions: [1],
  path: ['_id'],
  // The collection checks that ids are unique.
  unique: false,
  sparse: false,
  expireAfterSeconds: null,
  document: {},
};

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
  const fields = Object.entries(key);
  const paths = fields.map(([field]) => parsePath(field));
  const directions = fields.map(([field, direction]) => parseDirection(field, direction));
  const [path] = paths;
  if (path === undefined) throw new ReplyError(67, 'an index needs a key with a field');
  if (name === '') throw new ReplyError(67, 'an index needs a name');
  if (path.join('.') === '_id') throw notSupported('a second index on _id');
  if (paths.length > 1 && unique) throw notSupported('a unique index over several fields');
  if (paths.length > 1 && sparse) throw notSupported('a sparse index over several fields');
  if (paths.length > 1 && expireAfterSeconds !== null) {
    throw new ReplyError(67, 'TTL indexes are single-field indexes');
  }
  if (expireAfterSeconds !== null && expireAfterSeconds > maxExpirySeconds) {
    throw new ReplyError(67, 'expireAfterSeconds must be within an int32');
  }
  return { name, key, paths, directions, path, unique, sparse, expireAfterSeconds, document };
}

/** A stored document. An update replaces `document` and keeps the entry. */
export interface Entry {
  /** Increases with each insertion; defines the natural order. */
  readonly record: number;
  document: Document;
}

/**
 * A document's values in the indexed fields: `unkeyed` for an array, a document or NaN, which every
 * bound excludes; null if a sparse index omits the document.
 */
type Key = readonly Scalar[] | 'unkeyed' | null;

interface Keyed {
  readonly key: readonly Scalar[];
  readonly entry: Entry;
}

/** The ranges of an index that a filter selects: they include all matching entries. */
export interface Scan {
  readonly index: Index;
  /** Positions `[from, to)`, which do not overlap. */
  readonly ranges: readonly (readonly [from: number, to: number])[];
  readonly size: number;
  /** Whether all of the entries match. */
  readonly exact: boolean;
  /** How many leading index fields share the same value in all entries. */
  readonly fixed: number;
}

/**
 * Entries sorted by key. A filter selects ranges by equality on the first fields and bounds on the
 * next field, in logarithmic time.
 */
export class Index {
  readonly specification: IndexSpecification;
  /** Sorted by key, and equal keys by record. */
  #keyed: Keyed[] = [];
  /** Every scan includes them. */
  readonly #unkeyed = new Set<Entry>();

  constructor(specification: IndexSpecification) {
    this.specification = specification;
  }

  /**
   * Returns the value that would violate uniqueness, or undefined.
   * @param self the entry to replace
   * @throws {ReplyError} 115 for an array, because each element would have to be unique.
   */
  conflict(document: Document, self?: Entry): Value | undefined {
    const { unique, path } = this.specification;
    if (!unique || this.#omits(document)) return undefined;
    const value = valueAt(document, path, 'a unique index on');
    for (const owner of this.#owners(value)) if (owner !== self) return value;
    return undefined;
  }

  /** Adds many entries at once. */
  fill(entries: Iterable<Entry>): void {
    const keyed: Keyed[] = [];
    for (const entry of entries) {
      const key = this.#toKey(entry.document);
      if (key === 'unkeyed') this.#unkeyed.add(entry);
      else if (key !== null) keyed.push({ key, entry });
    }
    this.#keyed = keyed.sort((a, b) => this.#compare(a, b));
  }

  /** The first value that several entries have in a unique index, or undefined. */
  duplicate(): Value | undefined {
    if (!this.specification.unique) return undefined;
    let before: Keyed | undefined;
    for (const keyed of this.#keyed) {
      if (
        before !== undefined &&
        compareScalars(firstComponent(before), firstComponent(keyed)) === 0
      ) {
        return firstComponent(keyed);
      }
      before = keyed;
    }
    for (const entry of this.#unkeyed) {
      const value = this.conflict(entry.document, entry);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  add(entry: Entry): void {
    this.#put(entry, this.#toKey(entry.document));
  }

  remove(entry: Entry): void {
    this.#take(entry, this.#toKey(entry.document));
  }

  /** @param before the document that the entry had */
  move(entry: Entry, before: Document): void {
    const from = this.#toKey(before);
    const to = this.#toKey(entry.document);
    if (from === to || (isKey(from) && isKey(to) && this.#compareKeys(from, to) === 0)) return;
    this.#take(entry, from);
    this.#put(entry, to);
  }

  /**
   * Returns null for a filter without a condition on the first field, or else a scan of all
   * entries.
   * @param orAll whether the entries' order justifies scanning them all
   */
  scan({ requirements, bounds, exhaustive }: Filter, orAll = false): Scan | null {
    const { paths, sparse } = this.specification;
    let prefixes: Scalar[][] = [[]];
    let fixed = 0;
    for (const path of paths) {
      const values = scalarsFor(path, requirements, fixed === 0);
      // Documents without the field match null, but a sparse index omits them.
      if (values === null || (sparse && values.includes(null))) break;
      prefixes = values.flatMap((value) => prefixes.map((prefix) => [...prefix, value]));
      fixed += 1;
    }
    const next = paths[fixed];
    const limits = next === undefined ? [] : bounds.filter(({ path }) => samePath(path, next));
    if (fixed === 0 && limits.length === 0 && !orAll) return null;
    const ranges = prefixes.map((prefix) => this.#range(prefix, limits));
    const size = ranges.reduce((sum, [from, to]) => sum + to - from, this.#unkeyed.size);
    return {
      index: this,
      ranges,
      size,
      exact:
        exhaustive &&
        this.#unkeyed.size === 0 &&
        fixed === requirements.length &&
        limits.length === bounds.length,
      fixed: prefixes.length === 1 ? fixed : 0,
    };
  }

  *entries({ ranges }: Scan): Generator<Entry> {
    for (const [from, to] of ranges) {
      for (let at = from; at < to; at += 1) yield (this.#keyed[at] as Keyed).entry;
    }
    yield* this.#unkeyed;
  }

  /** Whether the entries of a scan have this order already. */
  sorts({ ranges, fixed }: Scan, { paths, directions }: SortOrder): boolean {
    const { paths: own, directions: ownDirections } = this.specification;
    return (
      ranges.length === 1 &&
      this.#unkeyed.size === 0 &&
      paths.every((path, i) => {
        const field = own[fixed + i];
        return (
          field !== undefined && samePath(path, field) && directions[i] === ownDirections[fixed + i]
        );
      })
    );
  }

  #omits(document: Document): boolean {
    return this.specification.sparse && !exists(document, this.specification.path);
  }

  #owners(value: Value): Entry[] {
    const { path } = this.specification;
    const key = equalityKey(value);
    const hasKey = ({ document }: Entry) =>
      equalityKey(singleValueAt(document, path) ?? null) === key;
    const unkeyed = [...this.#unkeyed].filter(hasKey);
    if (!isScalar(value)) return unkeyed;
    const keyed = this.#keyed.slice(...this.#range([value], []));
    return [...keyed.map(({ entry }) => entry), ...unkeyed];
  }

  #put(entry: Entry, key: Key): void {
    if (key === 'unkeyed') this.#unkeyed.add(entry);
    else if (key !== null) this.#keyed.splice(this.#find({ key, entry }), 0, { key, entry });
  }

  #take(entry: Entry, key: Key): void {
    if (key === 'unkeyed') this.#unkeyed.delete(entry);
    else if (key !== null) this.#keyed.splice(this.#find({ key, entry }), 1);
  }

  /** The position of an entry, or where it belongs. */
  #find(keyed: Keyed): number {
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

  #toKey(document: Document): Key {
    if (this.#omits(document)) return null;
    const key: Scalar[] = [];
    for (const path of this.specification.paths) {
      const value = singleValueAt(document, path);
      if (value === undefined || !isScalar(value) || isNaNValue(value)) return 'unkeyed';
      key.push(value);
    }
    return key;
  }

  #compare(a: Keyed, b: Keyed): number {
    return this.#compareKeys(a.key, b.key) || a.entry.record - b.entry.record;
  }

  #compareKeys(a: readonly Scalar[], b: readonly Scalar[]): number {
    const { directions } = this.specification;
    for (let i = 0; i < directions.length; i += 1) {
      const order = compareScalars(a[i] ?? null, b[i] ?? null);
      if (order !== 0) return order * (directions[i] ?? 1);
    }
    return 0;
  }

  #range(prefix: readonly Scalar[], limits: readonly Bound[]): readonly [from: number, to: number] {
    const side = ({ key }: Keyed) => this.#side(key, prefix, limits);
    const from = this.#first((keyed) => side(keyed) >= 0);
    return [from, this.#first((keyed) => side(keyed) > 0)];
  }

  /** Negative for a key before the range, 0 within, positive after it. */
  #side(key: readonly Scalar[], prefix: readonly Scalar[], limits: readonly Bound[]): number {
    const { directions } = this.specification;
    for (let i = 0; i < prefix.length; i += 1) {
      const order = compareScalars(key[i] ?? null, prefix[i] ?? null);
      if (order !== 0) return order * (directions[i] ?? 1);
    }
    const direction = directions[prefix.length] ?? 1;
    const value = key[prefix.length] ?? null;
    for (const { value: limit, accepts } of limits) {
      const order = compareScalars(value, limit);
      if (!sameRank(value, limit)) return order * direction;
      // An exclusive limit itself is outside: below the range if greater values are within it.
      if (!accepts(order)) return (order || (accepts(1) ? -1 : 1)) * direction;
    }
    return 0;
  }
}

const isKey = (key: Key): key is readonly Scalar[] => Array.isArray(key);

const firstComponent = ({ key }: Keyed): Scalar => key[0] ?? null;

function samePath(a: Path, b: Path): boolean {
  return a.length === b.length && a.every((component, i) => component === b[i]);
}

/** The distinct scalar values that a filter requires at a path, or null. */
function scalarsFor(
  path: Path,
  requirements: Filter['requirements'],
  several: boolean,
): Scalar[] | null {
  for (const { path: required, values } of requirements) {
    if (!samePath(required, path) || !values.every(isScalar)) continue;
    const each = new Map(values.map((value) => [equalityKey(value), value]));
    if (several || each.size === 1) return [...each.values()];
  }
  return null;
}
