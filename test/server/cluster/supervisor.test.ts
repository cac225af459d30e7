import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import t from 'tap';
import { Supervisor } from '../../../server/cluster/supervisor.ts';
import { scriptUrl } from '../../scripts.ts';
import { until } from '../../until.ts';

t.test('a front end without progress of its transforms is replaced once', async (t) => {
  const lines: { msg: string }[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const count = (text: string) => lines.filter(({ msg }) => msg === text).length;
  const ended: number[] = [];
  const supervisor = new Supervisor({
    entry: fileURLToPath(scriptUrl('stuck-front-end', import.meta.url)),
    processes: 1,
    environment: {},
    log,
    stalledAfterMs: 4_000,
  });
  t.teardown(() => supervisor.stop());
  await supervisor.start({
    onMessage: () => {},
    onEnd: (frontEnd) => ended.push(frontEnd),
    onGiveUp: (reason) => t.fail(reason),
  });
  await until('another listens', () => count('a front end listens') === 2);
  t.equal(count('a front end is stuck and replaced'), 1);
  await until('one has ended', () => ended.length > 0);
  t.same(ended, [1], 'the stuck one is killed when the drain has not ended it');
  t.equal(count('a front end listens'), 2);
  t.equal(count('a front end is stuck and replaced'), 1);
});

t.test('a front end that is killed before it listens is replaced and welcomed', async (t) => {
  const log = pino({ level: 'silent' });
  const supervisor = new Supervisor({
    entry: fileURLToPath(scriptUrl('waiting-front-end', import.meta.url)),
    processes: 1,
    environment: {},
    log,
    stalledAfterMs: 4_000,
  });
  t.teardown(() => supervisor.stop());
  const waiting: number[] = [];
  const ended: number[] = [];
  const listening = supervisor.start({
    onMessage: (frontEnd, { type }) => {
      if (type === 'started') waiting.push(frontEnd);
    },
    onEnd: (frontEnd) => ended.push(frontEnd),
    onGiveUp: (reason) => t.fail(reason),
  });
  const kill = (frontEnd = 0) => process.kill(supervisor.pidOf(frontEnd) ?? 0, 'SIGKILL');
  await until('the first waits', () => waiting.length === 1);
  // While the store opens it repeats `started`, so the primary does not replace it.
  await until('it still waits', () => waiting.length === 2);
  t.equal(waiting[1], waiting[0]);
  kill(waiting[0]);
  await until('the second waits', () => waiting.length === 3);
  t.same(ended, [waiting[0]]);
  t.not(waiting[2], waiting[0]);
  t.equal(supervisor.listening, 0);
  supervisor.send(waiting[2] ?? 0, {
    type: 'welcome',
    storeUrl: '',
    storePrepared: true,
    knowledge: { confirmedAt: 0, projects: [] },
  });
  await listening;
  t.equal(supervisor.listening, 1);
  t.equal(ended.length, 1);
});

t.test('only front ends that never listened are given up', async (t) => {
  let listening = 0;
  const environment = { DIES: 'late' };
  const delays: number[] = [];
  const log = pino(
    {},
    {
      write: (line: string) => {
        const { msg, delayMs } = JSON.parse(line);
        if (msg === 'a front end listens') listening += 1;
        if (listening === 6) environment.DIES = 'early';
        if (msg === 'a front end died and is replaced') delays.push(delayMs);
      },
    },
  );
  const supervisor = new Supervisor({
    entry: fileURLToPath(scriptUrl('dying-front-end', import.meta.url)),
    processes: 1,
    environment,
    log,
    stalledAfterMs: 4_000,
    restartLimits: { immediate: 1, firstMs: 1, mostMs: 4, failedStarts: 3 },
  });
  t.teardown(() => supervisor.stop());
  const reason = await new Promise((onGiveUp) => {
    void supervisor.start({ onMessage: () => {}, onEnd: () => {}, onGiveUp });
  });
  t.equal(listening, 6);
  t.match(reason, /^it ended 3 times in a row before it was ready, at last by .*\(4\)$/);
  t.same(delays, [0, 1, 2, 4, 4, 4, 4, 4], 'they grow up to a limit');
});
