import t, { type Test } from 'tap';
import { Activity } from '../../../server/usage/activity/activity.ts';
import { lastFailures, percentile, sumOfActivity } from '../../../server/usage/activity/slice.ts';
import { RequestCounter, RequestCounts } from '../../../server/usage/request-counts.ts';
import { ActivityRecords, type NameCount } from '../../../store/activity.ts';
import { testDatabase } from '../../store/connection.ts';

const project = 'prj_0123456789abcdef';
const other = 'prj_fedcba9876543210';
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const image = {
  body: Buffer.alloc(100),
  contentType: 'image/webp',
  sourceBytes: 1_000,
} as const;

const byName = (counts: readonly NameCount[]) =>
  Object.fromEntries(counts.map(({ name, count }) => [name, count]));

/** Runs all writes at once, as if no store were slow. */
const atOnce = async <T>(items: readonly T[], write: (batch: readonly T[]) => Promise<void>) => {
  const [error] = items.length === 0 ? [] : [await write(items).catch((error: unknown) => error)];
  return error === undefined ? [] : [error];
};

async function start(t: Test) {
  const { db } = await testDatabase(t);
  const records = new ActivityRecords(db);
  await records.ensureIndexes();
  let at = Date.parse('2126-11-22T12:05:00Z');
  let isDown = false;
  let requests = 0;
  let onFound = async () => {};
  let onWrite = async () => {};
  const startProcess = (names?: number) => {
    const write: ActivityRecords['write'] = async (written) => {
      await onWrite();
      if (isDown) throw new Error('no store');
      await records.write(written);
    };
    const find: ActivityRecords['find'] = async (...range) => {
      const found = await records.find(...range);
      await onFound();
      return found;
    };
    const activity = new Activity({ write, find }, () => at, names);
    return {
      activity,
      store: () => activity.store(atOnce),
      deliver(source: string, times = 1, of = project) {
        const subject = new RequestCounter(
          { project: of, source, variant: 'w=1', isSigned: false },
          image,
        );
        for (let i = 0; i < times; i += 1) activity.delivered(subject, image.body.length);
      },
      fail(url: string, of = project) {
        requests += 1;
        activity.failed(of, {
          code: 'source_not_found',
          status: 404,
          source: url,
          url,
          message: `Gone ${requests}.`,
          hint: '',
          requestId: `r${requests}`,
        });
      },
      async sources(window: 'hour' | 'day', of = project) {
        const { parts } = (await activity.of(of))[window];
        return byName(sumOfActivity(parts).sources);
      },
      async failures(of = project) {
        const failures = lastFailures((await activity.of(of)).day.parts);
        return failures.map(({ url, count }) => `${url} ${count}`);
      },
      async lastRequests() {
        const failures = lastFailures((await activity.of(project)).day.parts);
        return failures.map(({ url, message, requestId }) => `${url} ${message} ${requestId}`);
      },
    };
  };
  return {
    startProcess,
    setDown: (down: boolean) => {
      isDown = down;
    },
    /** Runs an action before each write to the store. */
    beforeWrites: (action: () => void) => {
      onWrite = async () => action();
    },
    /** Runs an action after each read of the store, before its result arrives. */
    afterReads: (action: () => Promise<unknown>) => {
      onFound = async () => void (await action());
    },
    forward: (ms: number) => {
      at += ms;
    },
  };
}

t.test('sums processes, and keeps figures over a restart', async (t) => {
  const { startProcess, forward } = await start(t);
  const [a, b] = [startProcess(), startProcess()];
  a.deliver('x', 3);
  b.deliver('x', 4);
  b.deliver('y');
  b.deliver('z', 5, other);
  for (const url of ['/1', '/2', '/1']) a.fail(url);
  forward(1);
  b.fail('/1');
  b.fail('/3', other);
  const counts = new RequestCounts(project);
  counts.live.tiers.memory = 2;
  counts.live.tiers.miss = 3;
  a.activity.countRequests(counts);
  for (const ms of [90, 100, 1_000]) b.activity.countMiss(project, ms);
  t.same(await a.sources('hour'), { x: 3 }, 'the process counts before it stores');
  for (let i = 0; i < 2; i += 1) await Promise.all([a.store(), b.store()]);
  a.deliver('y', 2);
  t.same(await a.sources('hour'), { x: 7, y: 3 });
  t.same(await b.sources('day'), { x: 7, y: 1 }, 'without what a has not stored');
  await a.store();
  const later = startProcess();
  for (const window of ['hour', 'day'] as const) {
    const { parts } = (await later.activity.of(project))[window];
    const sum = sumOfActivity(parts);
    t.same(byName(sum.sources), { x: 7, y: 3 });
    t.match(sum.counts, { memory: 2, miss: 3, unsigned: 10 });
    t.match(sum.counts, { comparedBytes: 1_000, originalBytes: 10_000 });
    t.same(
      [0.5, 0.95].map((p) => percentile(sum.durations, p)),
      [94, 1_011],
      'within 8%',
    );
  }
  t.same((await later.failures()).sort(), ['/1 3', '/2 1']);
  t.same((await later.lastRequests()).sort(), ['/1 Gone 4. r4', '/2 Gone 2. r2'], 'the last ones');
  t.same([await later.failures(other), await later.sources('hour', other)], [['/3 1'], { z: 5 }]);
});

