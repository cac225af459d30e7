import type { Collection, Document, OptionalUnlessRequiredId } from 'mongodb';

/** Inserts documents one by one in their order: the store does not support bulk writes. */
export async function insertAll<T extends Document>(
  collection: Collection<T>,
  documents: readonly OptionalUnlessRequiredId<T>[],
): Promise<void> {
  for (const document of documents) await collection.insertOne(document);
}
