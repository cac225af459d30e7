import type { Collection, Document, Filter } from 'mongodb';
import { withTimeout } from './outage.ts';

interface PageOptions {
  /** Applied in addition to the id bounds. */
  readonly filter?: Document;
  /** The first page starts after this id; null for the first documents. */
  readonly after?: unknown;
  readonly limit?: number;
  /** Timeout in ms; defaults to a request's timeout. */
  readonly withinMs?: number;
  /** Fields to return; all by default. */
  readonly projection?: Readonly<Record<string, 1>> | undefined;
}

/**
 * Yields documents in pages, sorted by id, which every collection indexes. Documents added or removed
 * between two pages do not move other documents.
 * @throws StoreUnavailable
 */
export async function* readPages<T extends Document>(
  collection: Collection<T>,
  { filter = {}, after = null, limit = 200, withinMs, projection }: PageOptions = {},
): AsyncGenerator<T[]> {
  for (let last = after; ; ) {
    const bounds = last === null ? {} : { _id: { ...filter['_id'], $gt: last } };
    const found = collection
      .find({ ...filter, ...bounds } as unknown as Filter<T>, projection && { projection })
      .sort({ _id: 1 })
      .limit(limit);
    const page = (await withTimeout(found.toArray(), withinMs)) as T[];
    if (page.length > 0) yield page;
    if (page.length < limit) return;
    last = page.at(-1)?.['_id'];
  }
}

export async function byCreation<T extends Document & { readonly createdAt: Date }>(
  pages: AsyncIterable<readonly T[]>,
): Promise<T[]> {
  const all: T[] = [];
  for await (const page of pages) all.push(...page);
  // The sort is stable and pages arrive in id order.
  return all.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
}
