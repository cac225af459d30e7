import t from 'tap';
import type { FrontEndStats } from '../../server/cluster/channel.ts';
import { Health, type HealthEnvironment } from '../../server/health.ts';
import { stopClock } from '../clock.ts';
import { respond } from './request.ts';

/** Returns the tested figures of a front end with one thread and one queue slot. */
const statsWith = (transforms: Partial<FrontEndStats['transforms']> = {}, refused = 0) =>
  ({
    memory: { bytes: 1, maxBytes: 10 },
    refused,
    transforms: { active: 0, queued: 0, concurrency: 1, maxQueue: 1, stuck: 0, ...transforms },
    sources: { fetching: 0 },
  }) as unknown as FrontEndStats;

const machineWith = (
  frontEnds: Readonly<Record<number, FrontEndStats>>,
  diskShortage: 'bytes' | 'inodes' | null = null,
) => {
  return () => ({ frontEnds, diskBytes: 5, diskMaxBytes: 50, diskShortage });
};

const seenAt = new Date('2026-11-26T10:00:00Z');

/**
 * Returns a front end's health with the given differences from normal, and its number of store
 * calls.
 */
function openHealth(given: Partial<HealthEnvironment> = {}) {
  const calls = { database: 0, queue: 0 };
  const health = new Health({
    store: {
      ping: async () => {
        calls.database += 1;
        return 1;
      },
    },
    storeAvailable: () => true,
    projects: { knowledge: { count: 0, confirmedAt: null }, status: 'ok' },
    queue: {
      stats: async () => {
        calls.queue += 1;
        return { active: 0, waiting: 0, delayed: 0, failed: 0, oldestWaitingMs: 0 };
      },
    },
    findWorker: async () => ({ seenAt, isMissing: false }),
    stats: () => statsWith(),
    machine: machineWith({}),
    readiness: () => 'ready',
    transformTimeoutMs: 40,
    sourceFormats: ['JPEG'],
    ...given,
  });
  const read = async () => {
    const response = await respond((request) => health.sendHealth(request), 'GET', '/api/health');
    return { httpStatus: response?.status, ...JSON.parse(String(response?.body)) };
  };
  return { read, calls };
}

t.test('returns the status and its reason, in the order of precedence', async (t) => {
  const store = { ping: () => Promise.reject(new Error('unavailable')) };
  const stuck = (count: number) =>
    machineWith({ 1: statsWith({ concurrency: 2, stuck: count }), 2: statsWith() }, 'bytes');
  const stalled = (stalledMs: number) => machineWith({ 1: statsWith({ stalledMs }) });
  const full = () => statsWith({ active: 1, queued: 1 }, 9);
  const cases: ReadonlyArray<readonly [string, string | undefined, Partial<HealthEnvironment>]> = [
    ['draining', 'The service is shutting down.', { readiness: () => 'draining', store }],
    ['unavailable', 'The store does not respond.', { store, machine: stuck(2) }],
    [
      'degraded',
      "A front end's transform threads do not terminate.",
      { machine: stuck(2), stats: () => statsWith({ stalledMs: 41 }) },
    ],
    ['degraded', 'The transform threads make no progress.', { machine: stalled(41) }],
    ['degraded', 'The disk of the data folder is full.', { machine: stuck(1) }],
    ['ok', undefined, { machine: stalled(40) }],
    ['ok', undefined, { stats: full }],
  ];
  for (const [status, reason, environment] of cases) {
    const ok = status === 'ok';
    const { read } = openHealth(environment);
    t.match(await read(), { httpStatus: ok ? 200 : 503, ok, status, reason }, reason ?? status);
  }
});

