import type { JobParameters } from 'agenda';
import type { Db } from 'mongodb';
import t, { type Test } from 'tap';
import { createAgenda, LockLost } from '../../store/agenda.ts';
import {
  createWaitingJob,
  JobQueue,
  lockLifetimeMs,
  prewarmJobName as name,
  type PrewarmJob,
} from '../../store/jobs.ts';
import { Prewarms } from '../../store/prewarms.ts';
import { more } from '../extended.ts';
import { storeLink } from '../server/store-link.ts';
import { until } from '../until.ts';
import { testDatabase } from './connection.ts';
import { prewarmCall, prewarmJob } from './prewarm-job.ts';
import { differs } from './servers.ts';

const [shop, press] = ['prj_0123456789abcdef', 'prj_fedcba9876543210'];

const createJob = (source: string, more: Partial<PrewarmJob> = {}): PrewarmJob =>
  prewarmJob({ projectId: shop, source, ...more });
const createJobs = (projectId: string, count: number, more: Partial<PrewarmJob> = {}) =>
  Array.from({ length: count }, (_, i) =>
    createJob(`https://a.example/${i}`, { projectId, ...more }),
  );

interface Options {
  readonly maxWaiting?: number;
  /** Documents stored before the queue opens. */
  readonly documents?: readonly object[];
  readonly db?: Db;
}

async function startQueue(t: Test, { maxWaiting, documents = [], db: given }: Options = {}) {
  const db = given ?? (await testDatabase(t)).db;
  for (const document of documents) await db.collection('jobs').insertOne(document);
  const queue = new JobQueue(db);
  await queue.ensureIndexes();
  /** Adds jobs like a process of its own. */
  const adder = async () => {
    const prewarms = new Prewarms(db, maxWaiting);
    await prewarms.ensureIndexes();
    return (jobs: readonly PrewarmJob[]) => prewarms.add(prewarmCall(jobs));
  };
  const [add, addElsewhere] = [await adder(), await adder()];
  const agenda = createAgenda(db);
  await agenda.ready;
  const repository = agenda.db;
  const by = { lastModifiedBy: 'worker' };
  const claim = async () => {
    const job = await repository.getNextJobToRun(name, new Date(), new Date(0), undefined, by);
    return job as JobParameters<PrewarmJob> | undefined;
  };
  const start = (job: JobParameters) => repository.saveJobState(job, by);
  return {
    queue,
    stored: db.collection('jobs'),
    add,
    addElsewhere,
    claim,
    start,
    /** Adds jobs in calls as small as the service's, which end within the store's deadline. */
    addAll: async (jobs: readonly PrewarmJob[]) => {
      for (let from = 0; from < jobs.length; from += 20) await add(jobs.slice(from, from + 20));
    },
    /** Takes and starts the next job as a worker. */
    take: async () => {
      const job = await claim();
      if (job !== undefined) await start(job);
      return job;
    },
    /** Saves the end of a taken job. */
    end: async (job: JobParameters<PrewarmJob> | undefined, retryAt?: Date) => {
      if (job === undefined) throw new Error('no job was taken');
      const { lockedAt: _, ...ended } = job;
      const nextRunAt = retryAt ?? null;
      const state = { ...ended, nextRunAt, failCount: 1, lastFinishedAt: new Date() };
      await repository.saveJobState(state, by);
    },
  };
}

t.test('queues equal jobs once if clients add them concurrently', async (t) => {
  const { queue, add, addElsewhere, stored, take, end } = await startQueue(t);
  const jobs = createJobs(shop, 10);
  await Promise.all([add, addElsewhere, add].map((each) => each(jobs)));
  t.equal(await stored.countDocuments(), 10);

  const taken = await take();
  const running = await stored.findOne({ lockedAt: { $ne: null } });
  t.match(running, { turn: undefined, waitingKey: undefined });
  await add(jobs);
  t.equal(await stored.countDocuments(), 11, 'a running job can be queued again');
  await end(taken, new Date(Date.now() + 60_000));
  t.equal(await stored.countDocuments(), 10, 'which replaces the next attempt of a failed job');

  const failed = await take();
  await end(failed, new Date(Date.now() + 60_000));
  await add(jobs);
  t.equal(await stored.countDocuments(), 10, 'a failed job waits for its next attempt');
  t.match(await queue.stats(), { active: 0, waiting: 9, delayed: 1, failed: 0 });

  const done = await take();
  await end(done);
  await add(jobs);
  t.equal(await stored.countDocuments(), 11, 'an ended job can be queued again');
  t.match(await queue.stats(), { active: 0, waiting: 9, delayed: 1, failed: 1 });
});

