import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Callbacks } from '../../store/callbacks.ts';
import { addressOf } from '../../store/client.ts';
import { copiedCollections, excludedCollections } from '../../store/copy/copied-collections.ts';
import { CopyRefused, copyStore, type StoreCopyOptions } from '../../store/copy/copy-store.ts';
import { JobQueue, type QueuedJob } from '../../store/jobs.ts';
import { connectStore, ensureIndexes, openStore, type Store } from '../../store/open.ts';
import { rootPath } from '../root.ts';
import { until } from '../until.ts';
import { testDatabase } from './connection.ts';
import { shortFolder } from './embedded/stores.ts';

async function ownDatabase(t: Test): Promise<Store> {
  const { url, databaseName } = await testDatabase(t);
  const own = url.replace(/^(mongodb(?:\+srv)?:\/\/[^/]+)\/?[^?]*/, `$1/${databaseName}`);
  return connectStore(own, () => {});
}

/** An empty store: a new database of the tests' server, or a new embedded store. */
async function openTestStore(t: Test, kind: 'of the tests' | 'embedded'): Promise<Store> {
  const embedded = { mongodbUrl: null, dataDir: shortFolder(t) };
  const store = kind === 'embedded' ? await openStore(embedded, () => {}) : await ownDatabase(t);
  t.teardown(() => store.close());
  await store.established();
  await ensureIndexes(store);
  await new JobQueue(store.db).ensureIndexes();
  return store;
}

const job = (projectId: string, n: number) => ({
  projectId,
  source: `https://e.test/${n}.jpg`,
  widths: [100],
  formats: ['webp'],
  quality: null,
  fit: null,
  dpr: null,
});

/** Adds documents of each kind to a store, with more than 200 jobs, which are read in two pages. */
async function fill(store: Store, jobCount = 20) {
  const { _id: orgId } = await store.organisations.default();
  const other = await store.organisations.create('Other');
  await store.organisations.setProductAccess(other._id, false);
  const fields = { orgId, name: 'Shop', origin: 'https://e.test/', allowedOrigins: ['e.test'] };
  const { _id: id } = await store.projects.create(fields);
  await store.projects.setPreset(id, 'card', { w: '400' });
  await store.projects.requireSignatures(id, 600);
  await store.projects.purge(id, ['0123456789abcdef'], () => Date.now());
  await store.purges.add({ projectId: id, number: Date.now(), sourceCount: 1, hook: null });
  const issue = (name: string) => store.keys.issue({ name, orgId, projectId: id, access: 'write' });
  const [valid, revoked] = [await issue('valid'), await issue('revoked')];
  await store.keys.revoke(revoked.key._id);
  const queue = new JobQueue(store.db);
  const jobs: QueuedJob[] = [];
  while (jobs.length < jobCount) {
    const next = Array.from({ length: 25 }, (_, n) => job(id, jobs.length + n));
    jobs.push(...(await queue.add(next.slice(0, jobCount - jobs.length))));
  }
  const prewarm = await store.prewarms.add(id, jobs, jobs.length);
  await new Callbacks(store.db).add({
    projectId: id,
    url: 'https://e.test/',
    subject: 'prewarm',
    id: prewarm,
  });
  const [first, second] = jobs.map((queued) => queued.id);
  if (first === undefined || second === undefined) throw new Error('no jobs are queued');
  return { id, orgId, valid, revoked, prewarm, first, second };
}

const usual: StoreCopyOptions = { dryRun: false, deletes: false, merges: false };

/** Copies; returns the counts by collection. */
async function copied(from: Store, to: Store, options: Partial<StoreCopyOptions> = {}) {
  const { collections, verified } = await copyStore(from.db, to.db, { ...usual, ...options });
  const counts = new Map([...collections].map(([name, pass]) => [name, pass.counts]));
  return { verified, counts, of: (name: string) => counts.get(name) };
}

const changes = ({ counts }: Awaited<ReturnType<typeof copied>>) =>
  [...counts.values()].reduce((sum, one) => sum + one.added + one.updated + one.deleted, 0);

