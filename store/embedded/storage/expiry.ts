import type { Value } from '../bson/value.ts';
import { reachesAny } from '../query/path.ts';
import type { Catalog } from './catalog.ts';
import type { Collection } from './collection.ts';
import type { Entry } from './index.ts';
import type { IndexSpecification } from './index-specification.ts';

const MS_PER_SECOND = 1000;

/**
 * Removes the documents whose time is over by a TTL index. A failed write needs no care here: the
 * documents are back then, and the next sweep finds them again.
 */
export function sweepExpired(catalog: Catalog, now: number): void {
  for (const collection of catalog.list()) {
    for (const { specification } of collection.indexes) {
      for (const entry of expired(collection, specification, now)) collection.remove(entry);
    }
    void catalog.journal.durable(collection.changed).catch(() => {});
  }
}

function expired(collection: Collection, index: IndexSpecification, now: number): Entry[] {
  const { expireAfterSeconds, path } = index;
  if (expireAfterSeconds === null) return [];
  const latest = now - expireAfterSeconds * MS_PER_SECOND;
  const isDue = (value: Value) => value instanceof Date && value.getTime() <= latest;
  // Of an array of dates the earliest counts; what is no date never expires.
  return [...collection.entries()].filter(({ document }) => reachesAny(document, path, isDue));
}
