import { compareScalars, equalityKey, sameRank } from '../bson/compare.ts';
import { isNaNValue } from '../bson/number.ts';
import { type Document, isScalar, type Scalar, type Value } from '../bson/value.ts';
import type { Bound, Filter } from '../query/filter.ts';
import { exists, type Path, singleValueAt, valueAt } from '../query/path.ts';
import type { SortOrder } from '../query/sort.ts';
import type { IndexSpecification } from './index-specification.ts';
import { SortedList } from './sorted-list.ts';

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
  readonly #keyed = new SortedList<Keyed>((a, b) => this.#compare(a, b));
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
    this.#keyed.fill(keyed);
  }

  /** The first value that several entries have in a unique index, or undefined. */
  duplicate(): Value | undefined {
    if (!this.specification.unique) return undefined;
    let before: Keyed | undefined;
    for (const keyed of this.#keyed.slice()) {
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
      for (const { entry } of this.#keyed.slice(from, to)) yield entry;
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
    const keyed = [...this.#keyed.slice(...this.#range([value], []))];
    return [...keyed.map(({ entry }) => entry), ...unkeyed];
  }

  #put(entry: Entry, key: Key): void {
    if (key === 'unkeyed') this.#unkeyed.add(entry);
    else if (key !== null) this.#keyed.insert({ key, entry });
  }

  #take(entry: Entry, key: Key): void {
    if (key === 'unkeyed') this.#unkeyed.delete(entry);
    else if (key !== null) this.#keyed.remove({ key, entry });
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
    const from = this.#keyed.first((keyed) => side(keyed) >= 0);
    return [from, this.#keyed.first((keyed) => side(keyed) > 0)];
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