t.test('a copy has all documents that a service needs, and can be copied back', async (t) => {
  const [from, to] = [await openTestStore(t, 'embedded'), await openTestStore(t, 'of the tests')];
  const { id, orgId, valid, revoked, first, prewarm } = await fill(from, 250);
  const queued = from.db.collection('jobs');
  await queued.updateOne({ _id: first }, { $set: { lockedAt: new Date(), nextRunAt: null } });

  const planned = await copied(from, to, { dryRun: true });
  t.match(planned.of('projects'), { read: 1, added: 1 });
  t.equal((await to.projects.list()).length, 0, 'a dry run changes nothing');

  const copy = await copied(from, to);
  t.ok(copy.verified);
  t.match(copy.of('jobs'), { read: 251, added: 250, left: 1 }, 'a running job stays');
  t.same(await to.projects.find(id), await from.projects.find(id));
  t.same(await to.keys.findBySecret(valid.secret), valid.key);
  t.type((await to.keys.findBySecret(revoked.secret))?.revokedAt, Date);
  t.equal((await to.organisations.default())._id, orgId);
  t.same(await to.organisations.list(), await from.organisations.list());
  t.match(await to.prewarms.find(id, prewarm), { sourceCount: 250, status: 'accepted' });
  t.equal(changes(await copied(from, to)), 0, 'a repeated copy changes nothing');

  const back = await openTestStore(t, 'embedded');
  t.ok((await copied(to, back)).verified);
  t.same(await back.projects.find(id), await from.projects.find(id));
  t.equal(changes(await copied(from, back)), 0, 'and is the same after both ways');
});

t.test('copies of usage have every count once', async (t) => {
  const [a, b] = [await openTestStore(t, 'of the tests'), await openTestStore(t, 'embedded')];
  await fill(a);
  const day = { project: 'prj_1', date: '2026-11-22' };
  const totals = (writer: string, requests: number) => [{ ...day, writer, counts: { requests } }];
  const sumOf = async ({ usage }: Store) => {
    const found = await usage.find(day.project, day.date, day.date);
    const counts = found.flatMap(({ by }) => [...by.values()]);
    return counts.reduce((sum, { requests = 0 }) => sum + requests, 0);
  };
  await a.usage.write(totals('p1', 100));
  t.match((await copied(a, b, { dryRun: true })).of('usage'), { read: 1, added: 1 });
  t.match((await copied(a, b)).of('usage'), { read: 1, added: 1, equal: 1 });
  t.equal(await sumOf(b), 100);

  await a.usage.write(totals('p1', 1_000));
  await a.usage.end(totals('p1', 1_000));
  await a.usage.write(totals('p2', 1));
  t.match((await copied(a, b)).of('usage'), { updated: 1, equal: 1 });
  t.equal(await sumOf(b), 1_001, 'also of a process that has ended');
  t.equal(changes(await copied(a, b)), 0, 'it can be repeated');

  await b.usage.write(totals('p3', 70));
  await b.usage.end(totals('p3', 70));
  await a.usage.write(totals('p2', 5));
  t.ok((await copied(a, b)).verified);
  t.equal(await sumOf(b), 1_075, 'what the target has counted stays');
  t.ok((await copied(b, a)).verified);
  t.equal(await sumOf(a), 1_075, 'back');
  t.equal(changes(await copied(a, b)), 0);

  const third = await openTestStore(t, 'embedded');
  await copied(b, third);
  t.equal(changes(await copied(a, third)), 0);
  t.equal(await sumOf(third), 1_075, 'also in the copy of a copy');
});

t.test('a store is not copied to itself', async (t) => {
  const store = await openTestStore(t, 'of the tests');
  await fill(store);
  await t.rejects(copied(store, store), CopyRefused);
});

