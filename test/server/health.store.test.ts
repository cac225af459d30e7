import t from 'tap';
import type { FrontEndStats } from '../../server/cluster/channel.ts';
import { Health, type HealthEnvironment } from '../../server/health.ts';
import type { HttpRequest, HttpResponse } from '../../server/http/request.ts';
import { openPool, patient, scriptedThread } from '../pool/execution/pools.ts';
import { scriptedTask } from '../pool/execution/scripted-thread.ts';
import { variant } from '../pool/rendering/pictures.ts';
import { until } from '../until.ts';

/** The figures of a front end with one thread and one place in its queue. */
const statsWith = (
  transforms: Partial<FrontEndStats['transforms']> = {},
  refused = 0,
): FrontEndStats => ({
  memory: { bytes: 1, maxBytes: 10, count: 0, evictions: 0 },
  misses: 0,
  followers: { process: 0, machine: 0 },
  refusals: { misses: 0, queue: 0, fetches: 0, heldBytes: 0 },
  refused,
  transforms: {
    active: 0,
    costlyBytes: 0,
    costlyMaxBytes: 1,
    queued: 0,
    backgroundQueued: 0,
    concurrency: 1,
    maxQueue: 1,
    rejected: 0,
    completed: 0,
    stuck: 0,
    stalledMs: 0,
    threadsReplaced: 0,
    ...transforms,
  },
  sources: {
    fetching: 0,
    concurrency: 1,
    rejected: 0,
    connections: 0,
    cacheBytes: 0,
    cacheEntries: 0,
    sharedBytes: 0,
    failureBytes: 0,
    heldBytes: 0,
    heldMaxBytes: 1,
    heldRejected: 0,
    fetches: 0,
    followers: 0,
  },
});

/** The health of a front end with the given differences from normal, and counts of its calls to the store. */
function openHealth(given: Partial<HealthEnvironment> = {}) {
  const asked = { database: 0, queue: 0 };
  const health = new Health({
    store: {
      ping: async () => {
        asked.database += 1;
        return 1;
      },
    },
    storeAvailable: () => true,
    projects: { knowledge: { count: 0, confirmedAgoMs: null } },
    queue: {
      stats: async () => {
        asked.queue += 1;
        return { active: 0, waiting: 0, delayed: 0, failed: 0, oldestWaitingMs: 0 };
      },
    },
    stats: () => statsWith(),
    machine: () => ({ frontEnds: {}, diskBytes: 0, diskMaxBytes: 0, diskFull: false }),
    draining: () => false,
    transformTimeoutMs: 40,
    sourceFormats: ['JPEG'],
    ...given,
  });
  const ask = async () => {
    let answer: HttpResponse | undefined;
    const request: HttpRequest = {
      route: 'health',
      tier: 'none',
      trace: null,
      id: 'x',
      method: 'GET',
      path: '/api/health',
      query: '',
      header: () => '',
      accept: '',
      headerList: () => '',
      isWellFormed: () => true,
      peerAddress: '',
      readBody: async () => null,
      signal: new AbortController().signal,
      respond: (response) => {
        answer = response;
      },
    };
    await health.handle(request);
    const { status = 0, body = '{}' } = answer ?? {};
    return { httpStatus: status, ...JSON.parse(String(body)) };
  };
  return { ask, asked };
}

t.test('health is degraded when no transform ends within its time limit', async (t) => {
  const pool = openPool(t, { threads: 1, queue: 1 }, scriptedThread);
  const { ask } = openHealth({ stats: () => statsWith(pool.stats()) });
  t.match(await ask(), {
    httpStatus: 200,
    status: 'ok',
    checks: { transformQueue: { active: 0 } },
  });

  const stuck = [scriptedTask(), scriptedTask()];
  const images = stuck.map(({ source }) => pool.transform(source, variant(), patient));
  await until('one has started', () => stuck[0]?.started() === true);
  await until('it stalls', () => pool.stats().stalledMs > 40);
  const degraded = await ask();
  t.match(degraded, { httpStatus: 503, ok: false, status: 'degraded' });
  const transformQueue = { active: 1, queued: 1, concurrency: 1, maxQueue: 1, status: 'saturated' };
  t.match(degraded.checks, { transformQueue, database: { ok: true } });

  for (const task of stuck) task.release();
  await Promise.all(images);
  await until('the pool is idle', () => pool.stats().active === 0);
  t.match(await ask(), { httpStatus: 200, checks: { transformQueue: { completed: 2 } } });
});

