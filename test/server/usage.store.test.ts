import { setImmediate } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { RequestCounts, type RequestKind } from '../../server/usage/request-counts.ts';
import { UsageRecorder } from '../../server/usage/usage.ts';
import { noUsage, UsageTotals } from '../../server/usage/usage-totals.ts';
import { ActivityRecords } from '../../store/activity.ts';
import { UsageRecords, type WriterTotals } from '../../store/usage.ts';
import { testDatabase } from '../store/connection.ts';
import { until } from '../until.ts';

const project = 'prj_0123456789abcdef';
const noon = Date.parse('2026-11-22T12:00:00Z');
const dayMs = 24 * 60 * 60 * 1_000;
const noAnswer = new Error('no answer');

/** Starts a store, and processes that store their counts in it and share one clock. */
async function start(t: Test) {
  const { db } = await testDatabase(t);
  const records = new UsageRecords(db);
  await records.ensureIndexes();
  let at = noon;
  const faults = {
    storeAway: false,
    loseAnswers: false,
    refused: '',
    /** Runs after each read of the store, before its result arrives. */
    onFound: async () => {},
    /** Runs before each claim. */
    onClaim: async () => {},
  };
  const failures: unknown[] = [];
  const written: string[] = [];
  /** Totals with writes that got no response. */
  const lost: WriterTotals[] = [];
  const startProcess = () => {
    const usage = new UsageRecorder({
      records: {
        async write(totals) {
          if (totals.some((total) => total.project === faults.refused)) throw noAnswer;
          written.push(...totals.map(({ project }) => project));
          await records.write(totals);
          if (!faults.loseAnswers) return;
          lost.push(...structuredClone(totals));
          throw noAnswer;
        },
        async claim(...claim) {
          await faults.onClaim();
          return records.claim(...claim);
        },
        async find(...range) {
          const found = await records.find(...range);
          await faults.onFound();
          return found;
        },
      },
      activity: new ActivityRecords(db),
      available: () => !faults.storeAway,
      onFailure: (error) => failures.push(error),
      now: () => at,
    });
    const requestCounts = new Map<string, RequestCounts>();
    return {
      usage,
      count(hits: number, bytes = 0, of = project, kind: RequestKind = 'live') {
        const counts = requestCounts.get(of) ?? new RequestCounts(of);
        requestCounts.set(of, counts);
        usage.totals.list(counts);
        counts[kind].tiers.memory += hits;
        counts[kind].bytes += bytes;
      },
      /** Returns the total of 30 days. */
      async hits(of = project) {
        const days = await usage.days(of, '2026-10-30', '2026-11-29');
        return days.reduce((sum, { counts }) => sum + counts.memory, 0);
      },
    };
  };
  const stored = async () => {
    const days = await records.find(project, '2026-01-01', '2026-12-31');
    return days.map(({ date, by }) => [
      date,
      [...by.values()].reduce((sum, counts) => sum + (counts['memory'] ?? 0), 0),
      by.size,
    ]);
  };
  return {
    db,
    records,
    startProcess,
    stored,
    faults,
    failures,
    written,
    lost,
    forward: (ms: number) => {
      at += ms;
    },
  };
}

t.test("adds the processes' counts, and includes its own at once", async (t) => {
  const { startProcess, stored } = await start(t);
  const [a, b] = [startProcess(), startProcess()];
  a.count(3, 100);
  b.count(4);
  t.equal(await a.hits(), 3);
  await Promise.all([a.usage.store(), b.usage.store()]);
  t.same([await a.hits(), await b.hits()], [7, 7]);
  a.count(5);
  t.same([await a.hits(), await b.hits()], [12, 7]);
  await a.usage.store();
  t.same(await stored(), [['2026-11-22', 12, 2]]);
  const [day] = await b.usage.days(project, '2026-11-22', '2026-11-22');
  t.same(day, { date: '2026-11-22', counts: { ...noUsage(), memory: 12, bytes: 100 } });
});

