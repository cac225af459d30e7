import type { Catalog } from '../storage/catalog.ts';
import type { Collection } from '../storage/collection.ts';
import type { Cursors } from './cursors.ts';

export interface ServerState {
  readonly catalog: Catalog;
  readonly cursors: Cursors;
}

/** One command from one client. */
export class Call {
  readonly state: ServerState;
  readonly database: string;
  readonly connection: number;
  readonly #touched = new Set<Collection>();

  constructor(state: ServerState, database: string, connection: number) {
    this.state = state;
    this.database = database;
    this.connection = connection;
  }

  namespace(collection: string): string {
    return `${this.database}.${collection}`;
  }

  collection(name: string): Collection | undefined {
    const collection = this.state.catalog.get(this.namespace(name));
    if (collection !== undefined) this.#touched.add(collection);
    return collection;
  }

  createCollection(name: string): Collection {
    const collection = this.state.catalog.getOrCreate(this.namespace(name));
    this.#touched.add(collection);
    return collection;
  }

  /** The last journal batch that must be on disk before the server sends the reply. */
  get requiredBatch(): number {
    let last = this.state.catalog.changed;
    for (const { changed } of this.#touched) last = Math.max(last, changed);
    return last;
  }
}
