import type { Collection, Db, Document } from 'mongodb';
import { pagesOf } from '../pages.ts';
import { updateTogether } from '../updates.ts';
import type { StoreIds } from './store-ids.ts';

/** The version of a document that two stores had in common, as one of them remembers it. */
export interface CommonVersion {
  /** The other store, the collection and the document. */
  readonly _id: string;
  /** The `_id` of the document. */
  readonly of: unknown;
  readonly digest: string;
  /** Of the copy of this document; later ones have a higher one, whatever their direction. */
  readonly number: number;
}

const name = 'copies';
/**
 * Timeout of a page, in ms. It is long, because no request waits for a copy. It bounds a slow transfer: the client
 * itself fails earlier when no bytes arrive (client.ts).
 */
export const pageWithinMs = 60_000;

/**
 * The last versions of the documents of a collection that two stores had in common. A document that has another
 * digest now has been changed in its store since. The target of a copy remembers them, because its user may only
 * read the source.
 */
export class CommonVersions {
  readonly #target: Db;
  readonly #inTarget: Collection<CommonVersion>;
  readonly #inSource: Collection<CommonVersion>;
  /** The beginnings of the ids in the target and in the source. */
  readonly #prefixes: readonly [string, string];

  constructor(from: Db, to: Db, collection: string, stores: StoreIds) {
    this.#target = to;
    [this.#inTarget, this.#inSource] = [to.collection(name), from.collection(name)];
    this.#prefixes = [`${stores.from}/${collection}/`, `${stores.to}/${collection}/`];
  }

  /** By the text of the document's id. */
  async of(documents: readonly Document[]): Promise<ReadonlyMap<string, CommonVersion>> {
    const latest = new Map<string, CommonVersion>();
    if (documents.length === 0) return latest;
    for (const [index, collection] of [this.#inTarget, this.#inSource].entries()) {
      const ids = documents.map(({ _id }) => `${this.#prefixes[index]}${_id}`);
      for (const version of await collection.find({ _id: { $in: ids } }).toArray()) {
        const id = String(version.of);
        if (version.number > (latest.get(id)?.number ?? 0)) latest.set(id, version);
      }
    }
    return latest;
  }

  /**
   * @param documents each with the digest of the version that is common now, if that has changed
   * @param before the versions that were common until now
   */
  async set(
    documents: readonly { readonly document: Document; readonly common?: string }[],
    before: ReadonlyMap<string, CommonVersion>,
  ): Promise<void> {
    const updates = documents.flatMap(({ document: { _id: of }, common: digest }) => {
      const last = before.get(String(of));
      if (digest === undefined || digest === last?.digest) return [];
      const set = { of, digest, number: (last?.number ?? 0) + 1 };
      return [{ q: { _id: `${this.#prefixes[0]}${of}` }, u: { $set: set }, upsert: true }];
    });
    if (updates.length > 0) await updateTogether(this.#target, name, updates);
  }

  /** Forgets what neither collection has any more. */
  async forget(source: Collection, target: Collection): Promise<void> {
    const [prefix] = this.#prefixes;
    // In ASCII 0 follows the slash.
    const filter = { _id: { $gte: prefix, $lt: `${prefix.slice(0, -1)}0` } };
    for await (const page of pagesOf(this.#inTarget, { filter, withinMs: pageWithinMs })) {
      const among = { _id: { $in: page.map(({ of }) => of) } } as Document;
      const projection = { _id: 1 };
      const kept = await Promise.all(
        [source, target].map((one) => one.find(among, { projection }).toArray()),
      );
      const ids = new Set(kept.flat().map(({ _id }) => String(_id)));
      const gone = page.filter(({ of }) => !ids.has(String(of))).map(({ _id }) => String(_id));
      if (gone.length > 0) await this.#inTarget.deleteMany({ _id: { $in: gone } });
    }
  }
}
