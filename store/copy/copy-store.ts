import type { Db } from 'mongodb';
import type { DeploymentRecord } from '../deployment.ts';
import { findOrInsert } from '../upsert.ts';
import { copiedCollections } from './copied-collections.ts';
import {
  type CollectionCounts,
  type CollectionPass,
  type Conflict,
  copyCollection,
} from './copy-collection.ts';
import type { CopyOptions } from './copy-document.ts';
import { findStoreId } from './store-ids.ts';

/** The source is empty, or the target belongs to another deployment or is the same store. */
export class CopyRefused extends Error {
  override readonly name = 'CopyRefused';
}

export interface StoreCopyOptions extends CopyOptions {
  /** Also copies to a store that another deployment uses. Its default organisation and secret stay. */
  readonly merges: boolean;
  /** Called after each page of a collection. */
  readonly onProgress?: (name: string, counts: CollectionCounts) => void;
}

export interface StoreCopy {
  /** By the name of the collection: `added`, `updated` and `deleted` of all passes, the rest of the last one. */
  readonly collections: ReadonlyMap<string, CollectionPass>;
  /** Documents that have changed in both stores, of which the target has kept its version. */
  readonly conflicts: readonly Conflict[];
  /** Whether the last pass found nothing to copy. */
  readonly verified: boolean;
}

/** Limited, because a store that changes all the time never equals its copy. */
const maxPasses = 5;

/**
 * Copies the documents of one store to another one, in passes, until a pass finds nothing to copy: that pass is also
 * the verification. The copy can be repeated at any time, also when the target has been changed meanwhile.
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
  let verified = false;
  for (let pass = 1; pass <= maxPasses; pass += 1) {
    let changes = 0;
    for (const rules of copiedCollections) {
      const pass = await copyCollection(from, to, rules, passOptions);
      const { added, updated, deleted } = pass.counts;
      changes += added + updated + deleted;
      const before = collections.get(rules.name)?.counts;
      collections.set(rules.name, { ...pass, counts: summed(pass.counts, before) });
    }
    verified = changes === 0;
    if (options.dryRun || verified) break;
  }
  const conflicts = [...collections.values()].flatMap((pass) => pass.conflicts);
  return { collections, conflicts, verified: verified && !options.dryRun };
}

const summed = (last: CollectionCounts, before?: CollectionCounts): CollectionCounts => ({
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
