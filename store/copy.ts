import { createHash } from 'node:crypto';
import { BSON, type Db, type Document } from 'mongodb';
import { CommandError } from '../contract/errors.ts';
import type { DeploymentRecord } from './deployment.ts';
import { readPages } from './pages.ts';
import { retryOnDeadlock } from './writes.ts';

const dayMs = 24 * 60 * 60 * 1_000;
/**
 * The collections to copy, in order, with the name of their expiry date field. A store deletes
 * documents by itself up to a day after that date, at its own time. A test requires every
 * collection in the code to be listed here or excluded with a reason.
 */
export const copiedCollections: Readonly<Record<string, string | null>> = {
  organisations: null,
  projects: 'deletedAt',
  hosts: null,
  keys: null,
  jobs: null,
  prewarms: 'createdAt',
  purges: 'createdAt',
  usage: null,
};
/** Longer than any copy takes. The copy skips documents that expire earlier. */
const copyMs = 60 * 60 * 1_000;
/** No request waits for a page of a copy. */
const slowly = { withinMs: 60_000 };
const mark = { _id: 'unfinished' };

/** The number of a collection's documents, and the start of their SHA-256 in the order of their ids. */
export type CollectionDigest = readonly [documents: number, digest: string];

/** Runs after each page with the collection's document count so far. */
export type OnPage = (step: 'copied' | 'compared', name: string, documents: number) => void;

/**
 * Copies an unused store into an empty store, and compares both. Run again, it restarts an
 * interrupted copy: a mark guarantees that the target contains no other data.
 * @returns each collection's content, identical in both stores
 * @throws CommandError
 */
export async function copyStore(
  from: Db,
  to: Db,
  onPage: OnPage,
): Promise<ReadonlyMap<string, CollectionDigest>> {
  const deployment = await findDeployment(from);
  if (deployment === null) throw new CommandError('The source is empty.');
  const endsAfter = Date.now() + copyMs;
  if (!(await isWritten(to, deployment))) {
    await getMarks(to).updateOne(mark, { $set: { startedAt: new Date() } }, { upsert: true });
    for (const name of Object.keys(copiedCollections)) {
      const target = to.collection(name);
      for await (const page of readPages(target, slowly)) {
        await target.deleteMany({ _id: { $in: page.map(({ _id }) => _id) } });
      }
      let documents = 0;
      for await (const page of lastingPages(from, name, endsAfter)) {
        await Promise.all(
          page.map((document) => retryOnDeadlock(() => target.insertOne(document))),
        );
        documents += page.length;
        onPage('copied', name, documents);
      }
    }
  }
  const contents = new Map<string, CollectionDigest>();
  for (const name of Object.keys(copiedCollections)) {
    const source = await readContent(from, name, endsAfter, onPage);
    const target = await readContent(to, name, endsAfter, onPage);
    if (source.join() !== target.join()) {
      throw new CommandError(
        `The stores differ: ${name} contains ${source[0]} documents in the source and ${target[0]} in the target. One of them was used meanwhile: stop all services and workers, and run the command again.`,
      );
    }
    contents.set(name, source);
  }
  // Omits when worker and service were last seen, because neither has run with the target.
  const { _id, workerSeenAt: _, serviceSeenAt: __, ...identity } = deployment;
  const deployments = to.collection<DeploymentRecord>('deployments');
  await deployments.updateOne({ _id }, { $set: identity }, { upsert: true });
  await getMarks(to).deleteMany(mark);
  return contents;
}

const getMarks = (db: Db) => db.collection<typeof mark>('copies');

/** Returns whether a store is the target of an interrupted copy. */
export const isIncompleteCopy = async (db: Db): Promise<boolean> =>
  (await getMarks(db).findOne(mark)) !== null;

const findDeployment = (db: Db): Promise<DeploymentRecord | null> =>
  db.collection<DeploymentRecord>('deployments').findOne({ _id: 'deployment' });

/**
 * Returns whether an interrupted copy had written its last document but not removed its mark.
 * @throws CommandError for a target with other data
 */
async function isWritten(to: Db, { backgroundSecret }: DeploymentRecord): Promise<boolean> {
  const isMarked = await isIncompleteCopy(to);
  const existing = await findDeployment(to);
  if (isMarked && existing?.backgroundSecret === backgroundSecret) return true;
  const names = Object.keys(copiedCollections);
  const found = await Promise.all(names.map((name) => to.collection(name).findOne({})));
  if (existing === null && (isMarked || found.every((record) => record === null))) return false;
  throw new CommandError(
    'The target is not empty. Name an empty database or, for the embedded store, an empty data folder.',
  );
}

async function* lastingPages(db: Db, name: string, endsAfter: number): AsyncGenerator<Document[]> {
  const field = copiedCollections[name] ?? '';
  for await (const page of readPages(db.collection(name), slowly)) {
    yield page.filter(({ [field]: date }) => !(date instanceof Date && +date + dayMs < endsAfter));
  }
}

async function readContent(db: Db, name: string, endsAfter: number, onPage: OnPage) {
  const hash = createHash('sha256');
  let documents = 0;
  for await (const page of lastingPages(db, name, endsAfter)) {
    for (const document of page) hash.update(`${canonicalText(document)}\n`);
    documents += page.length;
    onPage('compared', name, documents);
  }
  return [documents, hash.digest('hex').slice(0, 16)] as const;
}

/** Returns equal texts for equal documents, because servers can reorder fields. */
const canonicalText = (document: Document): string =>
  BSON.EJSON.stringify(document, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