t.test('stuck transforms of one process degrade the health of every process', async (t) => {
  const machine = (stalledMs: number) => () => ({
    frontEnds: {
      1: statsWith({ stalledMs }, 3),
      [process.pid]: statsWith({}, 100),
    },
    diskBytes: 5,
    diskMaxBytes: 50,
    diskFull: false,
  });
  const { ask } = openHealth({ machine: machine(41) });
  const answer = await ask();
  t.match(answer, { httpStatus: 503, status: 'degraded' });
  t.match(
    answer.checks.transformQueue,
    { concurrency: 2, rejected: 3 },
    'its own figures are current',
  );
  t.match(answer.checks.cache, { memorySizeBytes: 2, memoryMaxBytes: 20, diskSizeBytes: 5 });
  t.equal((await openHealth({ machine: machine(40) }).ask()).status, 'ok');
});

t.test('health is degraded when all regular threads of a front end are stuck', async (t) => {
  const machine = (stuck: number) => () => ({
    frontEnds: { 1: statsWith({ concurrency: 2, stuck }), 2: statsWith({ concurrency: 2 }) },
    diskBytes: 5,
    diskMaxBytes: 50,
    diskFull: false,
  });
  const answer = await openHealth({ machine: machine(2) }).ask();
  t.match(answer, {
    httpStatus: 503,
    ok: false,
    status: 'degraded',
    reason: 'The transform threads of a front end cannot be ended.',
    checks: { transformQueue: { stuck: 2 } },
  });
  const one = await openHealth({ machine: machine(1) }).ask();
  t.match(one, { httpStatus: 200, checks: { transformQueue: { stuck: 1 } } });
});

t.test('a full queue or an unknown job queue does not degrade health', async (t) => {
  const full = statsWith({ active: 1, queued: 1 }, 9);
  const unknown = () => Promise.reject(new Error('away'));
  const answer = await openHealth({ stats: () => full, queue: { stats: unknown } }).ask();
  t.match(answer, { httpStatus: 200, ok: true, status: 'ok' });
  t.equal(answer.checks.transformQueue.status, 'saturated');
  t.same(answer.checks.prewarmQueue, {
    active: null,
    waiting: null,
    delayed: null,
    queued: null,
    failed: null,
    status: 'unknown',
  });
});

t.test('draining has precedence over an unavailable store', async (t) => {
  const store = { ping: () => Promise.reject(new Error('away')) };
  const stats = () => statsWith({ stalledMs: 1_000 });
  const away = await openHealth({ store, stats }).ask();
  t.match(away, { httpStatus: 503, ok: false, status: 'unavailable' });
  t.equal(away.checks.database.ok, false);
  const draining = await openHealth({ store, stats, draining: () => true }).ask();
  t.match(draining, { httpStatus: 503, ok: false, status: 'draining' });
});

t.test('health does not wait for an unavailable store; it shows the age of projects', async (t) => {
  const projects = { knowledge: { count: 3, confirmedAgoMs: 61_900 } };
  const { ask, asked } = openHealth({ storeAvailable: () => false, projects });
  const answer = await ask();
  t.match(answer, { httpStatus: 503, status: 'unavailable', store: 'unavailable' });
  t.same(answer.checks.projects, { known: 3, ageSeconds: 61 });
  t.equal(answer.checks.prewarmQueue.status, 'unknown');
  t.same(asked, { database: 0, queue: 0 });
  const { store, checks } = await openHealth().ask();
  t.same([store, checks.projects], ['available', { known: 0, ageSeconds: null }]);
});

t.test('concurrent health requests share one check of the store', async (t) => {
  const { ask, asked } = openHealth();
  await Promise.all(Array.from({ length: 50 }, ask));
  for (let i = 0; i < 50; i++) await ask();
  t.same(asked, { database: 1, queue: 1 });
});

t.test('health is degraded when the disk is full', async (t) => {
  const { ask } = openHealth({
    machine: () => ({ frontEnds: {}, diskBytes: 0, diskMaxBytes: 9, diskFull: true }),
  });
  t.match(await ask(), {
    httpStatus: 503,
    status: 'degraded',
    reason: 'The disk of the data folder is full.',
    checks: { cache: { status: 'disk_full' } },
  });
});
