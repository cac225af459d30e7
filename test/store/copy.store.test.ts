import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createAgenda } from '../../store/agenda.ts';
import { Callbacks } from '../../store/callbacks.ts';
import { addressOf } from '../../store/client.ts';
import { copiedCollections, excludedCollections } from '../../store/copy/copied-collections.ts';
import { CopyRefused, copyStore, type StoreCopyOptions } from '../../store/copy/copy-store.ts';
import { JobQueue, type QueuedJob } from '../../store/jobs.ts';
import { connectStore, ensureIndexes, openStore, type Store } from '../../store/open.ts';
import { type PrewarmJob, prewarmJobName } from '../../store/waiting-jobs.ts';
import { rootPath } from '../root.ts';
import { until } from '../until.ts';
import { testDatabase } from './connection.ts';
import { shortFolder } from './embedded/stores.ts';
import { prewarmJob } from './prewarm-job.ts';

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

const job = (projectId: string, n: number) =>
  prewarmJob({ projectId, source: `https://e.test/${n}.jpg` });

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

const usual: StoreCopyOptions = { dryRun: false, deletes: false, merges: false, keeps: false };

/** Copies; returns the counts by collection. */
async function copied(from: Store, to: Store, options: Partial<StoreCopyOptions> = {}) {
  const copy = await copyStore(from.db, to.db, { ...usual, ...options });
  const { collections, verified, conflicts } = copy;
  const counts = new Map([...collections].map(([name, pass]) => [name, pass.counts]));
  return { verified, conflicts, counts, of: (name: string) => counts.get(name) };
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

t.test('a repeated copy copies changes and deletions', async (t) => {
  const [from, to] = [await openTestStore(t, 'of the tests'), await openTestStore(t, 'embedded')];
  const { id, orgId, valid, first, second } = await fill(from);
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

  for (const host of ['a.test', 'b.test']) {
    await to.projects.addHost(id, host);
    await to.projects.removeHost(id, host);
  }
  const { revision = 0 } = (await to.projects.find(id)) ?? {};
  await from.projects.updateSettings(id, { defaultQuality: 42 });
  t.match((await copied(from, to)).of('projects'), { updated: 1, conflicts: 0 });
  const next = await to.projects.find(id);
  t.equal(next?.defaultQuality, 42);
  t.ok((next?.revision ?? 0) > revision, 'a higher revision than that which processes know');

  const extra = { orgId, name: 'Extra', origin: 'https://x.test/', allowedOrigins: [] };
  const { _id: own } = await to.projects.create(extra);
  await queued.deleteMany({ _id: second });
  t.match((await copied(from, to)).of('jobs'), { deleted: 0, others: 1 });
  const last = await copied(from, to, { deletes: true });
  t.match(last.of('jobs'), { deleted: 1, others: 0 }, 'a job that the source has deleted');
  t.match(last.of('projects'), { deleted: 0, others: 1 });
  t.ok(await to.projects.find(own), 'a project of the target is not deleted');
});

t.test('a repeated copy undoes nothing that has changed in the target', async (t) => {
  const [from, to] = [await openTestStore(t, 'of the tests'), await openTestStore(t, 'embedded')];
  const { id, orgId, valid, revoked, first, second, prewarm } = await fill(from);
  await from.projects.addHost(id, 'old.test');
  await copied(from, to);
  const follower = to.projects.followChanges();
  await follower.next();
  await follower.next();

  // The target is in use. Meanwhile the source was changed too, and purged: its revision is the time.
  await to.projects.removeHost(id, 'old.test');
  await to.projects.updateSettings(id, { defaultQuality: 41 });
  await to.projects.setPreset(id, 'hero', { w: '900' });
  await to.organisations.setProductAccess(orgId, false);
  await to.keys.revoke(valid.key._id);
  const inTarget = to.db.collection('jobs');
  await inTarget.updateOne({ _id: first }, { $set: { priority: 7 } });
  await inTarget.deleteMany({ _id: second });
  await from.projects.updateSettings(id, { defaultQuality: 99 });
  await from.projects.purge(id, ['fedcba9876543210']);
  await from.organisations.setProductAccess(orgId, true);
  const unrevoked = { $set: { revokedAt: null } };
  const keys = from.db.collection<{ _id: string }>('keys');
  await keys.updateOne({ _id: revoked.key._id }, unrevoked);
  const ended = { nextRunAt: null, lastFinishedAt: new Date() };
  await from.db.collection('jobs').updateMany({ _id: { $in: [first, second] } }, { $set: ended });

  const before = await to.projects.find(id);
  const planned = await copied(from, to, { dryRun: true });
  t.same(await to.projects.find(id), before, 'a dry run changes nothing');
  t.match(planned.of('projects'), { updated: 1 });

  const again = await copied(from, to);
  t.ok(again.verified);
  t.match(again.of('organisations'), { kept: 1, updated: 0 }, 'the source has not changed it');
  t.match(again.of('keys'), { kept: 2, updated: 0 }, 'a revocation is final');
  t.match(again.of('jobs'), { kept: 2, updated: 0 });
  t.match(await inTarget.findOne({ _id: first }), { priority: 7 });
  t.equal(await inTarget.findOne({ _id: second }), null, 'a deleted job does not run again');
  t.ok((await to.keys.findBySecret(valid.secret))?.revokedAt);
  t.match(again.conflicts, [{ collection: 'projects', id }], 'what both have changed is named');
  t.equal(again.conflicts.length, 1);
  const changed = ['allowedOrigins', 'defaultQuality', 'presets'];
  t.same([...(again.conflicts[0]?.fields ?? [])].sort(), changed);
  const after = await to.projects.find(id);
  t.match(after, { defaultQuality: 41, presets: { hero: { w: '900' }, card: { w: '400' } } });
  t.notOk(after?.allowedOrigins.includes('old.test'));

  const source = await from.projects.find(id);
  const [purged = {}, own = {}] = [source?.purges?.sources, after?.purges?.sources];
  t.same(Object.keys(own).sort(), Object.keys(purged).sort(), 'a purge is in effect in both');
  t.ok((after?.revision ?? 0) > (before?.revision ?? 0), 'with a version that processes load');
  t.match(await follower.next(), [{ _id: id }]);

  const kept = await copied(from, to, { keeps: true });
  t.match(kept.of('projects'), { kept: 1, updated: 0 });
  t.same(kept.conflicts, []);
  t.same((await copied(from, to)).conflicts, [], 'what was accepted is not named again');
  await from.projects.setPreset(id, 'new', { w: '1' });
  t.match((await copied(from, to)).conflicts, [{ id }], 'unless it changes again');
  t.same(await to.projects.find(id), after);
  t.ok(await to.prewarms.find(id, prewarm));
});

t.test('copied jobs get their turns among those of the target', async (t) => {
  const [from, to] = [await openTestStore(t, 'of the tests'), await openTestStore(t, 'embedded')];
  const { id } = await fill(from);
  const [source, target] = [from.db.collection('jobs'), to.db.collection('jobs')];
  // As after many earlier jobs.
  await source.updateMany({ turn: { $gte: 0 } }, { $set: { turn: 1_000_000 } });
  await copied(from, to);
  const own = Array.from({ length: 10 }, (_, n) => job('prj_0123456789abcdef', n));
  await new JobQueue(to.db).add(own);
  const agenda = createAgenda(to.db);
  await agenda.ready;
  const { db: repository } = agenda;
  const [name, by] = [prewarmJobName, { lastModifiedBy: 'worker' }];
  const projects = new Set<string>();
  for (let n = 0; n < own.length; n += 1) {
    const deadline = new Date(0);
    const next = await repository.getNextJobToRun(name, new Date(), deadline, undefined, by);
    if (next === undefined) throw new Error('no job was taken');
    await repository.saveJobState(next, by);
    projects.add((next.data as PrewarmJob).projectId);
  }
  t.equal(projects.size, 2);

  t.match((await copied(from, to)).of('jobs'), { updated: 0 }, 'a turn is no change');
  const waiting = { name, 'data.projectId': id, lockedAt: null };
  const { _id } = (await target.findOne(waiting)) ?? {};
  if (_id === undefined) throw new Error('no job waits');
  const ended = { $set: { nextRunAt: null }, $unset: { waitingKey: '', turn: '' } };
  await source.updateOne({ _id }, ended);
  t.match((await copied(from, to)).of('jobs'), { updated: 1 });
  t.match(await target.findOne({ _id }), { nextRunAt: null, turn: null }, 'it does not run again');
});

t.test('purges and revocations are joined without a conflict', async (t) => {
  const [from, to] = [await openTestStore(t, 'of the tests'), await openTestStore(t, 'embedded')];
  const { id, valid } = await fill(from);
  await copied(from, to);
  await to.projects.purge(id, ['aaaaaaaaaaaaaaaa']);
  await from.projects.updateSettings(id, { defaultQuality: 42 });
  const first = await copied(from, to);
  t.same(first.conflicts, [], 'a purge of the target only');
  t.ok(first.verified);
  t.equal((await to.projects.find(id))?.defaultQuality, 42, 'does not keep changes of the source');

  for (const store of [from, to]) await store.keys.revoke(valid.key._id);
  const revoked = (await to.keys.findBySecret(valid.secret))?.revokedAt;
  await from.projects.purge(id, ['bbbbbbbbbbbbbbbb']);
  await to.projects.purge(id, ['cccccccccccccccc']);
  const second = await copied(from, to);
  t.same(second.conflicts, [], 'purges and revocations of both');
  t.match(second.of('projects'), { updated: 1, kept: 1 });
  const purgesOf = async ({ projects }: Store) => (await projects.find(id))?.purges;
  const { sources = {} } = (await purgesOf(to)) ?? {};
  for (const letter of 'abc') t.ok(sources[letter.repeat(16)], letter);
  t.same((await to.keys.findBySecret(valid.secret))?.revokedAt, revoked);
  t.equal(changes(await copied(from, to)), 0);

  const back = await copied(to, from);
  t.same(back.conflicts, []);
  await copied(from, to);
  t.same(await purgesOf(from), await purgesOf(to));
  t.equal(changes(await copied(to, from)), 0);
});

t.test('a copy back takes the changes since the copy', async (t) => {
  const [a, b] = [await openTestStore(t, 'of the tests'), await openTestStore(t, 'embedded')];
  const { id } = await fill(a);
  await copied(a, b);
  await b.projects.removePreset(id, 'card');
  const back = await copied(b, a);
  t.same(back.conflicts, []);
  t.match(back.of('projects'), { updated: 1 });
  t.same((await a.projects.find(id))?.presets, {});

  // What was in the target before is a change too, although an earlier copy had it.
  await a.projects.setPreset(id, 'card', { w: '400' });
  await b.projects.updateSettings(id, { defaultQuality: 50 });
  t.match((await copied(b, a)).conflicts, [{ id, fields: ['defaultQuality', 'presets'] }]);
  t.match(await a.projects.find(id), { presets: { card: { w: '400' } }, defaultQuality: 80 });
});

t.test('machines that have deleted purged images are known in both stores', async (t) => {
  const [from, to] = [await openTestStore(t, 'of the tests'), await openTestStore(t, 'embedded')];
  const { id } = await fill(from);
  await from.purges.add({ projectId: id, number: 1, sourceCount: 0, hook: null });
  await copied(from, to);
  const deleted = (store: Store, name: string) =>
    store.purges.deleted(id, 1, { name, images: 4, deletedAt: new Date() });
  await deleted(to, 'b');
  await deleted(from, 'a');
  t.match((await copied(from, to)).of('purges'), { updated: 1 });
  const { machines = [] } = (await to.purges.find(id, '1')) ?? {};
  t.same(machines.map(({ name }) => name).sort(), ['a', 'b']);
  t.match((await copied(from, to)).of('purges'), { kept: 1, updated: 0 });
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
