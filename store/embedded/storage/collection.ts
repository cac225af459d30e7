import { Int32, ObjectId } from 'bson';
import { equalityKey } from '../bson/compare.ts';
import {
  type Document,
  decode,
  encode,
  getField,
  isArray,
  isDocument,
  type Value,
} from '../bson/value.ts';
import { ReplyError } from '../errors.ts';
import type { Filter } from '../query/filter.ts';
import { type SortOrder, sortDocuments } from '../query/sort.ts';
import { maxDocumentBytes } from '../supported.ts';
import { type Entry, Index, type IndexSpecification, idSpecification, type Scan } from './index.ts';
import type { Log } from './log.ts';
import type { Change } from './log-file.ts';

/**
 * Keeps all documents in memory and adds all changes to the log. Every method is synchronous, which
 * isolates commands from each other.
 */
export class Collection {
  /** Its number in the log. */
  readonly number: number;
  /** `database.collection` */
  readonly namespace: string;
  readonly #log: Log;
  readonly #indexes = new Map<string, Index>();
  #byId = new Map<string, Entry>();
  /** Null until the first query that needs this order: few collections do. */
  #idOrder: Index | null = null;
  #nextRecord = 1;

  constructor(number: number, namespace: string, log: Log) {
    this.number = number;
    this.namespace = namespace;
    this.#log = log;
  }

  get indexes(): readonly Index[] {
    return [...this.#indexes.values()];
  }

  /** Adds a document read from disk. */
  restore(record: number, document: Document): void {
    this.#add({ record, document });
    this.#nextRecord = Math.max(this.#nextRecord, record + 1);
  }

  /** All documents as changes, for a snapshot. Other changes can be made, and undone, meanwhile. */
  *changes(): Generator<Change> {
    for (const { record, document } of [...this.#byId.values()]) {
      yield { collection: this.number, record, bytes: encode(document) };
    }
  }

  entries(): IterableIterator<Entry> {
    return this.#byId.values();
  }

  /** The matching entries, in natural order. */
  find(filter: Filter): Entry[] {
    const matches = ({ document }: Entry) => filter.matches(document);
    const found = this.#findById(filter);
    if (found !== null) return inNaturalOrder(found.filter(matches));
    const scan = this.#smallestScan(filter);
    if (scan === null) return [...this.#byId.values()].filter(matches);
    return inNaturalOrder([...scan.index.entries(scan)].filter(matches));
  }

  /**
   * The first matching entries in an order; equal ones are in any order.
   * @throws {ReplyError} as {@link sortDocuments}
   */
  findSorted(filter: Filter, order: SortOrder, limit: number): Entry[] {
    const scan = this.#findById(filter) === null ? this.#orderedScan(filter, order) : null;
    if (scan === null) {
      return sortDocuments(this.find(filter), ({ document }) => document, order).slice(0, limit);
    }
    const found: Entry[] = [];
    for (const entry of scan.index.entries(scan)) {
      if (found.length >= limit) break;
      if (filter.matches(entry.document)) found.push(entry);
    }
    return found;
  }

  count(filter: Filter): number {
    const exact = this.#scans(filter).find((scan) => scan.exact);
    return exact?.size ?? this.find(filter).length;
  }

  /** @throws {ReplyError} 11000 for a duplicate key; as {@link toStorable} */
  insert(given: Document): Document {
    const _id = getField(given, '_id') ?? new ObjectId();
    const { document, bytes } = toStorable({ _id, ...given });
    this.#checkUnique(document);
    const entry: Entry = { record: this.#nextRecord, document };
    this.#nextRecord += 1;
    this.#add(entry);
    this.#log.add({ collection: this.number, record: entry.record, bytes }, () =>
      this.#delete(entry),
    );
    return document;
  }

  /**
   * Replaces the document of an entry.
   * @returns whether the document changed
   * @throws {ReplyError} as {@link insert}
   */
  replace(entry: Entry, given: Document): boolean {
    const { document, bytes } = toStorable(given);
    const before = entry.document;
    if (Buffer.compare(encode(before), bytes) === 0) return false;
    this.#checkUnique(document, entry);
    const change = (from: Document, to: Document) => {
      entry.document = to;
      for (const index of this.#indexes.values()) index.move(entry, from);
    };
    change(before, document);
    this.#log.add({ collection: this.number, record: entry.record, bytes }, () =>
      change(document, before),
    );
    return true;
  }

  remove(entry: Entry): void {
    this.#delete(entry);
    this.#log.add({ collection: this.number, record: entry.record, bytes: null }, () => {
      this.#add(entry);
      const inOrder = [...this.#byId].sort(([, a], [, b]) => a.record - b.record);
      this.#byId = new Map(inOrder);
    });
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
  }

  removeIndex(index: Index): void {
    this.#indexes.delete(index.specification.name);
  }

  /** Returns a scan in result order, unless another index selects fewer entries. */
  #orderedScan(filter: Filter, order: SortOrder): Scan | null {
    if (order.paths.length === 0) return null;
    const byId = isIdOrder(order) ? this.#orderById().scan(filter, true) : null;
    const scans = [...this.#scans(filter), ...(byId === null ? [] : [byId])];
    const least = Math.min(...scans.map(({ size }) => size));
    return scans.find((scan) => scan.size <= least && scan.index.sorts(scan, order)) ?? null;
  }

  #smallestScan(filter: Filter): Scan | null {
    let smallest: Scan | null = null;
    for (const scan of this.#scans(filter)) {
      if (smallest === null || scan.size < smallest.size) smallest = scan;
    }
    return smallest;
  }

  #scans(filter: Filter): Scan[] {
    return [...this.#indexes.values()].flatMap((index) => index.scan(filter) ?? []);
  }

  #orderById(): Index {
    if (this.#idOrder === null) {
      this.#idOrder = new Index(idSpecification);
      this.#idOrder.fill(this.#byId.values());
    }
    return this.#idOrder;
  }

