import t from 'tap';
import { type ImageFailure, logFailures } from '../../../server/telemetry/failure-log.ts';
import { stopTimers } from '../../clock.ts';

t.test('logs failures at a limited rate, with the number of omitted lines', async (t) => {
  const pass = stopTimers(t);
  const lines: unknown[] = [];
  const as =
    (level: string) =>
    (...line: unknown[]) =>
      void lines.push([level, ...line]);
  const log = logFailures({ warn: as('warn'), info: as('info') });
  const failure: ImageFailure = {
    requestId: 'r',
    project: 'prj_a',
    host: 'a.example',
    stage: 'fetch',
    code: 'source_timeout',
    cause: 'The source did not arrive.',
  };
  const line = ['warn', failure, 'image request failed'];
  for (let i = 0; i < 25; i++) log(failure);
  t.same(lines, new Array(10).fill(line));
  pass(999);
  log(failure);
  t.equal(lines.length, 10);
  pass(1);
  log(failure);
  const overloaded = { ...failure, code: 'overloaded' as const };
  log(overloaded);
  pass(1_000);
  t.same(lines.slice(10), [
    ['warn', { leftOut: 16 }, 'more image requests failed'],
    line,
    ['info', overloaded, 'image request failed'],
  ]);
});