t.test('stores an interval later if it ends during a failing write', async (t) => {
  const { startProcess, beforeWrites, setDown, forward } = await start(t);
  const { activity, deliver, store, sources } = startProcess();
  deliver('x', 3);
  setDown(true);
  beforeWrites(() => {
    forward(10 * minuteMs);
    deliver('y');
    activity.collect();
  });
  t.equal((await store()).length, 1);
  beforeWrites(() => {});
  setDown(false);
  t.same(await sources('hour'), { x: 3, y: 1 });
  await store();
  t.same(await startProcess().sources('hour'), { x: 3, y: 1 });
});

t.test('includes an interval that it stores and removes during a read', async (t) => {
  const { startProcess, afterReads, forward } = await start(t);
  const { activity, deliver, store, sources } = startProcess();
  deliver('x', 3);
  await store();
  deliver('x', 2);
  activity.collect();
  forward(10 * minuteMs);
  afterReads(store);
  t.same(await sources('hour'), { x: 5 });
  t.same(await sources('hour'), { x: 5 });
});

t.test(
  'drops figures after an hour and a day, and stores figures that an outage delayed',
  async (t) => {
    const { startProcess, forward, setDown } = await start(t);
    const a = startProcess();
    a.deliver('old');
    a.fail('/old');
    setDown(true);
    t.equal((await a.store()).length, 1);
    forward(10 * minuteMs);
    a.deliver('new');
    setDown(false);
    t.same(await a.store(), []);
    const b = startProcess();
    t.same(await b.sources('hour'), { old: 1, new: 1 });
    forward(55 * minuteMs);
    t.same(await b.sources('hour'), { new: 1 });
    t.same(await b.sources('day'), { old: 1, new: 1 });
    forward(24 * hourMs);
    t.same([await b.sources('day'), await b.failures()], [{}, []]);
  },
);

t.test('keeps the figures of an interval that a changed clock starts again', async (t) => {
  const { startProcess, forward } = await start(t);
  const a = startProcess();
  a.deliver('before');
  for (const ms of [6 * minuteMs, -2 * minuteMs, 2 * minuteMs, -2 * hourMs, 2 * hourMs]) {
    await a.store();
    forward(ms);
    a.deliver('after');
  }
  await a.store();
  const b = startProcess();
  for (const { sources } of [a, b]) {
    t.same(await sources('hour'), { before: 1, after: 4 });
    t.same(await sources('day'), { before: 1, after: 5 });
  }
});

t.test('keeps fixed numbers of names and failures', async (t) => {
  const { startProcess, forward } = await start(t);
  const a = startProcess();
  for (let i = 0; i < 10_000; i += 1) {
    a.fail(`/${i}`);
    a.deliver(`https://a.example/${i}`);
    if (i % 10 === 0) a.deliver('often');
  }
  a.activity.collect();
  const { names } = a.activity.size;
  t.ok(names <= 100 + 2 * (40 + 1), `${names} names`);
  const failures = await a.failures();
  t.equal(failures.length, 100);
  t.equal(failures.includes('/9999 1'), true, 'the last ones');
  const [first] = Object.entries(await a.sources('day'));
  t.equal(first?.[0], 'often');
  t.ok((first?.[1] ?? 0) > 900 && (first?.[1] ?? 0) <= 1_000, 'a count is not too high');

  await a.store();
  forward(2 * hourMs);
  a.deliver('x');
  await a.store();
  t.equal(a.activity.size.names, 4, 'ended intervals leave memory');
});

t.test('shares a number of names among many projects', async (t) => {
  const { startProcess, forward } = await start(t);
  const a = startProcess(1_000);
  for (let round = 0; round < 3; round += 1) {
    for (let i = 0; i < 12_000; i += 1) {
      a.deliver('https://a.example/', 1, `prj_${i}`);
      a.fail('/1', `prj_${i}`);
    }
    a.activity.collect();
    const { names, projects } = a.activity.size;
    t.ok(names <= 1_000 && names > 900, `${names} names`);
    t.ok(projects <= 20_000, `${projects} projects`);
    forward(hourMs);
  }
});
