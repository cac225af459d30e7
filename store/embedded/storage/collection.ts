import { Int32, ObjectId } from 'bson';
import { equalityKey } from '../bson/compare.ts';
import { type Document, encode, fieldOf, type Value } from '../bson/value.ts';
import { CommandError } from '../errors.ts';
import type { Filter } from '../query/filter.ts';
import { type Entry, Index } from './index.ts';
import type { IndexSpecification } from './index-specification.ts';
import type { Journal } from './journal.ts';
import { toStorable } from './storable.ts';

/**
 * A collection: all documents are in memory, and all changes are recorded in the journal. All
 * methods are synchronous, so each command is isolated from the others. A change is recorded before
 * it is made, because the journal refuses it when the disk is full.
 *
 * It is intended for about 10,000 documents. With more, queries without an index take
 * proportionally longer, and block all other commands.
 */
export class Collection {
  /** The first part of its journal keys. */
  readonly number: number;
  /** `database.collection` */
  readonly namespace: string;
  readonly #journal: Journal;
  readonly #indexes = new Map<string, Index>();
  readonly #byId = new Map<string, Entry>();
  #nextRecord = 1;
  #changed = 0;

  constructor(number: number, namespace: string, journal: Journal) {
    this.number = number;
    this.namespace = namespace;
    this.#journal = journal;
  }

  /** The last journal batch with a change of this collection. */
  get changed(): number {
    return this.#changed;
  }

  get indexes(): readonly Index[] {
    return [...this.#indexes.values()];
  }

  /** Adds a document from disk. */
  restore(record: number, document: Document): void {
    this.#add({ record, document });
    this.#nextRecord = Math.max(this.#nextRecord, record + 1);
  }

  entries(): IterableIterator<Entry> {
    return this.#byId.values();
  }

  /** The matching entries, in natural order. */
  find(filter: Filter): Entry[] {
    return this.#candidates(filter).filter((entry) => filter.passes(entry.document));
  }

  /**
   * @throws {CommandError} 11000 for a duplicate key, 14031 when the disk is full; also the errors of
   * {@link toStorable}.
   */
  insert(given: Document): Document {
    const identity = fieldOf(given, '_id') ?? new ObjectId();
    const { document, bytes } = toStorable({ _id: identity, ...given });
    this.#refuseConflicts(document);
    const entry: Entry = { record: this.#nextRecord, document };
    this.#put(entry.record, bytes);
    this.#nextRecord += 1;
    this.#add(entry);
    return document;
  }

  /**
   * Replaces the document of an entry.
   * @returns whether the document changed
   * @throws {CommandError} as {@link insert}
   */
  replace(entry: Entry, given: Document): boolean {
    const { document, bytes } = toStorable(given);
    if (Buffer.compare(encode(entry.document), bytes) === 0) return false;
    this.#refuseConflicts(document, entry);
    this.#put(entry.record, bytes);
    for (const index of this.#indexes.values()) index.remove(entry);
    entry.document = document;
    for (const index of this.#indexes.values()) index.add(entry);
    return true;
  }

  /** @throws {CommandError} 14031 */
  remove(entry: Entry): void {
    this.#journal.remove([this.number, entry.record]);
    this.#changed = this.#journal.batch;
    for (const index of this.#indexes.values()) index.remove(entry);
    this.#byId.delete(identityKey(entry.document));
  }

  /**
   * An index of all documents, which {@link addIndex} puts to use.
   * @throws {CommandError} 11000 when existing documents have duplicate keys.
   */
  buildIndex(specification: IndexSpecification): Index {
    const index = new Index(specification);
    for (const entry of this.#byId.values()) {
      const value = index.conflict(entry.document);
      if (value !== undefined) throw this.#duplicate(specification.name, specification.key, value);
      index.add(entry);
    }
    return index;
  }

  addIndex(index: Index): void {
    this.#indexes.set(index.specification.name, index);
    this.#changed = this.#journal.batch;
  }

  #candidates({ requirements }: Filter): Entry[] {
    let least: Set<Entry> | null = null;
    for (const { path, values } of requirements) {
      const dotted = path.join('.');
      if (dotted === '_id') {
        return inNaturalOrder(values.flatMap((value) => this.#byId.get(equalityKey(value)) ?? []));
      }
      for (const index of this.#indexes.values()) {
        if (index.specification.path.join('.') !== dotted) continue;
        const found = index.find(values);
        if (least === null || found.size < least.size) least = found;
      }
    }
    return least === null ? [...this.#byId.values()] : inNaturalOrder([...least]);
  }

  #add(entry: Entry): void {
    this.#byId.set(identityKey(entry.document), entry);
    for (const index of this.#indexes.values()) index.add(entry);
  }

  #put(record: number, bytes: Uint8Array): void {
    this.#journal.put([this.number, record], bytes);
    this.#changed = this.#journal.batch;
  }

  #refuseConflicts(document: Document, self?: Entry): void {
    const identity = fieldOf(document, '_id') ?? null;
    const owner = this.#byId.get(equalityKey(identity));
    if (owner !== undefined && owner !== self) {
      throw this.#duplicate('_id_', { _id: new Int32(1) }, identity);
    }
    for (const index of this.#indexes.values()) {
      const value = index.conflict(document, self);
      const { name, key } = index.specification;
      if (value !== undefined) throw this.#duplicate(name, key, value);
    }
  }

  #duplicate(index: string, keyPattern: Document, value: Value): CommandError {
    const [field = ''] = Object.keys(keyPattern);
    const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
    return new CommandError(
      11000,
      `E11000 duplicate key error collection: ${this.namespace} index: ${index} dup key: { ${field}: ${text} }`,
      { keyPattern, keyValue: { [field]: value } },
    );
  }
}

function identityKey(document: Document): string {
  return equalityKey(fieldOf(document, '_id') ?? null);
}

function inNaturalOrder(entries: Entry[]): Entry[] {
  return [...new Set(entries)].sort((a, b) => a.record - b.record);
}
