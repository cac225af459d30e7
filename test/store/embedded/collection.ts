import type { Collection, Document, OptionalUnlessRequiredId } from 'mongodb';
import type { Test } from 'tap';
import { testDatabase } from '../connection.ts';

/** A document with any fields. */
export type Item = Document & { _id: number };

/** Inserts documents one by one in their order: the store does not support bulk writes. */
export async function insertAll<T extends Document>(
  collection: Collection<T>,
  documents: readonly OptionalUnlessRequiredId<T>[],
): Promise<void> {
  for (const document of documents) await collection.insertOne(document);
}

/** Creates a collection in a test database, with documents. */
export async function testCollection<T extends Document = Item>(
  t: Test,
  documents: readonly OptionalUnlessRequiredId<NoInfer<T>>[] = [],
): Promise<Collection<T>> {
  const { db } = await testDatabase(t);
  const collection = db.collection<T>('items');
  await insertAll(collection, documents);
  return collection;
}

export const toIds = (documents: readonly Item[]): number[] => documents.map(({ _id }) => _id);