  #findById({ requirements }: Filter): Entry[] | null {
    const required = requirements.find(({ path }) => path.length === 1 && path[0] === '_id');
    if (required === undefined) return null;
    return required.values.flatMap((value) => this.#byId.get(equalityKey(value)) ?? []);
  }

  #add(entry: Entry): void {
    this.#byId.set(idKey(entry.document), entry);
    for (const index of this.#indexes.values()) index.add(entry);
    this.#idOrder?.add(entry);
  }

  #delete(entry: Entry): void {
    for (const index of this.#indexes.values()) index.remove(entry);
    this.#idOrder?.remove(entry);
    this.#byId.delete(idKey(entry.document));
  }

  #checkUnique(document: Document, self?: Entry): void {
    const _id = getField(document, '_id') ?? null;
    const owner = this.#byId.get(equalityKey(_id));
    if (owner !== undefined && owner !== self) {
      throw this.#duplicate('_id_', { _id: new Int32(1) }, _id);
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

const isIdOrder = ({ paths: [path], directions: [direction] }: SortOrder): boolean =>
  path?.length === 1 && path[0] === '_id' && direction === 1;

function idKey(document: Document): string {
  return equalityKey(getField(document, '_id') ?? null);
}

function inNaturalOrder(entries: Entry[]): Entry[] {
  return [...new Set(entries)].sort((a, b) => a.record - b.record);
}

const maxDocumentDepth = 100;

export interface StorableDocument {
  readonly document: Document;
  readonly bytes: Uint8Array;
}

/**
 * Validates a document before storing it. The result shares no memory with the request message and
 * equals the document after a restart.
 * @throws {ReplyError} 10334 for an oversized document, 15 for excessive nesting, 52 for a field
 *   name with a leading `$`, 2 for an array as `_id`.
 */
export function toStorable(document: Document): StorableDocument {
  checkStorable(document, 1);
  const identity = document['_id'];
  if (isArray(identity)) throw new ReplyError(2, "can't use an array for _id");
  const bytes = encode(document);
  if (bytes.length > maxDocumentBytes) {
    throw new ReplyError(
      10334,
      `the document is too large: ${bytes.length} bytes, max size: ${maxDocumentBytes}`,
    );
  }
  return { document: decode(bytes), bytes };
}

function checkStorable(value: Value, depth: number): void {
  if (depth > maxDocumentDepth) {
    throw new ReplyError(15, `nested deeper than ${maxDocumentDepth} levels`);
  }
  if (isArray(value)) {
    for (const element of value) checkStorable(element, depth + 1);
  } else if (isDocument(value)) {
    for (const [field, inner] of Object.entries(value)) {
      if (field.startsWith('$')) {
        throw new ReplyError(52, `the field name '${field}' must not begin with '$'`);
      }
      if (typeof inner === 'object' && inner !== null) checkStorable(inner, depth + 1);
    }
  }
}
