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

  constructor(state: ServerState, database: string, connection: number) {
    this.state = state;
    this.database = database;
    this.connection = connection;
  }

  namespace(collection: string): string {
    return `${this.database}.${collection}`;
  }

  collection(name: string): Collection | undefined {
    return this.state.catalog.get(this.namespace(name));
  }

  createCollection(name: string): Collection {
    return this.state.catalog.getOrCreate(this.namespace(name));
  }
}
