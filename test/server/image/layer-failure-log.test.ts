import t from 'tap';
import { ServiceError } from '../../../contract/errors.ts';
import { logLayerFailures } from '../../../server/image/layer-failure-log.ts';
import { watermark } from '../../pool/rendering/pictures.ts';

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
