import { pino } from 'pino';
import t from 'tap';
import { Supervisor } from '../../../server/cluster/supervisor.ts';

t.test('a front end whose pool makes no progress is replaced, once', async (t) => {
  const lines: { msg: string }[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const count = (text: string) => lines.filter(({ msg }) => msg === text).length;
  const ended: number[] = [];
  const supervisor = new Supervisor({
    entry: new URL('./stuck-front-end.ts', import.meta.url).pathname,
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
  while (count('a front end listens') < 2) await new Promise((done) => setTimeout(done, 20));
  t.equal(count('a front end is stuck and replaced'), 1);
  while (ended.length === 0) await new Promise((done) => setTimeout(done, 50));
  t.same(ended, [1], 'the stuck one is killed when the drain has not ended it');
  t.equal(count('a front end listens'), 2);
  t.equal(count('a front end is stuck and replaced'), 1);
});
