import type { Db, WithId } from 'mongodb';
import { pino } from 'pino';
import type { Test } from 'tap';
import { JobQueue } from '../../store/jobs.ts';
import { Prewarms } from '../../store/prewarms.ts';
import { Projects } from '../../store/projects.ts';
import { PurgeRepository } from '../../store/purges.ts';
import { Consumer, type ConsumerOptions } from '../../worker/consumer.ts';
import { WorkerMetrics } from '../../worker/metrics.ts';
import { createGuard } from '../pool/source/origin.ts';
import { testDatabase } from '../store/connection.ts';
import { prewarmCall, prewarmJob } from '../store/prewarm-job.ts';
import { until } from '../until.ts';
import { type Listener, startListener } from './listener.ts';

/** A queue in the tests' store, and a listener instead of the service. */
export interface TestQueue {
  readonly db: Db;
  readonly queue: JobQueue;
  readonly listener: Listener;
  /** Queues a job per source, by default with a single variant. */
  add(sources: readonly string[], widths?: readonly number[]): Promise<void>;
  /** Returns a consumer that ends with the test. */
  consume(options?: Partial<ConsumerOptions>): Promise<Consumer>;
  /** Returns the stored jobs by source. */
  jobs(): Promise<Job[]>;
  /** Resolves with the jobs once no job waits or runs. */
  ended(): Promise<Job[]>;
}

type Job = WithId<Record<string, unknown>>;

/** Returns the parts of a store that a consumer needs. */
export const workerStore = (db: Db): ConsumerOptions['store'] => ({
  db,
  projects: new Projects(db),
  prewarms: new Prewarms(db),
  purges: new PurgeRepository(db),
});

export async function startQueue(t: Test, given?: Db): Promise<TestQueue> {
  const listener = await startListener(t);
  const db = given ?? (await testDatabase(t)).db;
  const queue = new JobQueue(db);
  const prewarms = new Prewarms(db);
  await Promise.all([queue, prewarms].map((each) => each.ensureIndexes()));
  const jobs = (): Promise<Job[]> =>
    db.collection('jobs').find().sort({ 'data.source': 1 }).toArray();
  return {
    db,
    queue,
    listener,
    add: async (sources, widths = [100]) => {
      const variants = widths.map((width) => `fmt=webp&w=${width}`);
      const jobs = sources.map((source) => prewarmJob({ source, variants }));
      await prewarms.add(prewarmCall(jobs));
    },
    async consume(options = {}) {
      const consumer = new Consumer({
        store: workerStore(db),
        serviceUrl: listener.url,
        concurrency: 2,
        webhooks: { purgeHookUrl: null, hookSecrets: [], userAgent: 'test', guard: localGuard },
        log: pino({ level: 'silent' }),
        metrics: new WorkerMetrics(() => null),
        // Agenda keeps a process alive for up to half of it after a job's end.
        lockLifetimeMs: 4_000,
        ...options,
      });
      t.teardown(() => consumer.stop(1_000).catch(() => {}));
      await consumer.start();
      return consumer;
    },
    jobs,
    ended: () =>
      until('the end of all jobs', async () => {
        const all = await jobs();
        return all.every((job) => job['nextRunAt'] === null && job['lockedAt'] === null) && all;
      }),
  };
}

/** Allows this machine. */
export const localGuard = createGuard(['127.0.0.1:*']);
