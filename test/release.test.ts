import { execFile } from 'node:child_process';
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { installed } from '../bench/servers/launch.ts';
import { version } from '../contract/package.ts';
import { rootPath } from './root.ts';
import { temporaryFolder } from './temporary-root.ts';

const run = promisify(execFile);
const present = (path: string) => readFile(join(rootPath, path), 'utf8');

t.test('names the same service version everywhere', async (t) => {
  t.match(await present('compose.yaml'), `  image: image-delivery:${version}\n`);
  const chart = await present('docs/deploy/helm/image-delivery/Chart.yaml');
  t.match(chart, `\nversion: ${version}\nappVersion: ${version}\n`);
  t.match(await present('docs/install.md'), `docker build -t image-delivery:${version} .`);
  t.equal(JSON.parse(await present('package.json')).version, version);
  t.equal(JSON.parse(await present('sdk/package.json')).version, version);
});

const skip = !installed('git') && 'git is not installed';

t.test('rejects a release before it changes anything', { skip }, async (t) => {
  const folder = await temporaryFolder(t);
  const paths = ['package.json', 'sdk/package.json', 'scripts', 'server/console/page'];
  for (const path of paths) await cp(join(rootPath, path), join(folder, path), { recursive: true });
  await symlink(join(rootPath, 'node_modules'), join(folder, 'node_modules'));
  const options = { cwd: folder };
  const git = (...args: string[]) => run('git', args, options);
  await git('init', '--quiet');
  await writeFile(join(folder, '.gitignore'), 'node_modules\n');
  await git('add', '.');
  const author = [
    '-c',
    'user.name=a',
    '-c',
    'user.email=a@example.com',
    '-c',
    'commit.gpgsign=false',
  ];
  await git(...author, 'commit', '--quiet', '--message', 'First');
  await git('tag', 'v99.0.0');
  const refusal = async (of: string) => {
    const env = { ...process.env, NODE_OPTIONS: '' };
    const args = [join(folder, 'scripts/release.js'), of];
    const { code, stderr } = await run(process.execPath, args, { ...options, env }).catch(
      (error) => error,
    );
    t.equal(code, 1, of);
    return stderr;
  };
  for (const wrong of ['1.2', 'v1.2.3', '01.2.3', '1.2.3+build', '1.2.3;ls']) {
    t.match(await refusal(wrong), /^\nNo release: .* is not a version such as 1\.2\.3/);
  }
  t.match(await refusal('0.0.9'), `0.0.9 precedes the present version, ${version}`);
  t.match(await refusal('99.0.0'), 'the tag v99.0.0 exists');
  // The files that it would change are not all there.
  t.match(await refusal('99.0.1'), /Chart\.yaml/);
  t.equal((await git('status', '--porcelain')).stdout, '');
  await writeFile(join(folder, 'a.txt'), '');
  t.match(await refusal('99.0.1'), 'the working tree has changes');
});