t.test('a repeated copy copies changes, and keeps newer documents', async (t) => {
  const [from, to] = [await openTestStore(t, 'of the tests'), await openTestStore(t, 'embedded')];
  const { id, orgId, valid, revoked, first, second } = await fill(from);
  await copied(from, to);
  const follower = to.projects.followChanges();
  await follower.next();

  await from.projects.removePreset(id, 'card');
  await from.projects.addHost(id, 'new.test');
  await from.keys.revoke(valid.key._id);
  const queued = from.db.collection('jobs');
  const ended = { nextRunAt: null, lastFinishedAt: new Date() };
  await queued.updateOne({ _id: first }, { $set: ended, $unset: { waitingKey: '' } });
  const again = await copied(from, to);
  t.ok(again.verified);
  for (const name of ['projects', 'keys', 'jobs']) t.match(again.of(name), { updated: 1 }, name);
  t.same(await to.projects.find(id), await from.projects.find(id));
  t.match(await follower.next(), [{ _id: id }], 'processes that use the copy notice it');

  await to.projects.addHost(id, 'later.test');
  await from.keys.revoke(revoked.key._id);
  await from.db
    .collection('keys')
    .updateOne({ _id: valid.key._id as never }, { $set: { revokedAt: null } });
  await to.db.collection('jobs').updateOne({ _id: second }, { $set: { lockedAt: new Date() } });
  const other = { _id: second };
  await queued.updateOne(other, { $set: { priority: 5 } });
  const third = await copied(from, to);
  t.ok(third.verified);
  for (const name of ['projects', 'keys', 'jobs'])
    t.match(third.of(name), { kept: 1, updated: 0 }, name);
  t.ok((await to.projects.find(id))?.allowedOrigins.includes('later.test'));

  const extra = { orgId, name: 'Extra', origin: 'https://x.test/', allowedOrigins: [] };
  const { _id: own } = await to.projects.create(extra);
  t.match((await copied(from, to)).of('projects'), { deleted: 0 });
  t.match((await copied(from, to, { deletes: true })).of('projects'), { deleted: 1 });
  t.equal(await to.projects.find(own), null);
});

t.test('a job that has failed in the copy waits for its next attempt there', async (t) => {
  const [from, to] = [await openTestStore(t, 'of the tests'), await openTestStore(t, 'embedded')];
  const { first } = await fill(from);
  await copied(from, to);
  const at = (second: number) => new Date(Date.UTC(2026, 10, 22, 12, 0, second));
  const runIn = (store: Store, second: number, failCount: number) =>
    store.db
      .collection('jobs')
      .updateOne(
        { _id: first },
        { $set: { failCount, lastRunAt: at(second), nextRunAt: at(second + 30) } },
      );
  await runIn(to, 10, 3);
  t.match((await copied(from, to)).of('jobs'), { kept: 1, updated: 0 });
  t.match(await to.db.collection('jobs').findOne({ _id: first }), { failCount: 3 });
  await runIn(from, 20, 4);
  t.match((await copied(from, to)).of('jobs'), { kept: 0, updated: 1 }, 'a later attempt');
  t.match(await to.db.collection('jobs').findOne({ _id: first }), { failCount: 4 });
});

t.test('a purge that is done in the copy stays done', async (t) => {
  const [from, to] = [await openTestStore(t, 'of the tests'), await openTestStore(t, 'embedded')];
  const { id } = await fill(from);
  await from.purges.add({ projectId: id, number: 1, sourceCount: 0, hook: null });
  await copied(from, to);
  const deleted = (store: Store, name: string) =>
    store.purges.deleted(id, 1, { name, images: 4, deletedAt: new Date() });
  await deleted(from, 'a');
  t.match((await copied(from, to)).of('purges'), { updated: 1 });
  await deleted(to, 'b');
  t.match((await copied(from, to)).of('purges'), { kept: 1, updated: 0 });
  t.match(await to.purges.find(id, '1'), { machines: [{ name: 'a' }, { name: 'b' }] });
});

