import { type Document, decode, encode, isArray, isDocument } from '../bson/value.ts';
import { Collection } from './collection.ts';
import { type Index, type IndexSpecification, parseIndexSpecification } from './index.ts';
import { Log } from './log.ts';
import { type Change, catalogNumber } from './log-file.ts';

/** The collections of a store. Their names and indexes are records of the log, too. */
export class Catalog {
  readonly log: Log;
  readonly #collections = new Map<string, Collection>();
  #nextNumber = 1;

  /** @throws as Log */
  constructor(file: string) {
    // Only the last version of each record is decoded.
    const stored = new Map<number, Map<number, Uint8Array>>();
    this.log = new Log(
      file,
      ({ collection, record, bytes }) => {
        const records = stored.get(collection) ?? new Map<number, Uint8Array>();
        stored.set(collection, records);
        if (bytes === null) records.delete(record);
        else records.set(record, bytes);
      },
      () => this.#changes(),
    );
    for (const [number, bytes] of stored.get(catalogNumber) ?? []) {
      this.#restore(number, decode(bytes), stored.get(number) ?? new Map());
    }
  }

  get(namespace: string): Collection | undefined {
    return this.#collections.get(namespace);
  }

  getOrCreate(namespace: string): Collection {
    const known = this.#collections.get(namespace);
    if (known !== undefined) return known;
    const collection = new Collection(this.#nextNumber, namespace, this.log);
    this.#nextNumber += 1;
    this.#collections.set(namespace, collection);
    this.log.add(toChange(collection), () => this.#collections.delete(namespace));
    return collection;
  }

  list(): Collection[] {
    return [...this.#collections.values()];
  }

  addIndex(collection: Collection, specification: IndexSpecification): void {
    const index = collection.buildIndex(specification);
    collection.addIndex(index);
    this.log.add(toChange(collection), () => collection.removeIndex(index));
  }

  *#changes(): Generator<Change> {
    for (const collection of this.#collections.values()) {
      yield toChange(collection);
      yield* collection.changes();
    }
  }

  #restore(
    number: number,
    { namespace, indexes }: Document,
    records: ReadonlyMap<number, Uint8Array>,
  ): void {
    if (typeof namespace !== 'string' || !isArray(indexes)) {
      throw new Error(`the embedded store's catalog record ${number} is malformed`);
    }
    const collection = new Collection(number, namespace, this.log);
    for (const [record, bytes] of [...records].sort(([a], [b]) => a - b)) {
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

function toChange({ number, namespace, indexes }: Collection): Change {
  const specifications = (indexes as readonly Index[]).map(
    ({ specification }) => specification.document,
  );
  const bytes = encode({ namespace, indexes: specifications });
  return { collection: catalogNumber, record: number, bytes };
}
