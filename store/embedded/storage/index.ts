import { equalityKey } from '../bson/key.ts';
import type { Document, Value } from '../bson/value.ts';
import { compile } from '../query/match.ts';
import { type IndexTuple, indexTuples, type Path, tupleKey } from '../query/path.ts';
import { indexedForms } from '../query/plan.ts';
import type { IndexSpecification } from './index-specification.ts';

/** A stored document. The entry stays when an update puts another document into it. */
export interface Entry {
  /** Ascends with insertion: the natural order. */
  readonly record: number;
  document: Document;
}

/** An index in memory: finds by its first field, and guards uniqueness over all of them. */
export class Index {
  readonly specification: IndexSpecification;
  readonly #covers: (document: Document) => boolean;
  readonly #byFirstField = new Map<string, Set<Entry>>();
  readonly #owners = new Map<string, Entry>();

  constructor(specification: IndexSpecification) {
    this.specification = specification;
    const { partial } = specification;
    this.#covers = partial === null ? () => true : compile(partial.filter);
  }

  /**
   * The key by which the document would break uniqueness, or null.
   * @param self the entry that the document is going to replace
   * @throws {CommandError} 171 when the document cannot be indexed.
   */
  conflict(document: Document, self?: Entry): IndexTuple | null {
    for (const tuple of this.#tuples(document)) {
      if (!this.specification.unique) continue;
      const owner = this.#owners.get(tupleKey(tuple));
      if (owner !== undefined && owner !== self) return tuple;
    }
    return null;
  }

  add(entry: Entry): void {
    for (const tuple of this.#tuples(entry.document)) {
      const first = equalityKey(tuple[0]);
      const entries = this.#byFirstField.get(first);
      if (entries === undefined) this.#byFirstField.set(first, new Set([entry]));
      else entries.add(entry);
      if (this.specification.unique) this.#owners.set(tupleKey(tuple), entry);
    }
  }

  remove(entry: Entry): void {
    for (const tuple of this.#tuples(entry.document)) {
      const first = equalityKey(tuple[0]);
      const entries = this.#byFirstField.get(first);
      entries?.delete(entry);
      if (entries?.size === 0) this.#byFirstField.delete(first);
      if (this.specification.unique) this.#owners.delete(tupleKey(tuple));
    }
  }

  /** Every entry whose value at the path may equal one of the values, or null: not by this index. */
  find(path: Path, values: readonly Value[]): Set<Entry> | null {
    const [first] = this.specification.paths;
    if (this.specification.partial !== null || first?.join('.') !== path.join('.')) return null;
    const found = new Set<Entry>();
    for (const form of values.flatMap(indexedForms)) {
      for (const entry of this.#byFirstField.get(equalityKey(form)) ?? []) found.add(entry);
    }
    return found;
  }

  #tuples(document: Document): IndexTuple[] {
    return this.#covers(document) ? indexTuples(document, this.specification.paths) : [];
  }
}
