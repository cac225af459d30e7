import { calculateObjectSize, ObjectId } from 'bson';
import { equalityKey } from '../bson/compare.ts';
import { type Document, encode, getField, isDocument, type Scalar } from '../bson/value.ts';
import { ReplyError } from '../errors.ts';
import type { Filter } from '../query/filter.ts';
import { parseSort, type SortOrder, sortDocuments } from '../query/sort.ts';
import { maxDocumentBytes } from '../supported.ts';
import {
  type Entry,
  Index,
  type IndexSpecification,
  idSpecification,
  parseIndexSpecification,
  type Scan,
} from './index.ts';
import { Log } from './log.ts';

const unordered = parseSort({});

/**
 * Keeps all documents in memory. Every method is synchronous, which isolates commands from each
 * other, and writes a change to the log before it makes it.
 */
export class Collection {
  /** `database.collection` */
  readonly namespace: string;
  readonly #append: (change: Document) => void;
  readonly #byId = new Map<string, Entry>();
  #indexes = [new Index(idSpecification)];
  #nextRecord = 1;

  /** @param append writes a change to the log, or throws */
  constructor(namespace: string, append: (change: Document) => void) {
    this.namespace = namespace;
    this.#append = append;
  }

  /** The index on `_id` is the first. */
  get indexes(): readonly IndexSpecification[] {
    return this.#indexes.map(({ specification }) => specification);
  }

  /** Repeats a change of the log. Afterwards, {@link buildIndexes} runs once. */
  restore({ put, remove, index }: Document): void {
    if (isDocument(put)) {
      const entry = this.#byId.get(idKey(put));
      if (entry === undefined) this.#byId.set(idKey(put), this.#newEntry(put));
      else entry.document = put;
    } else if (isDocument(index)) {
      const specification = parseIndexSpecification(index);
      const isNew = this.indexes.every(({ name }) => name !== specification.name);
      if (isNew) this.#indexes.push(new Index(specification));
    } else {
      this.#byId.delete(equalityKey(remove ?? null));
    }
  }

  /** @throws {ReplyError} 115 for values that have no order */
  buildIndexes(): void {
    this.#indexes = this.indexes.map((specification) => new Index(specification, this.entries()));
  }

