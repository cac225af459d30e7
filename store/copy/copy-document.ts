import type { Collection, Document } from 'mongodb';
import { isDuplicateKey, retryOnDuplicateKey, writePortably } from '../upsert.ts';
import type { CommonVersions } from './common-versions.ts';
import type { CopiedCollection } from './copied-collections.ts';
import { canonicalText, digestOf, numberAt, without } from './documents.ts';
import type { StoreIds } from './store-ids.ts';
import type { Share } from './usage-share.ts';

export interface CopyOptions {
  /** Only counts, without a change. */
  readonly dryRun: boolean;
  /** Deletes documents of earlier copies that the source does not have any more. */
  readonly deletes: boolean;
  /** Takes the target's version of documents that have changed in both stores as the result. */
  readonly keeps: boolean;
}

export interface PassOptions extends CopyOptions {
  readonly stores: StoreIds;
}

/** A collection in both stores. */
export interface Pair {
  readonly source: Collection;
  readonly target: Collection;
  /** Null for documents that are merged: what they have in common does not matter. */
  readonly common: CommonVersions | null;
  readonly rules: CopiedCollection;
  readonly options: PassOptions;
}

/** What has become of a document. */
interface Result {
  readonly outcome: 'added' | 'updated' | 'equal' | 'kept' | 'conflicts';
  /** The digest of the version that both stores have in common now; undefined if that has not changed. */
  readonly common?: string;
}

/** What is compared of a document. */
export const versionOf = (
  document: Document,
  { ownFields = [], joined = {} }: CopiedCollection,
): Document => without(document, [...ownFields, ...Object.keys(joined)]);

const mapped = <From, To>(
  fields: Readonly<Record<string, From>>,
  map: (name: string, value: From) => To,
): Record<string, To> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, map(name, value)]));

/**
 * Copies a document, unless the target has changed it.
 * @param existing the version of the target
 * @param before the digest of the version that both stores had in common when it was last copied
 */
export async function copyDocument(
  { target, rules, options }: Pair,
  document: Document,
  existing: Document | undefined,
  before: string | undefined,
): Promise<Result> {
  const { dryRun, stores, keeps } = options;
  const share = rules.shareOf?.(document, stores);
  if (share !== undefined) return mergeShare(target, document['_id'], share, existing, dryRun);
  const { ownFields = [], ownFieldsOf = () => ({}), joined = {} } = rules;
  const wanted = versionOf(document, rules);
  const digest = digestOf(wanted);
  if (existing === undefined) {
    // The target has deleted it.
    if (before !== undefined) return { outcome: 'kept' };
    const copy = { ...without(document, ownFields), ...ownFieldsOf(document, undefined) };
    const added = dryRun || (await inserted(target, copy));
    return added ? { outcome: 'added', common: digest } : { outcome: 'kept' };
  }
  const present = versionOf(existing, rules);
  const found = digestOf(present);
  const isUnchanged = before === found;
  const result = isUnchanged ? wanted : present;
  const resultDigest = isUnchanged ? digest : found;
  const joins = mapped(joined, (_, join) => join(existing, document));
  const joinsOf = (one: Document) => canonicalText(mapped(joined, (field) => one[field]));
  if (resultDigest !== found || canonicalText(joins) !== joinsOf(existing)) {
    const copy = { ...result, ...joins, ...ownFieldsOf(document, existing) };
    const updated = dryRun || (await replaced(target, rules, existing, copy));
    if (updated === 'duplicate') return { outcome: 'kept' };
    // A document that has changed since it was read is compared again by the next pass.
    const isCopied = updated && resultDigest === digest;
    return isCopied ? { outcome: 'updated', common: digest } : { outcome: 'updated' };
  }
  if (found === digest) {
    const isEqual = joinsOf(existing) === joinsOf(document);
    return { outcome: isEqual ? 'equal' : 'kept', common: digest };
  }
  const isConflict = !isUnchanged && before !== digest && rules.reportsConflicts !== false;
  if (!isConflict) return { outcome: 'kept' };
  return keeps ? { outcome: 'kept', common: digest } : { outcome: 'conflicts' };
}

/** Replaces a document, unless it has changed since it was read; false if it has. */
async function replaced(
  target: Collection,
  { ownFields = [], guardFields = [] }: CopiedCollection,
  existing: Document,
  { _id, ...fields }: Document,
): Promise<boolean | 'duplicate'> {
  const obsolete = Object.keys(without(existing, ['_id', ...ownFields])).filter(
    (name) => !(name in fields),
  );
  const unset = Object.fromEntries(obsolete.map((name) => [name, '']));
  const update = { $set: fields, ...(obsolete.length > 0 && { $unset: unset }) };
  let matched = false;
  const written = await unlessDuplicate(async () => {
    const { matchedCount } = await target.updateOne(guarded(existing, guardFields), update);
    matched = matchedCount > 0;
  });
  return written ? matched : 'duplicate';
}

/** A filter for a document that has not changed since it was read. */
export const guarded = (document: Document, fields: readonly string[]): Document => ({
  ...Object.fromEntries(fields.map((field) => [field, document[field] ?? null])),
  _id: document['_id'],
});

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
  if (larger.length === 0) return { outcome: 'equal' };
  const update = { $max: Object.fromEntries(larger), $setOnInsert: fields };
  const filter = { _id } as Document;
  if (!dryRun) {
    await retryOnDuplicateKey(() => target.updateOne(filter, update, { upsert: true }));
  }
  return { outcome: existing === undefined ? 'added' : 'updated' };
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
