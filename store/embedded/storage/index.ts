import { equalityKey } from '../bson/compare.ts';
import type { Document, Value } from '../bson/value.ts';
import { reachesAny, valueAt } from '../query/path.ts';
import type { IndexSpecification } from './index-specification.ts';

/** A stored document. An update replaces `document` and keeps the entry. */
export interface Entry {
  /** Increases with each insertion; defines the natural order. */
  readonly record: number;
  document: Document;
}

/** An index in memory, on its first field only; a unique index has only one field. */
export class Index {
  readonly specification: IndexSpecification;
  readonly #byValue = new Map<string, Set<Entry>>();

  constructor(specification: IndexSpecification) {
    this.specification = specification;
  }

  /**
   * The value that would violate uniqueness, or undefined.
   * @param self the entry whose document is to be replaced
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

  /** All entries that have one of the values at the index's first path. */
  find(values: readonly Value[]): Set<Entry> {
    const found = new Set<Entry>();
    for (const value of values) {
      for (const entry of this.#byValue.get(equalityKey(value)) ?? []) found.add(entry);
    }
    return found;
  }

  /** The keys of all values that a filter would test at the path. */
  #keys({ document }: Entry): Set<string> {
    const keys = new Set<string>();
    reachesAny(document, this.specification.path, (value) => {
      keys.add(equalityKey(value));
      return false;
    });
    return keys;
  }
}
