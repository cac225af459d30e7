import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import t from 'tap';
import { Supervisor } from '../../../server/cluster/supervisor.ts';
import { scriptUrl } from '../../scripts.ts';
import { until } from '../../until.ts';

t.test('a front end whose pool makes no progress is replaced, once', async (t) => {
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

t.test('a front end that is killed before it listens is replaced, and welcomed', async (t) => {
  const log = pino({ level: 'silent' });
  const supervisor = new Supervisor({
    entry: fileURLToPath(scriptUrl('waiting-front-end', import.meta.url)),
    ...{ processes: 1, environment: {}, log, stalledAfterMs: 4_000 },
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
  // As long as the store takes to open, it says again that it waits, and so is not taken for dead.
  await until('it still waits', () => waiting.length === 2);
  t.equal(waiting[1], waiting[0]);
  kill(waiting[0]);
  await until('the second waits', () => waiting.length === 3);
  t.same(ended, [waiting[0]]);
  t.not(waiting[2], waiting[0]);
  t.equal(supervisor.listening, 0);
  supervisor.send(waiting[2] ?? 0, {
    ...{ type: 'welcome', storeUrl: '', storePrepared: true },
    knowledge: { confirmedAt: 0, projects: [] },
  });
  await listening;
  t.equal(supervisor.listening, 1);
  t.equal(ended.length, 1);
});

t.test('front ends that die again and again are given up, with the reason', async (t) => {
  let listening = 0;
  const log = pino(
    {},
    {
      write: (line: string) => {
        if (JSON.parse(line).msg === 'a front end listens') listening += 1;
      },
    },
  );
  const supervisor = new Supervisor({
    entry: fileURLToPath(scriptUrl('dying-front-end', import.meta.url)),
    ...{ processes: 1, environment: {}, log, stalledAfterMs: 4_000 },
    restartLimits: { immediate: 12, firstMs: 1, mostMs: 1 },
  });
  t.teardown(() => supervisor.stop());
  const reason = await new Promise((onGiveUp) => {
    void supervisor.start({ onMessage: () => {}, onEnd: () => {}, onGiveUp });
  });
  t.equal(reason, 'it ended 12 times in a row within 30 s of its start, at last by 3');
  t.equal(listening, 12);
});
