import type { CommandArguments } from '../arguments.ts';
import { equalityKey } from '../bson/compare.ts';
import { ReplyError } from '../errors.ts';
import type { Collection } from '../storage/collection.ts';
import {
  type IndexSpecification,
  parseIndexSpecification,
} from '../storage/index-specification.ts';
import type { CommandReply } from '../wire/message.ts';
import type { Call } from './call.ts';

export function createIndexes(
  call: Call,
  { createIndexes: name, indexes: index }: CommandArguments<'createIndexes'>,
): CommandReply {
  const specification = parseIndexSpecification(index);
  const createdCollectionAutomatically = call.collection(name) === undefined;
  const collection = call.createCollection(name);
  // `indexes` does not include the index on _id.
  const numIndexesBefore = collection.indexes.length + 1;
  if (!exists(collection, specification)) call.state.catalog.addIndex(collection, specification);
  const numIndexesAfter = collection.indexes.length + 1;
  return { numIndexesBefore, numIndexesAfter, createdCollectionAutomatically };
}

/** @throws {ReplyError} 86 when its name belongs to a different index, 85 when its key does. */
function exists(collection: Collection, index: IndexSpecification): boolean {
  for (const { specification: other } of collection.indexes) {
    const sameKey = equalityKey(other.key) === equalityKey(index.key);
    const sameOptions =
      other.unique === index.unique &&
      other.sparse === index.sparse &&
      other.expireAfterSeconds === index.expireAfterSeconds;
    if (other.name === index.name) {
      if (sameKey && sameOptions) return true;
      throw new ReplyError(86, `An index with other properties has the name ${other.name}`);
    }
    if (sameKey) throw new ReplyError(85, `The index ${other.name} has the same key`);
  }
  return false;
}