t.test('writes without deadlocks between processes in different orders', async (t) => {
  const { db, startProcess, failures } = await start(t);
  const ids = Array.from({ length: 100 }, (_, index) => `prj_${index}`);
  const orders = [ids, ids.toReversed(), [...ids.slice(50), ...ids.slice(0, 50).toReversed()]];
  const processes = orders.map((order) => ({ ...startProcess(), order }));
  for (let round = 0; round < 3; round += 1) {
    for (const { count, order } of processes) for (const id of order) count(1, 0, id);
    await Promise.all(processes.map(({ usage }) => usage.store()));
  }
  t.same(failures, []);
  await Promise.all(processes.map(({ usage }) => usage.close()));
  t.same(failures, []);
  const days = await db
    .collection<{ by: Record<string, { memory: number }> }>('usage')
    .find({ project: { $in: ids } })
    .toArray();
  const sums = days.map(({ by }) => Object.values(by).map(({ memory }) => memory));
  t.strictSame(
    sums,
    ids.map(() => [3, 3, 3]),
  );
});

t.test('counts a write that gets no response once', async (t) => {
  const { records, startProcess, stored, faults, failures, lost } = await start(t);
  const { usage, count } = startProcess();
  count(3);
  faults.loseAnswers = true;
  await usage.store();
  await usage.store();
  t.same(failures, [noAnswer, noAnswer]);
  count(2);
  await usage.close();
  t.same(await stored(), [['2026-11-22', 5, 1]]);
  faults.loseAnswers = false;
  await usage.close();
  t.same(await stored(), [['2026-11-22', 5, 1]], 'also after the end');
  await records.write(lost);
  t.same(await stored(), [['2026-11-22', 5, 1]], 'also when it takes effect after the end');
});

t.test('ignores a late write, and a write with fewer counts', async (t) => {
  const { records, stored } = await start(t);
  const totals = (memory: number) => [
    {
      project,
      date: '2026-11-22',
      writer: 'p1',
      counts: { memory },
    },
  ];
  await records.write(totals(2));
  await records.write(totals(7));
  await records.write(totals(2));
  t.same(await stored(), [['2026-11-22', 7, 1]]);
});

t.test('sums the counts of ended processes and days', async (t) => {
  const { startProcess, stored, forward } = await start(t);
  for (let run = 1; run <= 3; run += 1) {
    const { usage, count } = startProcess();
    count(run);
    await usage.close();
  }
  t.same(await stored(), [['2026-11-22', 6, 3]]);
  const [a, b] = [startProcess(), startProcess()];
  for (const { usage, count } of [a, b]) {
    count(1);
    await usage.store();
  }
  t.same(await stored(), [['2026-11-22', 8, 5]]);
  forward(dayMs);
  a.count(10);
  await Promise.all([a.usage.store(), b.usage.store()]);
  t.same(await stored(), [
    ['2026-11-22', 8, 5],
    ['2026-11-23', 10, 1],
  ]);
  t.equal(await b.hits(), 18);
});

t.test('includes counts that it stores and removes during a read', async (t) => {
  const { startProcess, forward, faults } = await start(t);
  const { usage, count, hits } = startProcess();
  count(3);
  await usage.store();
  count(2);
  usage.totals.collect();
  forward(dayMs);
  faults.onFound = () => usage.store();
  t.same([await hits(), await hits()], [5, 5]);
});

t.test('loses only unstored counts with a killed process', async (t) => {
  const { startProcess } = await start(t);
  const killed = startProcess();
  killed.count(3);
  await killed.usage.store();
  killed.count(1);
  const next = startProcess();
  next.count(4);
  await next.usage.store();
  t.equal(await next.hits(), 7);
});

t.test('continues to count per day while the store is unavailable', async (t) => {
  const { startProcess, stored, faults, written, forward } = await start(t);
  const { usage, count } = startProcess();
  faults.storeAway = true;
  for (let day = 0; day < 3; day += 1) {
    count(1);
    usage.totals.collect();
    await usage.store();
    forward(dayMs);
  }
  t.same(written, []);
  faults.storeAway = false;
  await usage.store();
  t.same(await stored(), [
    ['2026-11-22', 1, 1],
    ['2026-11-23', 1, 1],
    ['2026-11-24', 1, 1],
  ]);
  await usage.store();
  t.equal(written.length, 3, 'what is stored is not written again');
});

