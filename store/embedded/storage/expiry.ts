import type { Value } from '../bson/value.ts';
import { ReplyError } from '../errors.ts';
import { someValueAt } from '../query/path.ts';
import type { Catalog } from './catalog.ts';
import type { Collection } from './collection.ts';
import type { Entry } from './index.ts';
import type { IndexSpecification } from './index-specification.ts';

const msPerSecond = 1000;

/**
 * Removes documents that have expired under a TTL index. A later sweep removes documents left
 * behind by a full disk or a failed write.
 */
export function sweepExpired(catalog: Catalog, now: number): void {
  for (const collection of catalog.list()) {
    try {
      for (const { specification } of collection.indexes) {
        for (const entry of expired(collection, specification, now)) collection.remove(entry);
      }
    } catch (error) {
      if (!(error instanceof ReplyError)) throw error;
    }
  }
  void catalog.log.durable().catch(() => {});
}

function expired(collection: Collection, index: IndexSpecification, now: number): Entry[] {
  const { expireAfterSeconds, path } = index;
  if (expireAfterSeconds === null) return [];
  const latest = now - expireAfterSeconds * msPerSecond;
  const isDue = (value: Value) => value instanceof Date && value.getTime() <= latest;
  // For an array of dates the earliest applies; other values never expire.
  return [...collection.entries()].filter(({ document }) => someValueAt(document, path, isDue));
}
