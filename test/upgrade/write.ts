import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { version } from '../../contract/package.ts';
import { rendererVersion } from '../../pool/rendering/version.ts';
import { rootPath } from '../root.ts';
import { picture, startTestOrigin } from '../service/origin.ts';
import { startService } from '../service/service.ts';
import { until } from '../until.ts';

/**
 * `node dist-test/test/upgrade/write.js`: writes a data folder of the present version to
 * `test/upgrade/`, and a record of its contents, for the test that opens the folders of all
 * versions. docs/contributing/releasing.md says when to run it.
 */
const image = 'w=40&fmt=webp';

t.test('writes a data folder of this version', async (t) => {
  const origin = await startTestOrigin(t);
  origin.serve('/a.png', await picture(80, 60, 'png'));
  const service = await startService(t);
  const project = await service.project();
  const created = await service.admin('keys', 'create', '--org', 'default');
  const [key = ''] = /sk_[\w-]{43}/.exec(created) ?? [];
  const call = async (method: string, path: string, body: object) => {
    const response = await fetch(`${service.url}/api/sdk/v1/projects/${project}/${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(await response.text());
  };
  await call('PATCH', 'settings', { defaultQuality: 70 });
  await call('PUT', 'presets/card', { parameters: { w: 40, fmt: 'webp' } });
  await call('PUT', 'layers/words', { text: { words: 'Sale', size: 10 } });
  await call('POST', 'purge', { sources: [`${origin.url}/b.png`] });
  const source = `${origin.url}/a.png`;
  const path = `/img/${source}?project=${project}&${image}`;
  const response = await fetch(service.url + path);
  if (!response.ok) throw new Error(await response.text());
  const bytes = (await response.arrayBuffer()).byteLength;
  await until('the file', () =>
    execFileSync('find', [join(service.dataDir, 'cache'), '-size', '+0', '-type', 'f'], {
      encoding: 'utf8',
    }).includes('/'),
  );
  t.equal(await service.end(), 0);
  const folder = join(rootPath, 'test/upgrade');
  const tar = ['-C', service.dataDir, '--sort=name', '--owner=0', '--group=0', '-czf'];
  execFileSync('tar', [...tar, join(folder, `${version}.tar.gz`), '.']);
  const facts = { rendererVersion, project, key, path, bytes };
  await writeFile(join(folder, `${version}.json`), `${JSON.stringify(facts, null, 2)}\n`);
});
