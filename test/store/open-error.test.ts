import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { folderErrorText } from '../../store/open-error.ts';
import { temporaryFolder } from '../temporary-root.ts';

t.test('names the owner and the mode of a folder without permission, and the fix', async (t) => {
  const folder = await temporaryFolder(t);
  await chmod(folder, 0o2755);
  const [uid, gid] = [process.getuid?.(), process.getgid?.()];
  const describe = (...path: string[]) => {
    const error = Object.assign(new Error('no'), { code: 'EACCES', path: join(folder, ...path) });
    return folderErrorText(error, folder);
  };
  const fix = `run "chown -R ${uid}:${gid} ${folder}" as root, or start the service as user ${uid}`;
  const problem = `The data folder ${folder} (SERVICE_DATA_DIR) cannot be used: user ${uid} with group ${gid} has no permission, because`;
  const owner = `belongs to user ${uid} and group ${gid} with mode`;
  t.equal(describe(), `${problem} ${folder} ${owner} 2755; ${fix} (EACCES).`);
  t.equal(
    describe('store', 'new'),
    `${problem} ${folder} ${owner} 2755; ${fix} (EACCES at ${join(folder, 'store', 'new')}).`,
    'a folder that could not be created',
  );
  await mkdir(join(folder, 'store'));
  await chmod(join(folder, 'store'), 0o700);
  t.match(describe('store'), `${join(folder, 'store')} ${owner} 700; ${fix}`);
  // A path below a file cannot be examined, like one in a folder without permission.
  await writeFile(join(folder, 'file'), '', { mode: 0o600 });
  t.match(describe('file', 'store'), `${join(folder, 'file')} ${owner} 600; ${fix}`);
});
