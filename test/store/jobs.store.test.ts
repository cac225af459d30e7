import type { JobParameters } from 'agenda';
import type { Db } from 'mongodb';
import t, { type Test } from 'tap';
import { createAgenda, LockLost } from '../../store/agenda.ts';
import { JobQueue } from '../../store/jobs.ts';
import {
  lockLifetimeMs,
  prewarmJobName as name,
  type PrewarmJob,
} from '../../store/waiting-jobs.ts';
import { storeLink } from '../server/store-link.ts';
import { until } from '../until.ts';
import { testDatabase } from './connection.ts';
import { prewarmJob } from './prewarm-job.ts';

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
  const queue = new JobQueue(db, maxWaiting);
  await queue.ensureIndexes();
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
    other: new JobQueue(db, maxWaiting),
    claim,
    start,
    /** Adds jobs in calls as small as the service's, which end within the store's deadline. */
    addAll: async (jobs: readonly PrewarmJob[]) => {
      for (let from = 0; from < jobs.length; from += 20)
        await queue.add(jobs.slice(from, from + 20));
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
  const { queue, other, stored, take, end } = await startQueue(t);
  const jobs = createJobs(shop, 10);
  await Promise.all([queue, other, queue].map((each) => each.add(jobs)));
  t.equal(await stored.countDocuments(), 10);

  const taken = await take();
  const running = await stored.findOne({ lockedAt: { $ne: null } });
  t.match(running, { turn: undefined, waitingKey: undefined });
  await queue.add(jobs);
  t.equal(await stored.countDocuments(), 11, 'a running job can be queued again');
  await end(taken, new Date(Date.now() + 60_000));
  t.equal(await stored.countDocuments(), 10, 'which replaces the next attempt of a failed job');

  const failed = await take();
  await end(failed, new Date(Date.now() + 60_000));
  await queue.add(jobs);
  t.equal(await stored.countDocuments(), 10, 'a failed job waits for its next attempt');
  t.match(await queue.stats(), { active: 0, waiting: 9, delayed: 1, failed: 0 });

  const done = await take();
  await end(done);
  await queue.add(jobs);
  t.equal(await stored.countDocuments(), 11, 'an ended job can be queued again');
  t.match(await queue.stats(), { active: 0, waiting: 9, delayed: 1, failed: 1 });
});

t.test("releases a stopping worker's jobs, and runs each once", async (t) => {
  const { queue, stored, take } = await startQueue(t);
  await queue.add(createJobs(shop, 3));
  await stored.updateMany({}, { $set: { nextRunAt: new Date(Date.now() - 3_600_000) } });
  const { oldestWaitingMs } = await queue.stats();
  t.ok(oldestWaitingMs >= 3_600_000 && oldestWaitingMs < 7_200_000);
  await take();
  await take();
  await queue.add(createJobs(shop, 1));
  t.match(await queue.stats(), { active: 2, waiting: 2 });
  await queue.release('worker');
  t.match(await queue.stats(), { active: 0, waiting: 3 });
  t.equal(await stored.countDocuments(), 3);
  const sources = new Set<unknown>();
  for (let i = 0; i < 3; i += 1) sources.add((await take())?.data.source);
  t.equal(sources.size, 3);
  t.equal(await take(), undefined);
});

t.test('takes no job while an earlier job has not started', async (t) => {
  const { queue, stored, claim, start, addAll } = await startQueue(t);
  await addAll(createJobs(shop, 300));
  const taken: JobParameters[] = [];
  /** Resolves when the oldest job has waited too long. */
  const claimAll = () =>
    until('no further job', async () => {
      const job = await claim();
      if (job !== undefined) taken.push(job);
      return job === undefined;
    });
  const oldest = () => {
    const job = taken.shift();
    if (job === undefined) throw new Error('no job was taken');
    return job;
  };
  await claimAll();
  t.ok((await queue.stats()).waiting > 0);
  const first = oldest();
  const findLock = async ({ data }: JobParameters) =>
    (await stored.findOne({ data }))?.['lockedAt'];
  const lockedAt = await findLock(first);
  await start(first);
  t.ok((await findLock(first)) > lockedAt, 'a job that starts late renews its lock');

  await claimAll();
  const second = oldest();
  await stored.updateOne({ data: second.data }, { $set: { lastModifiedBy: 'another' } });
  await t.rejects(start(second), LockLost, 'unless another worker has it');
  for (const job of taken) await start(job);
  t.ok(await claim());
});

