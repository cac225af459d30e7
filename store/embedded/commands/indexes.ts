import { Int32 } from 'bson';
import { equalityKey } from '../bson/key.ts';
import { type Document, isArray, isDocument, type Value } from '../bson/value.ts';
import { CommandError, notSupported } from '../errors.ts';
import type { Collection } from '../storage/collection.ts';
import {
  type IndexSpecification,
  parseIndexSpecification,
} from '../storage/index-specification.ts';
import { Arguments } from './arguments.ts';
import type { Call, Reply } from './call.ts';

const ID_KEY: Document = { _id: new Int32(1) };
export const ID_INDEX: Document = { v: new Int32(2), key: ID_KEY, name: '_id_' };

export function createIndexes(call: Call): Reply {
  const namespace = call.namespace();
  const specifications = call.given.documents('indexes').map(parseIndexSpecification);
  call.given.ignore('commitQuorum');
  call.given.end();
  if (specifications.length === 0) throw new CommandError(2, 'Must specify at least one index');
  const createdCollectionAutomatically = call.collection(namespace) === undefined;
  const collection = call.createCollection(namespace);
  const numIndexesBefore = collection.indexes.length + 1;
  const added: string[] = [];
  try {
    for (const specification of specifications) {
      if (exists(collection, specification)) continue;
      call.store.catalog.addIndex(collection, specification);
      added.push(specification.name);
    }
  } catch (error) {
    // All of them or none.
    for (const name of added) call.store.catalog.dropIndex(collection, name);
    throw error;
  }
  const numIndexesAfter = collection.indexes.length + 1;
  return { numIndexesBefore, numIndexesAfter, createdCollectionAutomatically };
}

/**
 * Whether there is this very index.
 * @throws {CommandError} 86 when its name stands for another one, 85 when it has another name or
 *   differs only in when it expires documents.
 */
function exists(collection: Collection, wanted: IndexSpecification): boolean {
  if (equalityKey(wanted.key) === equalityKey(ID_KEY)) {
    if (wanted.partial !== null) throw new CommandError(67, '_id index cannot be a partial index');
    return true;
  }
  if (wanted.name === '_id_') throw new CommandError(67, 'the name _id_ is that of the _id index');
  for (const { specification: known } of collection.indexes) {
    if (known.name === wanted.name && !sameSignature(known, wanted)) {
      throw new CommandError(
        86,
        `An existing index has the same name as the requested index: ${known.name}`,
      );
    }
  }
  for (const { specification: known } of collection.indexes) {
    if (!sameSignature(known, wanted)) continue;
    if (known.name !== wanted.name) {
      throw new CommandError(85, `Index already exists with a different name: ${known.name}`);
    }
    if (known.expireAfterSeconds === wanted.expireAfterSeconds) return true;
    throw new CommandError(
      85,
      `An equivalent index already exists with the same name but different options: ${known.name}`,
    );
  }
  return false;
}

function sameSignature(a: IndexSpecification, b: IndexSpecification): boolean {
  return (
    equalityKey(a.key) === equalityKey(b.key) &&
    a.unique === b.unique &&
    equalityKey(a.partial?.document) === equalityKey(b.partial?.document)
  );
}

export function listIndexes(call: Call): Reply {
  const namespace = call.namespace();
  const cursor = call.given.optionalDocument('cursor');
  call.given.end();
  const collection = existing(call, namespace);
  const indexes = collection.indexes.map(({ specification }) => specification.document);
  return call.store.cursors.start({
    namespace,
    documents: [ID_INDEX, ...indexes],
    batchSize: batchSizeOf(cursor),
  });
}

export function dropIndexes(call: Call): Reply {
  const namespace = call.namespace();
  const wanted = call.given.value('index');
  call.given.end();
  const collection = existing(call, namespace);
  const nIndexesWas = collection.indexes.length + 1;
  const names = wanted === '*' ? collection.indexes.map(nameOf) : [nameToDrop(collection, wanted)];
  for (const name of names) call.store.catalog.dropIndex(collection, name);
  return { nIndexesWas };
}

/** Whether a collection has the index that a hint gives by name or key. */
export function hasIndex(collection: Collection, hint: Value): boolean {
  if (hint === '_id_' || equalityKey(hint) === equalityKey(ID_KEY)) return true;
  const key = equalityKey(hint);
  return collection.indexes.some(
    ({ specification }) => specification.name === hint || equalityKey(specification.key) === key,
  );
}

export function batchSizeOf(given: Document | undefined): number | undefined {
  const cursor = new Arguments(given ?? {}, 'cursor');
  const batchSize = cursor.count('batchSize');
  cursor.end();
  return batchSize;
}

function nameToDrop(collection: Collection, wanted: Value | undefined): string {
  if (isArray(wanted)) throw notSupported('dropping several indexes by name');
  if (typeof wanted !== 'string' && !isDocument(wanted)) {
    throw new CommandError(14, 'dropIndexes.index must be a string or an object');
  }
  if (wanted === '_id_' || equalityKey(wanted) === equalityKey(ID_KEY)) {
    throw new CommandError(72, 'cannot drop _id index');
  }
  const key = equalityKey(wanted);
  const index = collection.indexes.find(
    ({ specification }) => specification.name === wanted || equalityKey(specification.key) === key,
  );
  if (index === undefined) throw new CommandError(27, 'index not found');
  return nameOf(index);
}

function nameOf({ specification }: { specification: IndexSpecification }): string {
  return specification.name;
}

function existing(call: Call, namespace: string): Collection {
  const collection = call.collection(namespace);
  if (collection === undefined) throw new CommandError(26, `ns does not exist: ${namespace}`);
  return collection;
}
