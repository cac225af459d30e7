import type { Db } from 'mongodb';
import type { DeploymentRecord } from '../deployment.ts';
import { findOrInsert } from '../upsert.ts';
import { copiedCollections } from './copied-collections.ts';
import {
  type CollectionCounts,
  type CollectionPass,
  type CopyOptions,
  copyCollection,
} from './copy-collection.ts';
import { findStoreId } from './store-ids.ts';

/** The source is empty, or the target belongs to another deployment or is the same store. */
export class CopyRefused extends Error {
  override readonly name = 'CopyRefused';
}

export interface StoreCopyOptions extends CopyOptions {
  /** Also copies to a store that another deployment uses. Its default organisation and secret stay. */
  readonly merges: boolean;
}

export interface StoreCopy {
  /** Sums of all passes, by the name of the collection; `read`, `equal`, `kept` and `left` of the last pass. */
  readonly collections: ReadonlyMap<string, CollectionPass>;
  /** Whether the last pass found nothing to copy, so that both stores have the same documents. */
  readonly verified: boolean;
}

/** Limited, because a store that changes all the time never equals its copy. */
const maxPasses = 5;

/**
 * Copies the documents of one store to another one, in passes, until a pass finds nothing to copy: that pass is also
 * the verification. The copy can be repeated at any time.
 * @throws CopyRefused
 */
export async function copyStore(from: Db, to: Db, options: StoreCopyOptions): Promise<StoreCopy> {
  await adoptDeployment(from, to, options);
  const stores = {
    from: await findStoreId(from, !options.dryRun),
    to: await findStoreId(to, !options.dryRun),
  };
  if (stores.from === stores.to) {
    throw new CopyRefused('Both are the same store, or one is a restored backup of the other.');
  }
  const passOptions = { ...options, stores };
  const collections = new Map<string, CollectionPass>();
  for (let pass = 1; pass <= maxPasses; pass += 1) {
    let changes = 0;
    for (const rules of copiedCollections) {
      const { counts, digest } = await copyCollection(from, to, rules, passOptions);
      changes += counts.added + counts.updated + counts.deleted;
      const before = collections.get(rules.name)?.counts;
      collections.set(rules.name, { counts: added(counts, before), digest });
    }
    if (options.dryRun || changes === 0) return { collections, verified: !options.dryRun };
  }
  return { collections, verified: false };
}

const added = (last: CollectionCounts, before?: CollectionCounts): CollectionCounts => ({
  ...last,
  added: last.added + (before?.added ?? 0),
  updated: last.updated + (before?.updated ?? 0),
  deleted: last.deleted + (before?.deleted ?? 0),
});

/** Copies the source's deployment record to an empty target, and refuses a target of another deployment. */
async function adoptDeployment(
  from: Db,
  to: Db,
  { dryRun, merges }: StoreCopyOptions,
): Promise<void> {
  const [source, target] = [from, to].map((db) => db.collection<DeploymentRecord>('deployments'));
  const deployment = await source?.findOne({ _id: 'deployment' });
  if (!deployment || target === undefined) {
    throw new CopyRefused('The store to copy from is empty.');
  }
  const existing = await target.findOne({ _id: 'deployment' });
  const isOther = (one: DeploymentRecord) =>
    one.defaultOrganisation !== deployment.defaultOrganisation;
  const refuseUnless = (allowed: boolean): void => {
    if (allowed || merges) return;
    throw new CopyRefused(
      'The store to copy to has the data of another deployment. With --merge its data stays, and the copy is added.',
    );
  };
  refuseUnless(existing === null ? !(await isUsed(to)) : !isOther(existing));
  const { _id, ...fields } = deployment;
  // The deployment of another copy may have been first.
  if (!dryRun) refuseUnless(!isOther(await findOrInsert(target, _id, fields)));
}

/** Whether a store without a deployment record has documents nevertheless. */
async function isUsed(db: Db): Promise<boolean> {
  for (const { name } of copiedCollections) {
    if ((await db.collection(name).findOne({}, { projection: { _id: 1 } })) !== null) return true;
  }
  return false;
}
