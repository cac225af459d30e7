import type { Collection, Document, Filter } from 'mongodb';
import { withTimeout } from './deadline.ts';

interface Page {
  /** Applied in addition to the id bounds. */
  readonly filter?: Document;
  /** The page starts after this id; null for the first page. */
  readonly after: unknown;
  readonly limit: number;
  /** Timeout in ms; defaults to a request's timeout. */
  readonly withinMs?: number;
  /** Fields to return; all by default. */
  readonly projection?: Readonly<Record<string, 1>> | undefined;
}

/**
 * Returns documents sorted by id, which every collection indexes. Documents added or removed
 * between two pages do not move other documents.
 * @throws StoreUnavailable
 */
async function findPage<T extends Document>(
  collection: Collection<T>,
  { filter = {}, after, limit, withinMs, projection }: Page,
): Promise<T[]> {
  const bounds = after === null ? {} : { _id: { ...filter['_id'], $gt: after } };
  const found = collection
    .find({ ...filter, ...bounds } as unknown as Filter<T>, projection && { projection })
    .sort({ _id: 1 })
    .limit(limit);
  return (await withTimeout(found.toArray(), withinMs)) as T[];
}

const pageSize = 200;

/** All documents that match a filter, in pages; those after an id, if there is one. */
export async function* readPages<T extends Document>(
  collection: Collection<T>,
  options: Partial<Page> = {},
): AsyncGenerator<T[]> {
  let { after = null } = options;
  const { limit = pageSize } = options;
  for (;;) {
    const page = await findPage(collection, { ...options, after, limit });
    if (page.length > 0) yield page;
    if (page.length < limit) return;
    after = page.at(-1)?.['_id'];
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
