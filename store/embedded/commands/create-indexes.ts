import type { ArgumentsOf } from '../arguments.ts';
import { equalityKey } from '../bson/compare.ts';
import { ReplyError } from '../errors.ts';
import type { Collection } from '../storage/collection.ts';
import {
  type IndexSpecification,
  parseIndexSpecification,
} from '../storage/index-specification.ts';
import type { commandShapes } from '../supported.ts';
import type { Reply } from '../wire/message.ts';
import type { Call } from './call.ts';

export function createIndexes(
  call: Call,
  { createIndexes: name, indexes: index }: ArgumentsOf<typeof commandShapes.createIndexes>,
): Reply {
  const specification = parseIndexSpecification(index);
  const createdCollectionAutomatically = call.collection(name) === undefined;
  const collection = call.createCollection(name);
  // `indexes` does not include the index on _id.
  const numIndexesBefore = collection.indexes.length + 1;
  if (!exists(collection, specification)) call.store.catalog.addIndex(collection, specification);
  const numIndexesAfter = collection.indexes.length + 1;
  return { numIndexesBefore, numIndexesAfter, createdCollectionAutomatically };
}

/**
 * Whether the same index exists.
 * @throws {ReplyError} 86 when its name belongs to a different index, 85 when its key does.
 */
function exists(collection: Collection, wanted: IndexSpecification): boolean {
  for (const { specification: known } of collection.indexes) {
    const sameKey = equalityKey(known.key) === equalityKey(wanted.key);
    const sameOptions =
      known.unique === wanted.unique &&
      known.sparse === wanted.sparse &&
      known.expireAfterSeconds === wanted.expireAfterSeconds;
    if (known.name === wanted.name) {
      if (sameKey && sameOptions) return true;
      throw new ReplyError(86, `An index with other properties has the name ${known.name}`);
    }
    if (sameKey) throw new ReplyError(85, `The index ${known.name} has the same key`);
  }
  return false;
}
