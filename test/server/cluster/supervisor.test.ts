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
