import type { Collection, Db, Document } from 'mongodb';
import { isDuplicateKey, retryOnDuplicateKey, writePortably } from '../upsert.ts';
import type { CopiedCollection } from './copied-collections.ts';
import { canonicalText, DocumentsDigest, numberAt, without } from './documents.ts';
import type { StoreIds } from './store-ids.ts';
import type { Share } from './usage-share.ts';

/** Numbers of documents of a collection, by outcome. */
export interface CollectionCounts {
  /** Documents of the source. */
  read: number;
  added: number;
  updated: number;
  /** Equal in both stores; of usage: the target has all counts of the source. */
  equal: number;
  /** The target has a newer version, or an equal waiting job or key with another id. */
  kept: number;
  /** Not copied, because a worker is running them. */
  left: number;
  /** Deleted in the target, because the source does not have them. */
  deleted: number;
}

export interface CopyOptions {
  /** Only counts, without a change. */
  readonly dryRun: boolean;
  /** Deletes documents that only the target has. */
  readonly deletes: boolean;
  /** Called after each page. */
  readonly onProgress?: (name: string, counts: CollectionCounts) => void;
}

interface PassOptions extends CopyOptions {
  readonly stores: StoreIds;
}

export interface CollectionPass {
  readonly counts: CollectionCounts;
  /** Digest of the equal documents. */
  readonly digest: string;
}

const pageSize = 200;

/**
 * Copies the documents of a collection that differ or are missing in the target. Both stores may be in use: a
 * document that changes meanwhile is copied by the next pass.
 */
export async function copyCollection(
  from: Db,
  to: Db,
  rules: CopiedCollection,
  options: PassOptions,
): Promise<CollectionPass> {
  const counts = { read: 0, added: 0, updated: 0, equal: 0, kept: 0, left: 0, deleted: 0 };
  const digest = new DocumentsDigest();
  const [source, target] = [from.collection(rules.name), to.collection(rules.name)];
  for await (const page of pagesOf(source)) {
    const copied = page.filter((document) => rules.isCopied?.(document) ?? true);
    counts.read += page.length;
    counts.left += page.length - copied.length;
    const existing = await byId(target, copied);
    const results = await Promise.all(
      copied.map((document) =>
        copyDocument(target, rules, document, existing.get(String(document['_id'])), options),
      ),
    );
    for (const [index, result] of results.entries()) {
      counts[result] += 1;
      if (result === 'equal') digest.add(comparable(copied[index] ?? {}, rules, options.stores));
    }
    options.onProgress?.(rules.name, counts);
  }
  if (options.deletes) counts.deleted = await deleteOthers(source, target, options.dryRun);
  return { counts, digest: digest.text };
}

/** All documents in pages, in the order of their ids: a cursor could miss some while documents are added. */
async function* pagesOf(collection: Collection): AsyncGenerator<Document[]> {
  let last: unknown = null;
  for (;;) {
    const filter = last === null ? {} : { _id: { $gt: last } };
    const page = await collection
      .find(filter as Document)
      .sort({ _id: 1 })
      .limit(pageSize)
      .toArray();
    if (page.length > 0) yield page;
    if (page.length < pageSize) return;
    last = page.at(-1)?._id;
  }
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

type Result = 'added' | 'updated' | 'equal' | 'kept';

async function copyDocument(
  target: Collection,
  rules: CopiedCollection,
  document: Document,
  existing: Document | undefined,
  { dryRun, stores }: PassOptions,
): Promise<Result> {
  const { mark = {}, ownFields = [], guardFields = [] } = rules;
  const share = rules.shareOf?.(document, stores);
  if (share !== undefined) return mergeShare(target, document['_id'], share, existing, dryRun);
  const wanted = without(document, ownFields);
  if (existing === undefined) {
    const added = dryRun || (await inserted(target, { ...wanted, ...mark }));
    return added ? 'added' : 'kept';
  }
  if (canonicalText(wanted) === canonicalText(without(existing, ownFields))) return 'equal';
  if (rules.keeps?.(existing, document)) return 'kept';
  if (dryRun) return 'updated';

  const guard = guardFields.map((field) => [field, existing[field] ?? null] as const);
  const obsolete = Object.keys(without(existing, ownFields)).filter((name) => !(name in wanted));
  const unset = Object.fromEntries(obsolete.map((name) => [name, '']));
  const update = {
    $set: { ...without(wanted, ['_id']), ...mark },
    ...(obsolete.length > 0 && { $unset: unset }),
  };
  const filter = { ...Object.fromEntries(guard), _id: document['_id'] };
  const updated = await unlessDuplicate(() => target.updateOne(filter, update));
  return updated ? 'updated' : 'kept';
}

async function mergeShare(
  target: Collection,
  _id: unknown,
  { fields, numbers }: Share,
  existing: Document | undefined,
  dryRun: boolean,
): Promise<Result> {
  const larger = Object.entries(numbers).filter(
    ([path, number]) => number > (numberAt(existing, path) ?? 0),
  );
  if (larger.length === 0) return 'equal';
  const update = { $max: Object.fromEntries(larger), $setOnInsert: fields };
  const filter = { _id } as Document;
  if (!dryRun) {
    await retryOnDuplicateKey(() => target.updateOne(filter, update, { upsert: true }));
  }
  return existing === undefined ? 'added' : 'updated';
}

const inserted = (target: Collection, document: Document): Promise<boolean> =>
  unlessDuplicate(() => target.insertOne(document));

/** False if another document of the target has the same unique value, such as an equal waiting job or key. */
async function unlessDuplicate(write: () => Promise<unknown>): Promise<boolean> {
  try {
    await writePortably(write);
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}

/** @returns the number of documents that only the target has */
async function deleteOthers(
  source: Collection,
  target: Collection,
  dryRun: boolean,
): Promise<number> {
  let count = 0;
  for await (const page of pagesOf(target)) {
    const existing = await byId(source, page);
    const others = page.filter(({ _id }) => !existing.has(String(_id)));
    count += others.length;
    const ids = others.map(({ _id }) => _id);
    if (ids.length > 0 && !dryRun) await target.deleteMany({ _id: { $in: ids } });
  }
  return count;
}
