import t from 'tap';
import { ServiceError } from '../../../contract/errors.ts';
import {
  type ImageFailure,
  logFailures,
  logLayerFailures,
} from '../../../server/telemetry/event-logs.ts';
import { stopTimers } from '../../clock.ts';
import { watermark } from '../../pool/rendering/pictures.ts';

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
  const refused = { ...failure, code: 'parameter_invalid' as const };
  log(refused);
  t.same(lines.slice(10), [['info', refused, 'image request failed']], 'a budget per level');
  pass(1);
  log(failure);
  pass(1_000);
  t.same(lines.slice(11), [['warn', { leftOut: 16 }, 'more image requests failed'], line]);
});

t.test('logs one line a minute per project', async (t) => {
  const lines: unknown[] = [];
  let now = 1;
  const unmarked = logLayerFailures({ warn: (...line: unknown[]) => lines.push(line) }, () => now);
  const [mark] = watermark();
  const error = new ServiceError('source_not_found', 'It is gone.');
  for (const project of ['prj_a', 'prj_a', 'prj_b', 'prj_a']) unmarked(project, mark, error);
  now += 59_000;
  unmarked('prj_a', mark, error);
  const line = (project: string) => [
    { project, code: 'source_not_found', reason: 'It is gone.' },
    'delivering images without watermark',
  ];
  t.same(lines, [line('prj_a'), line('prj_b')]);
  now += 1_001;
  unmarked('prj_a', mark, error);
  unmarked('prj_a', mark, error);
  t.same(lines.length, 3);
});
