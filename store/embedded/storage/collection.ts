import { Int32, ObjectId } from 'bson';
import { equalityKey } from '../bson/compare.ts';
import { type Document, encode, fieldOf, type Value } from '../bson/value.ts';
import { ReplyError } from '../errors.ts';
import type { Filter } from '../query/filter.ts';
import { type SortOrder, sortDocuments } from '../query/sort.ts';
import { type Entry, Index, type Scan } from './index.ts';
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
    const passes = ({ document }: Entry) => filter.passes(document);
    const identified = this.#byIdentity(filter);
    if (identified !== null) return inNaturalOrder(identified.filter(passes));
    const scan = this.#leastScan(filter);
    if (scan === null) return [...this.#byId.values()].filter(passes);
    return inNaturalOrder([...scan.index.entries(scan)].filter(passes));
  }

  /**
   * The first matching entries in an order; equal ones are in any order.
   * @throws {ReplyError} as {@link sortDocuments}
   */
  search(filter: Filter, order: SortOrder, limit: number): Entry[] {
    const scan = this.#byIdentity(filter) === null ? this.#orderedScan(filter, order) : null;
    if (scan === null) {
      return sortDocuments(this.find(filter), ({ document }) => document, order).slice(0, limit);
    }
    const found: Entry[] = [];
    for (const entry of scan.index.entries(scan)) {
      if (found.length >= limit) break;
      if (filter.passes(entry.document)) found.push(entry);
    }
    return found;
  }

  /** The number of matching entries. */
  count(filter: Filter): number {
    const exact = this.#scans(filter).find((scan) => scan.exact);
    return exact?.size ?? this.find(filter).length;
  }

  /**
   * @throws {ReplyError} 11000 for a duplicate key, 14031 when the disk is full; also the errors of
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
   * @throws {ReplyError} as {@link insert}
   */
  replace(entry: Entry, given: Document): boolean {
    const { document, bytes } = toStorable(given);
    if (Buffer.compare(encode(entry.document), bytes) === 0) return false;
    this.#refuseConflicts(document, entry);
    this.#put(entry.record, bytes);
    const before = entry.document;
    entry.document = document;
    for (const index of this.#indexes.values()) index.move(entry, before);
    return true;
  }

  /** @throws {ReplyError} 14031 */
  remove(entry: Entry): void {
    this.#journal.remove([this.number, entry.record]);
    this.#changed = this.#journal.batch;
    for (const index of this.#indexes.values()) index.remove(entry);
    this.#byId.delete(identityKey(entry.document));
  }

  /**
   * An index of all documents, for {@link addIndex}.
   * @throws {ReplyError} 11000 when existing documents have duplicate keys.
   */
  buildIndex(specification: IndexSpecification): Index {
    const index = new Index(specification);
    index.fill(this.#byId.values());
    const value = index.duplicate();
    if (value !== undefined) throw this.#duplicate(specification.name, specification.key, value);
    return index;
  }

  addIndex(index: Index): void {
    this.#indexes.set(index.specification.name, index);
    this.#changed = this.#journal.batch;
  }

  /** A part of an index that is sorted already, unless another index selects fewer entries. */
  #orderedScan(filter: Filter, order: SortOrder): Scan | null {
    if (order.paths.length === 0) return null;
    const scans = this.#scans(filter);
    const least = Math.min(...scans.map(({ size }) => size));
    return scans.find((scan) => scan.size <= least && scan.index.sorts(scan, order)) ?? null;
  }

  /** The smallest part of an index that a filter selects, or null. */
  #leastScan(filter: Filter): Scan | null {
    let least: Scan | null = null;
    for (const scan of this.#scans(filter)) {
      if (least === null || scan.size < least.size) least = scan;
    }
    return least;
  }

  #scans(filter: Filter): Scan[] {
    return [...this.#indexes.values()].flatMap((index) => index.scan(filter) ?? []);
  }

  #byIdentity({ requirements }: Filter): Entry[] | null {
    const required = requirements.find(({ path }) => path.length === 1 && path[0] === '_id');
    if (required === undefined) return null;
    return required.values.flatMap((value) => this.#byId.get(equalityKey(value)) ?? []);
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

  #duplicate(index: string, keyPattern: Document, value: Value): ReplyError {
    const [field = ''] = Object.keys(keyPattern);
    const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
    return new ReplyError(
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