t.test("does not delay other projects' writes, or limits, for a failing write", async (t) => {
  const { db, startProcess, faults, failures } = await start(t);
  const [a, b] = [startProcess(), startProcess()];
  const limited = { _id: project, limits: { rendersPerDay: null, bytesPerDay: 1_000 } };
  (await b.usage.limits.admit(limited))();
  a.count(1, 1_000);
  await a.usage.store();
  const ids = Array.from({ length: 250 }, (_, index) => `prj_${index}`);
  for (const id of ids) b.count(1, 0, id);
  faults.refused = 'prj_120';
  await b.usage.store();
  t.same(failures, [noAnswer], 'it is reported once');
  const stored = await db.collection('usage').countDocuments({ project: { $in: ids } });
  t.equal(stored, 150);
  await t.rejects(b.usage.limits.admit(limited), { code: 'usage_limit_reached' });
  faults.refused = '';
  await b.usage.store();
  t.equal(await a.hits('prj_120'), 1, 'it is stored later');
});

t.test('writes only projects with new counts', async (t) => {
  const { startProcess, written } = await start(t);
  const { usage, count } = startProcess();
  const id = (index: number) => `prj_${String(index).padStart(16, '0')}`;
  for (let index = 0; index < 30; index += 1) count(1, 0, id(index));
  await usage.store();
  t.equal(written.length, 30);
  count(1, 0, id(7));
  await usage.store();
  t.same(written.slice(30), [id(7)]);
});

t.test('limits the totals in memory, and removes stored totals first', async (t) => {
  const totals = new UsageTotals(() => noon);
  const counts = Array.from({ length: 60_001 }, (_, index) => new RequestCounts(`p${index}`));
  const countAll = () => {
    for (const count of counts) {
      totals.list(count);
      count.live.tiers.memory += 1;
    }
    return totals.all();
  };
  t.equal(countAll().length, 60_000);
  t.equal(totals.dropped, 1);
  t.ok(totals.isFull);
  const [oldest] = totals.all();
  if (oldest === undefined) return t.fail('no totals');
  oldest.stored = oldest.version;
  t.same(totals.takeFinished(), [oldest]);
  t.equal(totals.of(oldest), undefined);
  countAll();
  t.not(totals.of(oldest)?.writer, oldest.writer, 'another writer, whose counts begin at 0');
});

t.test("counts all processes' usage towards a limit", async (t) => {
  const { startProcess, forward, faults } = await start(t);
  const limits = { rendersPerDay: null, bytesPerDay: 1_000 };
  const limited = { _id: project, limits };
  const [a, b] = [startProcess(), startProcess()];
  const admits = async ({ usage }: typeof a) => {
    const end = await usage.limits.admit(limited).catch(({ code, details }) => ({ code, details }));
    if (typeof end !== 'function') return end;
    end();
    return true;
  };
  const refused = { code: 'usage_limit_reached', details: { retryAfter: 43_200 } };
  t.equal(await admits(b), true);
  a.count(1, 600);
  t.equal(await admits(a), true);
  b.count(1, 600, project, 'console');
  await a.usage.store();
  t.equal(await admits(b), true, 'it has not read what the other one has used');
  await b.usage.store();
  t.same(await admits(b), refused);
  t.equal(await admits(a), true);
  await a.usage.store();
  t.same(await admits(a), refused);
  faults.storeAway = true;
  await a.usage.store();
  t.same(await admits(a), refused, 'the last known sum');
  const withoutStore = startProcess();
  t.equal(await admits(withoutStore), true, 'its own counts');
  faults.storeAway = false;
  t.same(await admits(startProcess()), refused, 'a new process reads the sum first');
  forward(dayMs / 2);
  for (const process of [a, b]) t.equal(await admits(process), true, 'the next day');
});

t.test('counts renders in progress towards a limit', async (t) => {
  const { startProcess } = await start(t);
  const { usage } = startProcess();
  const limited = { _id: project, limits: { rendersPerDay: 3, bytesPerDay: null } };
  const admit = () => usage.limits.admit(limited);
  const results = await Promise.allSettled(Array.from({ length: 9 }, admit));
  const ends = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  t.equal(ends.length, 3);
  // All end with no render, because their sources failed.
  for (const end of ends) end();
  await t.resolves(admit());
});