t.test('does not pile up claims while the store is silent', async (t) => {
  const link = await storeLink(t);
  const { queue, take } = await startQueue(t, { db: link.db });
  await queue.add(createJobs(shop, 3));
  link.hold();
  const answers: unknown[] = [];
  const claims = Array.from({ length: 10 }, async () => answers.push(await take()));
  await until('eight answers', () => answers.length === 8);
  t.ok(answers.every((job) => job === undefined));
  link.release();
  await Promise.all(claims);
  t.equal(answers.filter((job) => job !== undefined).length, 2);
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
  const { queue, stored, take } = await startQueue(t);
  await queue.add(createJobs(shop, 3));
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

t.test('gives projects turns by their numbers of variants', async (t) => {
  const { queue, take, end, addAll } = await startQueue(t);
  /** Takes jobs, and returns the initials of their projects. */
  const takeSome = async (count: number) => {
    let order = '';
    for (let i = 0; i < count; i += 1) {
      const job = await take();
      order += job?.data.projectId === shop ? 's' : 'p';
      await end(job);
    }
    return order;
  };
  await addAll(createJobs(shop, 40));
  t.equal(await takeSome(20), 's'.repeat(20));
  await queue.add(createJobs(press, 4));
  t.equal((await takeSome(9)).replaceAll('s', ''), 'pppp', 'each second job');
  await queue.add(createJobs(press, 2, { variants: ['w=1', 'w=2', 'w=3', 'w=4'] }));
  // The order of jobs in the same turn is undefined.
  t.match(await takeSome(11), /^s{4,5}ps{3,5}ps*$/, 'four variants for four');
});

t.test('gives a retry its turn when it is due', async (t) => {
  const { queue, take, end, stored, addAll } = await startQueue(t);
  await addAll(createJobs(shop, 30));
  const first = await take();
  await end(first, new Date(Date.now() + 3_600_000));
  await take();
  await stored.updateOne({ failCount: 1 }, { $set: { nextRunAt: new Date() } });
  await queue.add(createJobs(press, 1));
  // A job waits behind its project's other jobs, and does not delay other projects.
  const taken: (string | undefined)[] = [];
  for (let job = await take(); job !== undefined; job = await take()) {
    taken.push(job.data.projectId);
    if (job.failCount === 1) taken.push('the next attempt');
  }
  t.ok(taken.indexOf(press) <= 2, 'the other project');
  t.equal(taken.at(-1), 'the next attempt');
  t.equal(taken.length, 28 + 1 + 1 + 1);
});

t.test('adds no job of a call with more jobs than the maximum', async (t) => {
  const { queue, other, stored, take, end } = await startQueue(t, { maxWaiting: 25 });
  const call = (from: number, count: number) => createJobs(shop, from + count).slice(from);
  await queue.add(call(0, 20));
  const full = { name: 'QueueFull', waiting: 20, added: 6, maxWaiting: 25 };
  await t.rejects(queue.add(call(20, 6)), full);
  t.equal(await stored.countDocuments(), 20, 'none was added');
  await t.resolves(queue.add(createJobs(press, 20)), 'the maximum is per project');
  await t.resolves(queue.add(call(0, 25)), 'jobs that wait already count once');
  await t.rejects(queue.add(call(24, 2)), { name: 'QueueFull', waiting: 25, added: 1 });
  await t.resolves(other.add(call(0, 25)));
  t.equal(await stored.countDocuments({ 'data.projectId': shop }), 25);

  await end(await take());
  const calls = Array.from({ length: 10 }, (_, i) => queue.add(call(100 + i, 1)));
  const accepted = (await Promise.allSettled(calls)).filter((each) => each.status === 'fulfilled');
  t.equal(accepted.length, 1);
  t.equal(await stored.countDocuments({ waitingKey: { $gte: shop, $lt: `${shop};` } }), 25);
});

t.test('counts jobs that another call adds during the count', async (t) => {
  const { db } = await testDatabase(t);
  const stored = db.collection('jobs');
  const insert = stored.insertOne.bind(stored);
  const count = stored.countDocuments.bind(stored);
  db.collection = () => stored as never;
  const queue = new JobQueue(db, 1);
  await queue.ensureIndexes();
  const [job, otherJob] = createJobs(shop, 2) as [PrewarmJob, PrewarmJob];
  let other: Promise<unknown> = Promise.resolve();
  // The other call counts before this insert and continues after the first call has ended.
  stored.insertOne = (document) =>
    new Promise((resolve) => {
      stored.insertOne = insert;
      stored.countDocuments = async (filter) => {
        const waiting = await count(filter);
        resolve(insert(document));
        await first;
        return waiting;
      };
      other = queue.add([otherJob]);
    });
  const first = queue.add([job]);
  await first;
  await t.rejects(other, { name: 'QueueFull', waiting: 0, added: 1 });
});

t.test('runs jobs of an earlier version, and duplicates once', async (t) => {
  const data = { ...createJob('https://a.example/old'), fingerprint: 'f'.repeat(64) };
  const old = { name, type: 'normal', priority: 0, lockedAt: null, data };
  const documents = [2_000, 1_000].map((ago) => ({
    ...old,
    nextRunAt: new Date(Date.now() - ago),
  }));
  const { queue, stored, take } = await startQueue(t, { documents });
  t.match(await queue.stats(), { waiting: 2 });
  t.match(await take(), { data: { source: 'https://a.example/old' } });
  t.equal(await take(), undefined);
  t.equal(await stored.countDocuments(), 1, 'once');
});
