import { randomBytes } from 'node:crypto';
import type { Db } from 'mongodb';
import { findOrInsert } from '../upsert.ts';

/** The only document of its collection. */
interface StoreIdentity {
  readonly _id: 'own';
  /** As {@link isStoreId} says. */
  readonly id: string;
}

/** The stores of a copy. */
export interface StoreIds {
  readonly from: string;
  readonly to: string;
}

const newId = (): string => `store${randomBytes(8).toString('hex')}`;

/** Whether a field is named after a store; a writer of usage has another name. */
export const isStoreId = (name: string): boolean => /^store[0-9a-f]{16}$/.test(name);

/** The identity of a store, which its copies do not have. Without `inserts`, a new one is not stored. */
export async function findStoreId(db: Db, inserts: boolean): Promise<string> {
  const collection = db.collection<StoreIdentity>('stores');
  const existing = await collection.findOne({ _id: 'own' });
  if (existing !== null) return existing.id;
  const fresh = { id: newId() };
  return inserts ? (await findOrInsert(collection, 'own', fresh)).id : fresh.id;
}