  /** The changes that make this collection, for a snapshot. Others can be made meanwhile. */
  *changes(): Generator<Document> {
    for (const { document } of this.indexes.slice(1)) yield { index: document };
    for (const { document } of [...this.#byId.values()]) yield { put: document };
  }

  entries(): IterableIterator<Entry> {
    return this.#byId.values();
  }

  /**
   * The first matching entries in an order, or else in natural order; equal ones are in any order.
   * @throws {ReplyError} as {@link sortDocuments}
   */
  find(filter: Filter, order = unordered, limit = Number.POSITIVE_INFINITY): Entry[] {
    const byId = this.#findById(filter);
    const scan = byId === null ? smallest(this.#scans(filter, order)) : undefined;
    const isSorted = order.paths.length > 0 && scan?.isSorted === true;
    const found: Entry[] = [];
    for (const entry of byId ?? scan?.entries() ?? this.entries()) {
      if (isSorted && found.length >= limit) return found;
      if (filter.matches(entry.document)) found.push(entry);
    }
    if (isSorted) return found;
    found.sort((a, b) => a.record - b.record);
    return sortDocuments(found, ({ document }) => document, order).slice(0, limit);
  }

  count(filter: Filter): number {
    const exact = this.#scans(filter, unordered).find(({ isExact }) => isExact);
    return exact?.size ?? this.find(filter).length;
  }

  /** @throws {ReplyError} 11000 for a duplicate key; as {@link checkSize} and the log */
  insert(given: Document): Document {
    const document = { _id: getField(given, '_id') ?? new ObjectId(), ...given };
    checkSize(document);
    this.#checkUnique(document);
    this.#append({ put: document });
    const entry = this.#newEntry(document);
    this.#byId.set(idKey(document), entry);
    for (const index of this.#indexes) index.add(entry);
    return document;
  }

  /**
   * Replaces the document of an entry.
   * @returns whether the document changed
   * @throws {ReplyError} as {@link insert}
   */
  replace(entry: Entry, document: Document): boolean {
    checkSize(document);
    const before = entry.document;
    if (Buffer.compare(encode(before), encode(document)) === 0) return false;
    this.#checkUnique(document, entry);
    this.#append({ put: document });
    const moving = this.#indexes.filter((index) => !index.hasSameKey(before, document));
    for (const index of moving) index.remove(entry);
    entry.document = document;
    for (const index of moving) index.add(entry);
    return true;
  }

  /** @throws as the log */
  remove(entry: Entry): void {
    this.#append({ remove: getField(entry.document, '_id') ?? null });
    for (const index of this.#indexes) index.remove(entry);
    this.#byId.delete(idKey(entry.document));
  }

  /** @throws {ReplyError} 11000 when existing documents have duplicate keys; as the log */
  addIndex(specification: IndexSpecification): void {
    const index = new Index(specification, this.entries());
    const value = index.duplicate();
    if (value !== undefined) throw this.#duplicate(specification, value);
    this.#append({ index: specification.document });
    this.#indexes.push(index);
  }

  #newEntry(document: Document): Entry {
    this.#nextRecord += 1;
    return { record: this.#nextRecord, document };
  }

  #scans(filter: Filter, order: SortOrder): Scan[] {
    return this.#indexes.flatMap((index) => index.scan(filter, order) ?? []);
  }

  #findById({ requirements }: Filter): Entry[] | null {
    const required = requirements.find(({ path }) => path.length === 1 && path[0] === '_id');
    if (required === undefined) return null;
    return required.values.flatMap((value) => this.#byId.get(equalityKey(value)) ?? []);
  }

  #checkUnique(document: Document, self?: Entry): void {
    for (const index of this.#indexes) {
      const value = index.conflict(document, self);
      if (value !== undefined) throw this.#duplicate(index.specification, value);
    }
  }

  #duplicate({ name, key, path }: IndexSpecification, value: Scalar): ReplyError {
    const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
    return new ReplyError(
      11000,
      `E11000 duplicate key error collection: ${this.namespace} index: ${name} dup key: { ${path.join('.')}: ${text} }`,
      { keyPattern: key, keyValue: { [path.join('.')]: value } },
    );
  }
}

/** The collections of a store. */
export class Catalog {
  readonly log: Log;
  readonly #collections = new Map<string, Collection>();

  /** @throws as Log */
  constructor(file: string) {
    this.log = new Log(
      file,
      (change) => this.getOrCreate(String(change['in'])).restore(change),
      () => this.#changes(),
    );
    for (const collection of this.list()) collection.buildIndexes();
  }

  get(namespace: string): Collection | undefined {
    return this.#collections.get(namespace);
  }

  getOrCreate(namespace: string): Collection {
    const known = this.#collections.get(namespace);
    if (known !== undefined) return known;
    const append = (change: Document) => this.log.append({ in: namespace, ...change });
    const collection = new Collection(namespace, append);
    this.#collections.set(namespace, collection);
    return collection;
  }

  list(): Collection[] {
    return [...this.#collections.values()];
  }

  *#changes(): Generator<Document> {
    for (const collection of this.list()) {
      for (const change of collection.changes()) yield { in: collection.namespace, ...change };
    }
  }
}

function idKey(document: Document): string {
  return equalityKey(getField(document, '_id') ?? null);
}

/** The scan with the fewest entries; of several, one in the requested order. */
function smallest(scans: Scan[]): Scan | undefined {
  const [first] = scans.sort((a, b) => a.size - b.size || Number(b.isSorted) - Number(a.isSorted));
  return first;
}

/** @throws {ReplyError} 10334 for an oversized document */
function checkSize(document: Document): void {
  const bytes = calculateObjectSize(document);
  if (bytes <= maxDocumentBytes) return;
  const text = `the document is too large: ${bytes} bytes, max size: ${maxDocumentBytes}`;
  throw new ReplyError(10334, text);
}
