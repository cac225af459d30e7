import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Collection, Db, Document } from 'mongodb';
import t, { type Test } from 'tap';
import { CommandError } from '../../contract/errors.ts';
import { copiedCollections, copyStore } from '../../store/copy.ts';
import { recordHeartbeat } from '../../store/heartbeat.ts';
import { JobQueue } from '../../store/jobs.ts';
import { connectStore, ensureIndexes, openStore, type Store } from '../../store/open.ts';
import { rootPath } from '../root.ts';
import { testDatabase } from './connection.ts';
import { shortFolder } from './embedded/stores.ts';
import { prewarmCall, prewarmJob } from './prewarm-job.ts';

async function ownDatabase(t: Test): Promise<Store> {
  const { url, databaseName } = await testDatabase(t);
  const own = url.replace(/^(mongodb(?:\+srv)?:\/\/[^/]+)\/?[^?]*/, `$1/${databaseName}`);
  return connectStore(own, () => {});
}

/** Opens an empty store: a new database on the tests' server, or a new embedded store. */
async function openTestStore(t: Test, kind: 'of the tests' | 'embedded'): Promise<Store> {
  const embedded = { mongodbUrl: null, dataDir: shortFolder(t) };
  const store = kind === 'embedded' ? await openStore(embedded, () => {}) : await ownDatabase(t);
  t.teardown(() => store.close());
  await store.established();
  await ensureIndexes(store);
  await new JobQueue(store.db).ensureIndexes();
  return store;
}

const job = (projectId: string, n: number) =>
  prewarmJob({ projectId, source: `https://e.test/${n}.jpg` });

/**
 * Adds documents of each kind to a store, including over 200 jobs, which the copy reads in two
 * pages.
 */
async function fill(store: Store, jobCount = 20) {
  const { _id: orgId } = await store.organisations.default();
  const other = await store.organisations.create('Other');
  await store.organisations.setProductAccess(other._id, false);
  const fields = { orgId, name: 'Shop', origin: 'https://e.test/', allowedOrigins: ['e.test'] };
  const { _id: id } = await store.projects.create(fields);
  await store.projects.setItem(id, 'presets', 'card', { w: '400' });
  await store.projects.requireSignatures(id, 600);
  await store.projects.purge(id, ['0123456789abcdef'], () => Date.now());
  await store.purges.confirm(`${Date.now()}`, { projectId: id, sourceCount: 1, hook: null });
  const issue = (name: string) => store.keys.issue({ name, orgId, projectId: id, access: 'write' });
  const [valid, revoked] = [await issue('valid'), await issue('revoked')];
  await store.keys.revoke(revoked.key._id);
  const jobs = Array.from({ length: jobCount }, (_, n) => job(id, n));
  const prewarm = await store.prewarms.add(prewarmCall(jobs, 'https://e.test/'));
  const queued = store.db.collection('jobs').find({ name: 'prewarm' }).sort({ _id: 1 }).limit(2);
  const [first, second] = (await queued.toArray()).map(({ _id }) => _id);
  if (first === undefined || second === undefined) throw new Error('no jobs are queued');
  return { id, orgId, valid, revoked, prewarm, first, second };
}

const copied = async (from: Db, to: Db) =>
  new Map(
    [...(await copyStore(from, to, () => {}))].map(([name, [documents]]) => [name, documents]),
  );

const stored = (db: Db, name: string) => db.collection(name).find().sort({ _id: 1 }).toArray();

/** Checks that a target contains exactly the documents of a source. */
async function isSame(t: Test, from: Db, to: Db): Promise<void> {
  for (const name of Object.keys(copiedCollections)) {
    t.same(await stored(to, name), await stored(from, name), name);
  }
  const [deployment] = await stored(from, 'deployments');
  const { workerSeenAt: _, ...identity }: Document = deployment ?? {};
  t.same(await stored(to, 'deployments'), [identity]);
  t.same(await stored(to, 'copies'), []);
}

t.test('copies all documents that a service needs, in both directions', async (t) => {
  const [from, to] = [await openTestStore(t, 'embedded'), await openTestStore(t, 'of the tests')];
  const { id, orgId, valid, revoked, first, prewarm } = await fill(from, 250);
  const locked = { $set: { lockedAt: new Date(), nextRunAt: null } };
  await from.db.collection('jobs').updateOne({ _id: first }, locked);
  await from.usage.write([
    { project: id, date: '2026-11-22', writer: 'p1', counts: { requests: 5_000_000_000 } },
  ]);
  await recordHeartbeat(from.db, 'worker');

  const counts = await copied(from.db, to.db);
  t.match(Object.fromEntries(counts), { projects: 1, keys: 2, jobs: 251, prewarms: 1, usage: 1 });
  await isSame(t, from.db, to.db);
  t.same(await to.projects.find(id), await from.projects.find(id));
  t.same(await to.keys.findBySecret(valid.secret), valid.key);
  t.type((await to.keys.findBySecret(revoked.secret))?.revokedAt, Date);
  t.equal((await to.organisations.default())._id, orgId);
  t.match(await to.prewarms.find(id, prewarm), { sourceCount: 250, status: 'accepted' });

  const back = await openTestStore(t, 'embedded');
  await copied(to.db, back.db);
  await isSame(t, from.db, back.db);
});

