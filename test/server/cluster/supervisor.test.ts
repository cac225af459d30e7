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
    entry: scriptUrl('stuck-front-end', import.meta.url).pathname,
    processes: 1,
    environment: {},
    log,
    stalledAfterMs: 4_000,
  });
  t.teardown(() => supervisor.stop());
  await supervisor.start({
    onMessage: () => {},
    onEnd: (frontEnd) => ended.push(frontEnd),
  });
  await until('another listens', () => count('a front end listens') === 2);
  t.equal(count('a front end is stuck and replaced'), 1);
  await until('one has ended', () => ended.length > 0);
  t.same(ended, [1], 'the stuck one is killed when the drain has not ended it');
  t.equal(count('a front end listens'), 2);
  t.equal(count('a front end is stuck and replaced'), 1);
});
