import type { Collection, Db, Document } from 'mongodb';
import { pagesOf } from '../pages.ts';
import { type CommonVersion, CommonVersions, pageWithinMs } from './common-versions.ts';
import type { CopiedCollection } from './copied-collections.ts';
import { copyDocument, guarded, type Pair, type PassOptions, versionOf } from './copy-document.ts';
import { canonicalText, DocumentsDigest, digestOf, without } from './documents.ts';
import type { StoreIds } from './store-ids.ts';

/** Numbers of documents of a collection, by outcome. */
export interface CollectionCounts {
  /** Documents of the source. */
  read: number;
  added: number;
  updated: number;
  /** Equal in both stores; of usage: the target has all counts of the source. */
  equal: number;
  /** Changed or deleted in the target only, or there as an equal waiting job or key with another id. */
  kept: number;
  /** Changed in both stores: the target's version stays. */
  conflicts: number;
  /** Not copied, because a worker is running them. */
  left: number;
  /** Deleted in the target, because the source has deleted them since they were copied. */
  deleted: number;
  /** Only in the target. */
  others: number;
}

/** A document that has changed in both stores. */
export interface Conflict {
  readonly collection: string;
  readonly id: string;
  /** Names of the fields that differ. */
  readonly fields: readonly string[];
}

export interface CollectionPass {
  readonly counts: CollectionCounts;
  readonly conflicts: readonly Conflict[];
  /** Digest of the equal documents. */
  readonly digest: string;
}

interface CollectionOptions extends PassOptions {
  /** Called after each page. */
  readonly onProgress?: (name: string, counts: CollectionCounts) => void;
}

/**
 * Copies the documents of a collection that have changed in the source since they were last equal in both stores, or
 * are missing in the target. A change of the target is never undone. Both stores may be in use: a document that
 * changes meanwhile is copied by the next pass.
 */
export async function copyCollection(
  from: Db,
  to: Db,
  rules: CopiedCollection,
  options: CollectionOptions,
): Promise<CollectionPass> {
  const counts = {
    read: 0,
    added: 0,
    updated: 0,
    equal: 0,
    kept: 0,
    conflicts: 0,
    left: 0,
    deleted: 0,
    others: 0,
  };
  const conflicts: Conflict[] = [];
  const digest = new DocumentsDigest();
  const [source, target] = [from.collection(rules.name), to.collection(rules.name)];
  const isMerged = rules.shareOf !== undefined;
  const common = isMerged ? null : new CommonVersions(from, to, rules.name, options.stores);
  const pair: Pair = { source, target, common, rules, options };
  for await (const page of pagesOf(source, { withinMs: pageWithinMs })) {
    const copied = page.filter((document) => rules.isCopied?.(document) ?? true);
    counts.read += page.length;
    counts.left += page.length - copied.length;
    const [existing, versions = new Map<string, CommonVersion>()] = await Promise.all([
      byId(target, copied),
      common?.of(copied),
    ]);
    const results = await Promise.all(
      copied.map(async (document) => {
        const id = String(document['_id']);
        const result = await copyDocument(
          pair,
          document,
          existing.get(id),
          versions.get(id)?.digest,
        );
        return { ...result, document, id };
      }),
    );
    for (const { outcome, document, id } of results) {
      counts[outcome] += 1;
      if (outcome === 'equal') digest.add(comparable(document, rules, options.stores));
      if (outcome !== 'conflicts') continue;
      const fields = differingFields(document, existing.get(id) ?? {}, rules);
      conflicts.push({ collection: rules.name, id, fields });
    }
    if (!options.dryRun) await common?.set(results, versions);
    options.onProgress?.(rules.name, counts);
  }
  Object.assign(counts, await deleteOthers(pair));
  return { counts, conflicts, digest: digest.text };
}

async function byId(
  collection: Collection,
  documents: readonly Document[],
): Promise<ReadonlyMap<string, Document>> {
  const filter = { _id: { $in: documents.map(({ _id }) => _id) } };
  const found = documents.length === 0 ? [] : await collection.find(filter).toArray();
  return new Map(found.map((document) => [String(document._id), document]));
}

function comparable(
  document: Document,
  { ownFields = [], shareOf }: CopiedCollection,
  stores: StoreIds,
): Document {
  const share = shareOf?.(document, stores);
  return share === undefined ? without(document, ownFields) : { _id: document['_id'], ...share };
}

function differingFields(one: Document, other: Document, rules: CopiedCollection): string[] {
  const names = Object.keys({ ...versionOf(one, rules), ...versionOf(other, rules) });
  return names.filter((name) => canonicalText(one[name]) !== canonicalText(other[name]));
}

/** Counts the documents that only the target has, and deletes those that were copied to it and have not changed. */
async function deleteOthers({
  source,
  target,
  common,
  rules,
  options,
}: Pair): Promise<Pick<CollectionCounts, 'deleted' | 'others'>> {
  const { guardFields = [] } = rules;
  const counts = { deleted: 0, others: 0 };
  for await (const page of pagesOf(target, { withinMs: pageWithinMs })) {
    const existing = await byId(source, page);
    const others = page.filter(({ _id }) => !existing.has(String(_id)));
    const versions = options.deletes ? await common?.of(others) : undefined;
    for (const document of others) {
      const copied = versions?.get(String(document['_id']));
      if (copied?.digest !== digestOf(versionOf(document, rules))) {
        counts.others += 1;
        continue;
      }
      counts.deleted += 1;
      if (!options.dryRun) await target.deleteMany(guarded(document, guardFields));
    }
  }
  if (!options.dryRun) await common?.forget(source, target);
  return counts;
}
