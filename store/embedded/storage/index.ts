import { equalityKey } from '../bson/compare.ts';
import type { Document, Value } from '../bson/value.ts';
import { reachesAny, valueAt } from '../query/path.ts';
import type { IndexSpecification } from './index-specification.ts';

/** A stored document. The entry stays when an update puts another document into it. */
export interface Entry {
  /** Ascends with insertion: the natural order. */
  readonly record: number;
  document: Document;
}

/** An index in memory: finds by its first field, over which a unique index is unique. */
export class Index {
  readonly specification: IndexSpecification;
  readonly #byValue = new Map<string, Set<Entry>>();

  constructor(specification: IndexSpecification) {
    this.specification = specification;
  }

  /**
   * The value by which the document would break uniqueness, or undefined.
   * @param self the entry that the document is going to replace
   * @throws {CommandError} 115 for an array: each of its elements would have to be unique.
   */
  conflict(document: Document, self?: Entry): Value | undefined {
    const { unique, path } = this.specification;
    if (!unique) return undefined;
    const value = valueAt(document, path, 'a unique index on');
    for (const owner of this.#byValue.get(equalityKey(value)) ?? []) {
      if (owner !== self) return value;
    }
    return undefined;
  }

  add(entry: Entry): void {
    for (const key of this.#keys(entry)) {
      const entries = this.#byValue.get(key);
      if (entries === undefined) this.#byValue.set(key, new Set([entry]));
      else entries.add(entry);
    }
  }

  remove(entry: Entry): void {
    for (const key of this.#keys(entry)) {
      const entries = this.#byValue.get(key);
      entries?.delete(entry);
      if (entries?.size === 0) this.#byValue.delete(key);
    }
  }

  /** Every entry that has one of the values at the index's first path. */
  find(values: readonly Value[]): Set<Entry> {
    const found = new Set<Entry>();
    for (const value of values) {
      for (const entry of this.#byValue.get(equalityKey(value)) ?? []) found.add(entry);
    }
    return found;
  }

  /** Of every value that a filter would meet at the path. */
  #keys({ document }: Entry): Set<string> {
    const keys = new Set<string>();
    reachesAny(document, this.specification.path, (value) => {
      keys.add(equalityKey(value));
      return false;
    });
    return keys;
  }
}
