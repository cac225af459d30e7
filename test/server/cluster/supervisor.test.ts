import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import type { StoreOpened, ToPrimary } from '../../../server/cluster/channel.ts';
import { Supervisor, type SupervisorOptions } from '../../../server/cluster/supervisor.ts';
import { scriptUrl } from '../../scripts.ts';
import { until } from '../../until.ts';

interface Line {
  readonly msg: string;
  readonly delayMs?: number;
}

const storeOpened: StoreOpened = {
  type: 'store-opened',
  storeUrl: '',
  knownProjects: { confirmedAt: 0, projects: [] },
};

/** Returns a supervisor of one front end, and stops it after the test. */
function supervise(t: Test, script: string, options: Partial<SupervisorOptions> = {}) {
  const lines: Line[] = [];
  const supervisor = new Supervisor({
    entry: fileURLToPath(scriptUrl(script, import.meta.url)),
    processes: 1,
    environment: {},
    log: pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) }),
    stalledAfterMs: 4_000,
    ...options,
  });
  t.teardown(() => supervisor.stop());
  return {
    supervisor,
    lines,
    /** Returns the number of log lines with this message. */
    count: (message: string) => lines.filter(({ msg }) => msg === message).length,
  };
}

t.test('replaces a front end once if its transforms make no progress', async (t) => {
  const { supervisor, count } = supervise(t, 'stuck-front-end');
  const ended: number[] = [];
  await supervisor.start({
    onMessage: () => {},
    onEnd: (frontEnd) => ended.push(frontEnd),
    onGiveUp: (reason) => t.fail(reason),
  });
  await until('another listens', () => count('front end listening') === 2);
  t.equal(count('replacing stuck front end'), 1);
  await until('one has ended', () => ended.length > 0);
  t.same(ended, [1], 'the stuck one is killed when the drain has not ended it');
  t.equal(count('front end listening'), 2);
  t.equal(count('replacing stuck front end'), 1);
});

t.test('replaces a front end that dies before it listens', async (t) => {
  const { supervisor } = supervise(t, 'waiting-front-end');
  const waiting: number[] = [];
  const ended: number[] = [];
  const listening = supervisor.start({
    onMessage: (frontEnd, { type }) => {
      if (type === 'started') waiting.push(frontEnd);
    },
    onEnd: (frontEnd) => ended.push(frontEnd),
    onGiveUp: (reason) => t.fail(reason),
  });
  await until('the first waits', () => waiting.length === 1);
  // While the store opens it repeats `started`, so the primary does not replace it.
  await until('it still waits', () => waiting.length === 2);
  t.equal(waiting[1], waiting[0]);
  process.kill(supervisor.findPid(waiting[0] ?? 0) ?? 0, 'SIGKILL');
  await until('the second waits', () => waiting.length === 3);
  t.same(ended, [waiting[0]]);
  t.not(waiting[2], waiting[0]);
  t.equal(supervisor.listening, 0);
  supervisor.send(waiting[2] ?? 0, storeOpened);
  await listening;
  t.equal(supervisor.listening, 1);
  t.equal(ended.length, 1);
});

t.test('announces a stop to later front ends, and refuses rolls after it', async (t) => {
  const { supervisor, count } = supervise(t, 'waiting-front-end');
  supervisor.announceStop();
  const onMessage = (frontEnd: number, { type }: ToPrimary) => {
    if (type === 'started') supervisor.send(frontEnd, storeOpened);
  };
  const listening = supervisor.start({ onMessage, onEnd: () => {}, onGiveUp: t.fail });
  await t.rejects(listening, { message: 'a front end ended before it listened (0)' });
  await supervisor.roll();
  t.equal(count('replacing front ends one at a time'), 0);
});

t.test('gives up only on front ends that never listened', async (t) => {
  const environment = { DIES: 'late' };
  const { supervisor, lines, count } = supervise(t, 'dying-front-end', {
    environment,
    restartLimits: { immediate: 1, firstMs: 1, mostMs: 4, failedStarts: 3 },
  });
  const ended = new Set<number>();
  const reason = await new Promise((onGiveUp) => {
    const onMessage = (frontEnd: number) => {
      t.notOk(ended.has(frontEnd), 'no message comes after the end');
      if (count('front end listening') === 6) environment.DIES = 'early';
    };
    void supervisor.start({ onMessage, onEnd: (frontEnd) => ended.add(frontEnd), onGiveUp });
  });
  t.equal(ended.size, 9);
  t.equal(count('front end listening'), 6);
  t.match(reason, /^it ended 3 times in a row before it was ready \(last: .*\(4\)\)$/);
  const delays = lines.flatMap(({ delayMs }) => delayMs ?? []);
  t.same(delays, [0, 1, 2, 4, 4, 4, 4, 4], 'they grow up to a limit');
});

t.test('runs at most one more front end than usual while it replaces them', async (t) => {
  const { supervisor, lines, count } = supervise(t, 'draining-front-end', { processes: 4 });
  const running = new Set<number>();
  const seen = new Set<number>();
  let most = 0;
  const listening = supervisor.start({
    onMessage: (frontEnd) => {
      seen.add(frontEnd);
      most = Math.max(most, running.add(frontEnd).size);
    },
    onEnd: (frontEnd) => void running.delete(frontEnd),
    onGiveUp: (reason) => t.fail(reason),
  });
  // Also during the start.
  await Promise.all([listening, supervisor.roll()]);
  t.equal(count('front ends replaced'), 1);
  t.equal(seen.size, 8);
  const begin = lines.findIndex(({ msg }) => msg === 'replacing front ends one at a time');
  const before = lines.slice(0, begin).filter(({ msg }) => msg === 'front end listening');
  t.equal(before.length, 4, 'after the start');
  t.same([most, supervisor.listening, running.size], [5, 4, 4]);
});

t.test(
  'runs fewer front ends after the kernel has killed new ones for lack of memory',
  async (t) => {
    let oomKills = 7;
    const { supervisor, lines, count } = supervise(t, 'draining-front-end', {
      processes: 3,
      countOomKills: () => oomKills,
    });
    const ids: number[] = [];
    const ended: number[] = [];
    await supervisor.start({
      onMessage: (frontEnd) => void ids.push(frontEnd),
      onEnd: (frontEnd) => void ended.push(frontEnd),
      onGiveUp: (reason) => t.fail(reason),
    });
    const kill = (id = 0) => process.kill(supervisor.findPid(id) ?? 0, 'SIGKILL');
    kill(ids[0]);
    await until('another listens', () => ids.length === 4);
    t.equal(supervisor.size, 3, 'somebody else killed it');
    oomKills += 2;
    for (const id of ids.slice(1, 3)) kill(id);
    await until('they have ended', () => ended.length === 3);
    t.same([supervisor.size, supervisor.listening], [1, 1]);
    oomKills += 1;
    kill(ids[3]);
    await until('the last one is replaced', () => ids.length === 5);
    t.same([supervisor.size, supervisor.listening], [1, 1]);
    t.equal(count('replacing dead front end'), 2);
    t.equal(
      lines.filter(({ msg }) => /killed for lack of memory.*SERVICE_PROCESSES/.test(msg)).length,
      2,
    );
  },
);