t.test('nothing is lost while the store is written to', async (t) => {
  const [from, to] = [await openTestStore(t, 'embedded'), await openTestStore(t, 'of the tests')];
  const { id, orgId } = await fill(from);
  let stopped = false;
  const created: string[] = [];
  const writing = (async () => {
    for (let n = 0; !stopped; n++) {
      const fields = { orgId, name: `${n}`, origin: 'https://e.test/', allowedOrigins: [] };
      created.push((await from.projects.create(fields))._id);
      await from.projects.addHost(id, `h${n}.test`);
    }
  })();
  await until('it is written to', () => created.length > 3);
  const meanwhile = await copied(from, to);
  t.equal(meanwhile.of('jobs')?.equal, 21);
  stopped = true;
  await writing;
  const last = await copied(from, to);
  t.ok(last.verified);
  t.match(last.of('projects'), { read: created.length + 1, equal: created.length + 1 });
  t.same(await to.projects.list(), await from.projects.list());
});

t.test('the data of another deployment is not changed without the option', async (t) => {
  const [from, to] = [await openTestStore(t, 'of the tests'), await openTestStore(t, 'embedded')];
  await t.rejects(copied(from, to), CopyRefused, 'an empty source');
  const { id } = await fill(from);
  const { id: other, orgId } = await fill(to);
  await t.rejects(copied(from, to), CopyRefused);
  t.equal(await to.projects.find(id), null);
  t.ok((await copied(from, to, { merges: true })).verified);
  t.same(await to.projects.find(id), await from.projects.find(id));
  t.ok(await to.projects.find(other));
  t.equal((await to.organisations.default())._id, orgId, 'its own default');
});

t.test(
  'of two deployments that are copied to an empty store at once, one is refused',
  async (t) => {
    const sources = [await openTestStore(t, 'embedded'), await openTestStore(t, 'embedded')];
    const to = await openTestStore(t, 'of the tests');
    for (const from of sources) await from.organisations.default();
    const results = await Promise.allSettled(sources.map((from) => copied(from, to)));
    const refusals = results.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    t.equal(refusals.length, 1);
    t.type(refusals[0], CopyRefused);
    const winner = sources[results.findIndex(({ status }) => status === 'fulfilled')];
    t.same(await to.organisations.list(), await winner?.organisations.list());
  },
);

t.test('each collection in the code is copied, or excluded for a reason', async (t) => {
  const known = new Set([
    ...copiedCollections.map(({ name }) => name),
    ...Object.keys(excludedCollections),
  ]);
  const names = new Set<string>();
  for (const folder of ['store', 'server', 'worker']) {
    for (const entry of await readdir(join(rootPath, folder), { recursive: true })) {
      if (!entry.endsWith('.ts') || entry.startsWith('embedded')) continue;
      const text = await readFile(join(rootPath, folder, entry), 'utf8');
      const named = /(?:\.collection(?:<[^>]+>)?\(|new Records\((?:this\.#)?db, )'(\w+)'/g;
      for (const [, name = ''] of text.matchAll(named)) names.add(name);
    }
  }
  for (const name of ['projects', 'keys', 'prewarms', 'deployments']) t.ok(names.has(name), name);
  t.same(
    [...names].filter((name) => !known.has(name)),
    [],
  );
});

t.test('a URL is shown without its credentials, or is refused', async (t) => {
  t.equal(
    addressOf('mongodb://user:p%40ss@a.test:27018,b.test/images?authSource=admin&tls=true'),
    'mongodb://a.test:27018,b.test:27017/images',
  );
  t.equal(addressOf('mongodb://u:p@a.test/db?appName=b@c'), 'mongodb://a.test:27017/db');
  t.equal(addressOf('mongodb+srv://u:p@a.test'), 'mongodb+srv://a.test/image_delivery');
  for (const url of ['mongodb://u:secret://x@a.test/db', 'mongodb://u:secret@x@a.test/db']) {
    try {
      t.fail(addressOf(url));
    } catch (error) {
      t.match(error, { name: 'StoreUrlInvalid' });
      t.notMatch(String(error), /secret/);
    }
  }
});
