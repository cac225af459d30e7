import type { Catalog } from '../storage/catalog.ts';
import type { Collection } from '../storage/collection.ts';
import type { Cursors } from './cursors.ts';

/** The state that commands use. */
export interface Store {
  readonly catalog: Catalog;
  readonly cursors: Cursors;
}

/** One command from one client. */
export class Call {
  readonly store: Store;
  readonly database: string;
  readonly connection: number;
  readonly #touched = new Set<Collection>();

  constructor(store: Store, database: string, connection: number) {
    this.store = store;
    this.database = database;
    this.connection = connection;
  }

  namespace(collection: string): string {
    return `${this.database}.${collection}`;
  }

  collection(name: string): Collection | undefined {
    const collection = this.store.catalog.get(this.namespace(name));
    if (collection !== undefined) this.#touched.add(collection);
    return collection;
  }

  createCollection(name: string): Collection {
    const collection = this.store.catalog.getOrCreate(this.namespace(name));
    this.#touched.add(collection);
    return collection;
  }

  /** The last journal batch that the reply depends on, which must be on disk before it is sent. */
  get requiredBatch(): number {
    let last = this.store.catalog.changed;
    for (const { changed } of this.#touched) last = Math.max(last, changed);
    return last;
  }
}