t.test('rejects an empty source, and a target with other data', async (t) => {
  const [from, to] = [await openTestStore(t, 'of the tests'), await openTestStore(t, 'embedded')];
  const refused = (message: RegExp) =>
    t.rejects(copied(from.db, to.db), { constructor: CommandError, message });
  await refused(/source is empty/);
  await fill(from);
  const other = { name: 'Other', createdAt: new Date(), productAccess: true };
  const organisations = to.db.collection<{ _id: string }>('organisations');
  await organisations.insertOne({ _id: 'org_1', ...other });
  await refused(/target is not empty/);
  await organisations.deleteMany({});
  await copied(from.db, to.db);
  await refused(/target is not empty/);
  await t.rejects(copied(from.db, from.db), CommandError, 'a store is not copied to itself');
  await isSame(t, from.db, to.db);
});

t.test('does not copy documents that the stores are about to delete', async (t) => {
  const [from, to] = [await openTestStore(t, 'of the tests'), await openTestStore(t, 'embedded')];
  const { id } = await fill(from);
  const [hourMs, now] = [60 * 60 * 1_000, Date.now()];
  const aged = (hours: number) => ({ $set: { createdAt: new Date(now - hours * hourMs) } });
  await from.db.collection('prewarms').updateMany({}, aged(23.5));
  await from.db.collection('purges').updateMany({}, aged(22));
  const counts = await copied(from.db, to.db);
  t.match(Object.fromEntries(counts), { projects: 1, prewarms: 0, purges: 1 });
  t.ok(await to.projects.find(id));
});

t.test('notices changes to the store meanwhile, and restarts the copy', async (t) => {
  const [from, to] = [await openTestStore(t, 'embedded'), await openTestStore(t, 'of the tests')];
  const { id } = await fill(from);
  // After the mark, two organisations, the project and a key.
  const run = () => from.projects.addHost(id, 'x.test');
  const later = copied(from.db, interrupted(to.db, { beforeWrite: 6, run }));
  await t.rejects(later, { constructor: CommandError, message: /^The stores differ: projects/ });
  await copied(from.db, to.db);
  await isSame(t, from.db, to.db);
});

t.test('restarts a copy after a kill before any of its writes', async (t) => {
  const [from, to] = [await openTestStore(t, 'embedded'), await openTestStore(t, 'of the tests')];
  await fill(from, 5);
  const names = [...Object.keys(copiedCollections), 'deployments'];
  const sourceDocuments = () => Promise.all(names.map((name) => stored(from.db, name)));
  const before = await sourceDocuments();
  for (let beforeWrite = 1; ; beforeWrite += 1) {
    const killed = interrupted(to.db, { beforeWrite, run: null });
    const isKilled = await copied(from.db, killed).then(
      () => false,
      () => true,
    );
    await killed.settled();
    if (isKilled) {
      t.ok((await stored(to.db, 'copies')).length > 0 || beforeWrite === 1, 'it is marked');
      await copied(from.db, to.db);
    }
    await isSame(t, from.db, to.db);
    if (!isKilled) {
      t.ok(beforeWrite > 15, `${beforeWrite - 1} kills`);
      return t.same(await sourceDocuments(), before);
    }
    for (const name of names) await to.db.collection(name).deleteMany({});
  }
});

/** Returns a database that fails, or runs other code, before a write. */
function interrupted(
  db: Db,
  { beforeWrite, run }: { beforeWrite: number; run: (() => Promise<unknown>) | null },
) {
  let writes = 0;
  const results: Promise<unknown>[] = [];
  const write = async (call: () => Promise<unknown>): Promise<unknown> => {
    writes += 1;
    if (writes >= beforeWrite && run === null) throw new Error('killed');
    if (writes === beforeWrite) await run?.();
    const result = call();
    results.push(result);
    return result;
  };
  const watched = (collection: Collection): Collection =>
    new Proxy(collection, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        const method = value.bind(target);
        const isWrite = ['insertOne', 'updateOne', 'deleteMany'].includes(String(name));
        return isWrite ? (...args: unknown[]) => write(() => method(...args)) : method;
      },
    });
  return Object.assign(Object.create(db) as Db, {
    collection: (name: string) => watched(db.collection(name)),
    settled: () => Promise.allSettled(results),
  });
}

/** Collections that the copy treats differently, with the reason. */
const otherCollections: Readonly<Record<string, string>> = {
  deployments: 'written last: a store without it contains no complete copy',
  copies: 'marks an incomplete copy',
  rateWindows: 'lasts for a minute',
  idempotentCalls: 'only helps clients to repeat a call within a day',
  activity: 'has the figures of the last day, which a new store begins again',
};

t.test('copies each collection in the code, or gives a reason to exclude it', async (t) => {
  const known = new Set([...Object.keys(copiedCollections), ...Object.keys(otherCollections)]);
  const names = new Set<string>();
  for (const folder of ['store', 'server', 'worker']) {
    for (const entry of await readdir(join(rootPath, folder), { recursive: true })) {
      if (!entry.endsWith('.ts') || entry.startsWith('embedded')) continue;
      const text = await readFile(join(rootPath, folder, entry), 'utf8');
      const named = /(?:\.collection(?:<[^>]+>)?\(|new ProjectRecords\((?:this\.#)?db, )'(\w+)'/g;
      for (const [, name = ''] of text.matchAll(named)) names.add(name);
    }
  }
  for (const name of ['projects', 'keys', 'prewarms', 'deployments']) t.ok(names.has(name), name);
  t.same(
    [...names].filter((name) => !known.has(name)),
    [],
  );
});
