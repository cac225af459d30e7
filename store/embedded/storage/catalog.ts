import { Int32 } from 'bson';
import { type Document, decode, encode, isArray, isDocument } from '../bson/value.ts';
import { Collection } from './collection.ts';
import type { Index } from './index.ts';
import { type IndexSpecification, parseIndexSpecification } from './index-specification.ts';
import { Journal } from './journal.ts';

/** The catalog's own collection number, and its format version record. */
const catalogNumber = 0;
const formatRecord = 0;
const formatVersion = 1;

export class Catalog {
  readonly journal: Journal;
  #collections = new Map<string, Collection>();
  #nextNumber = 1;

  /** @param onReload runs after memory was reloaded from disk because a commit failed */
  constructor(file: string, onReload: () => void = () => {}) {
    this.journal = new Journal(file, () => {
      this.#load();
      onReload();
    });
    this.#load();
  }

  get(namespace: string): Collection | undefined {
    return this.#collections.get(namespace);
  }

  getOrCreate(namespace: string): Collection {
    const known = this.#collections.get(namespace);
    if (known !== undefined) return known;
    const collection = new Collection(this.#nextNumber, namespace, this.journal);
    this.#save(collection, []);
    this.#nextNumber += 1;
    this.#collections.set(namespace, collection);
    return collection;
  }

  list(): Collection[] {
    return [...this.#collections.values()];
  }

  addIndex(collection: Collection, specification: IndexSpecification): void {
    const index = collection.buildIndex(specification);
    this.#save(collection, [...collection.indexes, index]);
    collection.addIndex(index);
  }

  #save({ namespace, number }: Collection, indexes: readonly Index[]): void {
    const record: Document = {
      namespace,
      indexes: indexes.map(({ specification }) => specification.document),
    };
    this.journal.put([catalogNumber, number], encode(record));
  }

  #load(): void {
    this.#collections = new Map();
    let format: Document | undefined;
    for (const { record, bytes } of this.journal.read(catalogNumber)) {
      if (record === formatRecord) format = decode(bytes);
      else this.#restore(record, decode(bytes));
    }
    if (format === undefined) {
      this.journal.put([catalogNumber, formatRecord], encode({ format: new Int32(formatVersion) }));
      this.journal.commit();
    } else if (String(format['format']) !== String(formatVersion)) {
      throw new Error(`the embedded store has an unknown format: ${String(format['format'])}`);
    }
  }

  #restore(number: number, { namespace, indexes }: Document): void {
    if (typeof namespace !== 'string' || !isArray(indexes)) {
      throw new Error(`the embedded store's catalog record ${number} is malformed`);
    }
    const collection = new Collection(number, namespace, this.journal);
    for (const { record, bytes } of this.journal.read(number)) {
      collection.restore(record, decode(bytes));
    }
    for (const index of indexes) {
      if (!isDocument(index)) continue;
      collection.addIndex(collection.buildIndex(parseIndexSpecification(index)));
    }
    this.#collections.set(namespace, collection);
    this.#nextNumber = Math.max(this.#nextNumber, number + 1);
  }
}