t.test("releases a stopping worker's jobs, and runs each once", async (t) => {
  const { queue, add, stored, take } = await startQueue(t);
  await add(createJobs(shop, 3));
  await stored.updateMany({}, { $set: { nextRunAt: new Date(Date.now() - 3_600_000) } });
  const { oldestWaitingMs } = await queue.stats();
  t.ok(oldestWaitingMs >= 3_600_000 && oldestWaitingMs < 7_200_000);
  await take();
  await take();
  await add(createJobs(shop, 1));
  t.match(await queue.stats(), { active: 2, waiting: 2 });
  await queue.release('worker');
  t.match(await queue.stats(), { active: 0, waiting: 3 });
  t.equal(await stored.countDocuments(), 3);
  const sources = new Set<unknown>();
  for (let i = 0; i < 3; i += 1) sources.add((await take())?.data.source);
  t.equal(sources.size, 3);
  t.equal(await take(), undefined);
});

t.test('renews the lock of a job that starts late, unless another worker has it', async (t) => {
  const { add, stored, claim, start } = await startQueue(t);
  await add(createJobs(shop, 2));
  const [first, second] = [await claim(), await claim()];
  if (first === undefined || second === undefined) throw new Error('no job was taken');
  const findLock = async ({ data }: JobParameters) =>
    (await stored.findOne({ data }))?.['lockedAt'];
  t.equal(first.lockedAt, undefined, 'Agenda would drop a job whose lock expires before it starts');
  const lockedAt = await findLock(first);
  await until('a later time', () => Date.now() > Number(lockedAt));
  await start(first);
  t.ok((await findLock(first)) > lockedAt);
  await stored.updateOne({ data: second.data }, { $set: { lastModifiedBy: 'another' } });
  await t.rejects(start(second), LockLost);
});

t.test('does not pile up claims while the store is silent', async (t) => {
  const link = await storeLink(t);
  const { add, take } = await startQueue(t, { db: link.db });
  await add(createJobs(shop, 3));
  link.hold();
  const answers: unknown[] = [];
  const claims = Array.from({ length: 10 }, async () => answers.push(await take()));
  await until('nine answers', () => answers.length === 9);
  t.ok(answers.every((job) => job === undefined));
  link.release();
  await Promise.all(claims);
  t.equal(answers.filter((job) => job !== undefined).length, 1);
  t.ok(await take());
});

t.test('stops counting jobs if the store does not respond', async (t) => {
  const link = await storeLink(t);
  const { queue } = await startQueue(t, { db: link.db });
  link.hold();
  await t.rejects(queue.stats(), { name: 'StoreUnavailable' });
  link.release();
  t.match(await queue.stats(), { active: 0, waiting: 0 });
});

t.test("counts a dead worker's jobs as waiting, not active", async (t) => {
  const { queue, add, stored, take } = await startQueue(t);
  await add(createJobs(shop, 3));
  await take();
  await take();
  await stored.updateMany({}, { $set: { nextRunAt: null } });
  t.match(await queue.stats(), { active: 2, waiting: 0, oldestWaitingMs: 0 });
  const diedAt = new Date(Date.now() - lockLifetimeMs - 60_000);
  await stored.updateOne({ lockedAt: { $ne: null } }, { $set: { lockedAt: diedAt } });
  const { active, waiting, oldestWaitingMs } = await queue.stats();
  t.same([active, waiting], [1, 1]);
  t.ok(oldestWaitingMs >= 60_000 && oldestWaitingMs < 120_000, `${oldestWaitingMs} ms`);
  t.match(await queue.stats('callback'), { active: 0, waiting: 0 }, 'of another kind');
});

t.test('gives each free place to the next project', async (t) => {
  const { add, take, end, addAll } = await startQueue(t);
  await addAll(createJobs(shop, 40));
  await add(createJobs(press, 4));
  let order = '';
  for (let i = 0; i < 20; i += 1) {
    const job = await take();
    order += job?.data.projectId === shop ? 's' : 'p';
    await end(job);
  }
  t.equal(order, `spspspsp${'s'.repeat(12)}`);
});

t.test('gives ten projects a job each, although one of them has thousands', async (t) => {
  const { stored, take, end } = await startQueue(t);
  const projects = Array.from({ length: 10 }, (_, n) => `prj_000000000000000${n}`);
  const store = async (projectId: string, count: number) => {
    const jobs = createJobs(projectId, count).map((job) =>
      createWaitingJob(name, { ...job, fingerprint: job.source }, new Date()),
    );
    for (let from = 0; from < count; from += 100) {
      await Promise.all(jobs.slice(from, from + 100).map((job) => stored.insertOne(job)));
    }
  };
  const [, , , large = ''] = projects;
  await store(large, more ? 5_000 : 1_000);
  await take();
  await end(await take());
  for (const project of projects) if (project !== large) await store(project, 2);
  const claims = async () => {
    const taken: unknown[] = [];
    for (const _ of projects) taken.push((await take())?.data.projectId);
    return taken.sort();
  };
  t.same(await claims(), projects);
  t.same(await claims(), projects);
  t.same(await claims(), Array(10).fill(large));
});