t.test("sums the front ends' figures, with current figures of its process", async (t) => {
  const others = { 1: statsWith({ stuck: 1 }, 3), [process.pid]: statsWith({}, 100) };
  const stats = () => statsWith({ active: 1, queued: 2 }, 4);
  const { checks } = await openHealth({ machine: machineWith(others, 'bytes'), stats }).read();
  const transformQueue = { concurrency: 2, maxQueue: 2, stuck: 1, rejected: 7, status: 'busy' };
  t.match(checks, { transformQueue, database: { ok: true } });
  t.match(checks.cache, {
    memorySizeBytes: 2,
    memoryMaxBytes: 20,
    diskSizeBytes: 5,
    status: 'disk_full',
  });
  const full = await openHealth({ stats: () => statsWith({ active: 1, queued: 1 }) }).read();
  t.equal(full.checks.transformQueue.status, 'saturated');
});

t.test('responds while the store is unavailable, and shows the age of projects', async (t) => {
  const projects = {
    knowledge: { count: 3, confirmedAt: Date.now() - 61_400 },
    status: 'unavailable',
  } as const;
  const { read, calls } = openHealth({ storeAvailable: () => false, projects });
  const body = await read();
  t.match(body, { httpStatus: 503, status: 'unavailable', store: 'unavailable' });
  t.same(body.checks.projects, { known: 3, ageSeconds: 61, status: 'unavailable' });
  t.same(calls, { database: 0, queue: 0 });
  const numbers = { active: 0, waiting: 0, delayed: 0, queued: 0, failed: 0 };
  t.same(body.checks.prewarmQueue, { ...numbers, workerSeenAt: null, status: 'unknown' });
  const available = await openHealth({
    queue: { stats: () => Promise.reject(new Error('unavailable')) },
  }).read();
  t.match(available, { httpStatus: 200, store: 'available' });
  t.same(available.checks.prewarmQueue, body.checks.prewarmQueue);
  t.same(available.checks.projects, { known: 0, ageSeconds: null, status: 'ok' });
});

const counts = { active: 1, waiting: 2, delayed: 1, failed: 1 };

t.test('shows the last known prewarm queue while the store is unavailable', async (t) => {
  let isAvailable = true;
  const clock = stopClock(t);
  const stats = async () => {
    if (isAvailable) return { ...counts, oldestWaitingMs: 0 };
    throw new Error('unavailable');
  };
  for (const storeAvailable of [() => true, () => isAvailable]) {
    isAvailable = true;
    const { read } = openHealth({ queue: { stats }, storeAvailable });
    const known = { ...counts, queued: 3, workerSeenAt: seenAt.toISOString() };
    t.same((await read()).checks.prewarmQueue, { ...known, status: 'ok' });
    isAvailable = false;
    await clock.forward(2_000);
    t.same((await read()).checks.prewarmQueue, { ...known, status: 'unknown' });
  }
});

t.test('reports an old job as a backlog, and stays healthy', async (t) => {
  const status = async (oldestWaitingMs: number) => {
    const stats = async () => ({ ...counts, oldestWaitingMs });
    const { httpStatus, checks } = await openHealth({ queue: { stats } }).read();
    const workerSeenAt = seenAt.toISOString();
    t.match([httpStatus, checks.prewarmQueue], [200, { ...counts, queued: 3, workerSeenAt }]);
    return checks.prewarmQueue.status;
  };
  t.equal(await status(60_000), 'ok');
  t.equal(await status(60_001), 'backlogged');
});

t.test('reports a missing worker before a backlog, and stays healthy', async (t) => {
  for (const seen of [seenAt, null]) {
    const stats = async () => ({ ...counts, oldestWaitingMs: 90_000 });
    const findWorker = async () => ({ seenAt: seen, isMissing: true });
    const { httpStatus, ok, status, checks } = await openHealth({
      queue: { stats },
      findWorker,
    }).read();
    t.match({ httpStatus, ok, status }, { httpStatus: 200, ok: true, status: 'ok' });
    const workerSeenAt = seen?.toISOString() ?? null;
    t.match(checks.prewarmQueue, { ...counts, workerSeenAt, status: 'no_worker' });
  }
});

t.test('shares one store check among concurrent health requests', async (t) => {
  const { read, calls } = openHealth();
  await Promise.all(Array.from({ length: 50 }, read));
  for (let i = 0; i < 50; i++) await read();
  t.same(calls, { database: 1, queue: 1 });
});