t.test('exceeds a render limit by at most one render per process', async (t) => {
  const { startProcess, faults } = await start(t);
  const processes = Array.from({ length: 4 }, startProcess);
  const limited = (rendersPerDay: number) => ({
    _id: project,
    limits: { rendersPerDay, bytesPerDay: null },
  });
  /**
   * Requests many renders at once in each process, and resolves with the functions that end them.
   */
  const admitMany = async (limit: number) => {
    const calls = processes.flatMap(({ usage }) =>
      Array.from({ length: 20 }, () => usage.limits.admit(limited(limit))),
    );
    const results = await Promise.allSettled(calls);
    return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  };
  const ends = await admitMany(5);
  t.ok(ends.length >= 5 && ends.length <= 8, `${ends.length} renders`);
  t.same(await admitMany(5), [], 'and no more later');

  // They end with no render, because their sources failed.
  for (const end of ends) end();
  for (const { usage } of processes) await usage.store();
  for (const { usage } of processes) await usage.store();
  const again = await admitMany(5);
  t.ok(again.length >= 5 && again.length <= 8, `${again.length} renders`);

  for (const end of again) end();
  for (const { usage } of processes) await usage.close();
  t.same(await startProcess().usage.days(project, '2026-11-22', '2026-11-22'), [
    { date: '2026-11-22', counts: noUsage() },
  ]);
  faults.storeAway = true;
  await t.resolves(startProcess().usage.limits.admit(limited(5)), 'while the store is away');
});

t.test('claims one after the other', async (t) => {
  const { records, startProcess, faults } = await start(t);
  const { usage } = startProcess();
  const limited = { _id: project, limits: { rendersPerDay: 10, bytesPerDay: null } };
  const admit = () => usage.limits.admit(limited);
  const findClaims = async () => {
    const [stored] = await records.find(project, '2026-11-22', '2026-11-22');
    return [...(stored?.claims.values() ?? [])];
  };
  for (const end of [await admit(), await admit(), await admit()]) end();
  t.same(await findClaims(), [2]);

  // The first claim releases unused renders. It arrives late.
  const held: (() => void)[] = [];
  faults.onClaim = () => new Promise((resolve) => held.push(resolve));
  const stored = usage.store();
  await until('the release', () => held.length === 1);
  const admitted = [admit(), admit()];
  await setImmediate();
  t.equal(held.length, 1, 'a claim at a time');
  faults.onClaim = async () => {};
  for (const release of held.splice(0)) release();
  await Promise.all([stored, ...admitted]);
  t.same(await findClaims(), [1]);
});

t.test('reads the claims of others when it stores', async (t) => {
  const { startProcess } = await start(t);
  const [a, b] = [startProcess(), startProcess()];
  const limited = { _id: project, limits: { rendersPerDay: 10, bytesPerDay: null } };
  const count = async ({ usage }: typeof a, renders: number) => {
    let admitted = 0;
    for (let render = 0; render < renders; render += 1) {
      if ((await usage.limits.admit(limited).catch(() => null)) !== null) admitted += 1;
    }
    return admitted;
  };
  t.equal(await count(a, 5), 5);
  t.equal(await count(b, 10), 6, 'one too many, because a has not claimed its last render');
  await a.usage.store();
  t.equal(await count(a, 1), 0);
});

t.test('exceeds large limits by at most a hundredth per process', async (t) => {
  const { startProcess } = await start(t);
  const processes = [startProcess(), startProcess(), startProcess()];
  const limited = { _id: project, limits: { rendersPerDay: 300, bytesPerDay: null } };
  let admitted = 0;
  for (let round = 0; round < 200; round += 1) {
    for (const { usage } of processes) {
      const result = await usage.limits.admit(limited).catch(() => null);
      if (result !== null) admitted += 1;
    }
  }
  t.ok(admitted >= 300 && admitted <= 306, `${admitted} renders`);
});

t.test('deletes usage after 400 days', async (t) => {
  const { db, records } = await start(t);
  const totals = (date: string) => ({ project, date, writer: 'p1', counts: { memory: 1 } });
  await records.write([totals('2026-11-22')]);
  const indexes = await db
    .collection('usage')
    .indexes()
    .catch(() => null);
  // The embedded store does not support this command.
  if (indexes === null) return t.pass('the command is not supported');
  t.match(
    indexes.find(({ key }) => Object.keys(key).join() === 'day'),
    {
      expireAfterSeconds: 34_560_000,
    },
  );
});