t.test("takes a project's jobs by age, and a retry when it is due", async (t) => {
  const { add, take, end, stored } = await startQueue(t);
  await add(createJobs(shop, 3));
  const makeDue = (n: number, ago: number) =>
    stored.updateOne(
      { 'data.source': `https://a.example/${n}` },
      { $set: { nextRunAt: new Date(Date.now() - ago) } },
    );
  for (const [n, ago] of [1_000, 3_000, 2_000].entries()) await makeDue(n, ago);
  const takeSource = async () => (await take())?.data.source.at(-1);
  const first = await take();
  t.equal(first?.data.source.at(-1), '1');
  await end(first, new Date(Date.now() + 3_600_000));
  t.same([await takeSource(), await takeSource(), await takeSource()], ['2', '0', undefined]);
  await makeDue(1, 0);
  t.match(await take(), { failCount: 1 });
});

t.test('adds no job of a call with more jobs than the maximum', async (t) => {
  const { add, addElsewhere, stored, take, end } = await startQueue(t, { maxWaiting: 25 });
  const call = (from: number, count: number) => createJobs(shop, from + count).slice(from);
  await add(call(0, 20));
  const full = { name: 'QueueFull', waiting: 20, added: 6, maxWaiting: 25 };
  await t.rejects(add(call(20, 6)), full);
  t.equal(await stored.countDocuments(), 20, 'none was added');
  await t.resolves(add(createJobs(press, 20)), 'the maximum is per project');
  await t.resolves(add(call(0, 25)), 'jobs that wait already count once');
  await t.rejects(add(call(24, 2)), { name: 'QueueFull', waiting: 25, added: 1 });
  await t.resolves(addElsewhere(call(0, 25)));
  t.equal(await stored.countDocuments({ 'data.projectId': shop }), 25);

  await end(await take());
  const calls = Array.from({ length: 10 }, (_, i) => add(call(100 + i, 1)));
  const accepted = (await Promise.allSettled(calls)).filter((each) => each.status === 'fulfilled');
  t.equal(accepted.length, 1);
  t.equal(
    await stored.countDocuments({
      waitingKey: { $gte: `prewarm:${shop}:`, $lt: `prewarm:${shop};` },
    }),
    25,
  );
});

t.test('holds the maximum if processes add jobs at once, and uses all of it', async (t) => {
  const { db } = await testDatabase(t);
  const { stored } = await startQueue(t, { db });
  const calls = Array.from({ length: 12 }, async (_, process) => {
    const prewarms = new Prewarms(db, 8);
    return prewarms.add(prewarmCall([createJob(`https://a.example/${process}`)]));
  });
  const ended = await Promise.allSettled(calls);
  const accepted = ended.filter(({ status }) => status === 'fulfilled').length;
  t.equal(await stored.countDocuments(), accepted);
  t.ok(accepted <= 8, `${accepted} of 8`);
  if (await differs('contention')) return;
  t.equal(accepted, 8);
  for (const call of ended) {
    if (call.status === 'rejected') t.match(call.reason, { name: 'QueueFull' });
  }
});

t.test('queues nothing of a call whose record cannot be stored', async (t) => {
  const { db } = await testDatabase(t);
  const { stored, queue } = await startQueue(t, { db });
  const failing = failingInserts(db, 'prewarms');
  await t.rejects(new Prewarms(failing).add(prewarmCall(createJobs(shop, 2))), /no space/);
  t.equal(await stored.countDocuments(), 0);
  t.match(await queue.stats(), { waiting: 0 });
});

t.test('accepts a call whose jobs cannot be stored, and queues them later', async (t) => {
  const { db } = await testDatabase(t);
  const { stored, add } = await startQueue(t, { db, maxWaiting: 3 });
  const failing = new Prewarms(failingInserts(db, 'jobs'));
  const id = await failing.add(prewarmCall(createJobs(shop, 2), 'https://a.example/ended'));
  t.equal(await stored.countDocuments(), 0);
  const others = createJobs(shop, 4).slice(2);
  await t.rejects(add(others), { name: 'QueueFull', waiting: 2 }, 'they count');

  const prewarms = new Prewarms(db);
  await prewarms.addPending();
  t.equal(await stored.countDocuments(), 0, 'not yet: its process can still be adding them');
  await db.collection('prewarms').updateOne({}, { $set: { pendingSince: new Date(1) } });
  await Promise.all([prewarms.addPending(), prewarms.addPending()]);
  t.equal(await stored.countDocuments({ name }), 2);
  t.equal(await stored.countDocuments({ name: 'callback', 'data.id': id }), 1);
  t.match(await prewarms.find(shop, id), { status: 'accepted', sources: { waiting: 2 } });
  t.match(await db.collection('prewarms').findOne({}), { pending: undefined });
  await prewarms.addPending();
  t.equal(await stored.countDocuments(), 3);
});

/** Returns a database in which inserts into a collection fail. */
const failingInserts = (db: Db, failing: string): Db =>
  ({
    collection: (name: string) => {
      const collection = db.collection(name);
      if (name === failing)
        collection.insertOne = async () => Promise.reject(new Error('no space'));
      return collection;
    },
  }) as Db;
