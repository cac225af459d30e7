import type { Document } from 'mongodb';
import { isStoreId, type StoreIds } from './store-ids.ts';

/** What a store adds to a document that both stores write. */
export interface Share {
  /** Set in a new document only. */
  readonly fields: Document;
  /** By the path of the field. The target takes those that are larger than its own. */
  readonly numbers: Readonly<Record<string, number>>;
}

/**
 * What a store knows of a day that the target has not counted itself. The writers of the store are one sum, because
 * they end; the sums of other stores, from earlier copies, are as they are. None of them ever decreases, so the
 * larger one is the newer one, and every count is in the target once, whatever the order of copies.
 */
export function usageShareOf({ project, day, by }: Document, { from, to }: StoreIds): Share {
  const numbers: Record<string, number> = {};
  for (const [writer, counts] of Object.entries<Record<string, number>>(by)) {
    if (writer === to) continue;
    const store = isStoreId(writer) ? writer : from;
    for (const [name, count] of Object.entries(counts)) {
      const path = `by.${store}.${name}`;
      numbers[path] = (numbers[path] ?? 0) + count;
    }
  }
  return { fields: { project, day }, numbers };
}
