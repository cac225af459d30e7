import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { scriptUrl } from '../scripts.ts';

t.test('runs every shutdown step, even after a failed step', async (t) => {
  const program = fileURLToPath(scriptUrl('stopping-program', import.meta.url));
  const { status, stdout } = spawnSync(process.execPath, [...process.execArgv, program], {
    encoding: 'utf8',
  });
  t.equal(status, 1);
  t.match(stdout, /thrown[\s\S]*rejected[\s\S]*^last$[\s\S]*stopped/m);
});
