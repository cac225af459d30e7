import type { Document } from '../bson/value.ts';
import { Collection } from './collection.ts';
import { Log } from './log.ts';

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
