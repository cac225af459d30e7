import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { until } from '../../until.ts';
import { openPool } from './pools.ts';

// Own process: a process searches only once, and TMPDIR applies to the whole process.
t.test('removes the folders of killed processes on start', async (t) => {
  const temporary = t.testdir();
  process.env['TMPDIR'] = temporary;
  const { pid: dead } = spawnSync('true');
  const of = (host: string, pid: number) => `image-delivery-process-${host}-${pid}-a1`;
  const [left, own] = [of(hostname(), dead), of(hostname(), process.pid)];
  const [other, foreign] = [of(hostname(), process.ppid), of(`${hostname()}x`, dead)];
  for (const name of [left, own, other, foreign, 'image-delivery-process-a1'])
    await mkdir(join(temporary, name, 'cache'), { recursive: true });
  openPool(t);
  await until(
    'they are removed',
    () => !existsSync(join(temporary, own)) && !existsSync(join(temporary, left)),
  );
  t.same((await readdir(temporary)).sort(), [other, foreign, 'image-delivery-process-a1'].sort());
});
