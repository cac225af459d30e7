import { execFileSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { rendererVersion } from '../../pool/rendering/version.ts';
import { rootPath } from '../root.ts';
import { json, startService } from '../service/service.ts';
import { temporaryFolder } from '../temporary-root.ts';

/** Record that `write.ts` wrote with a version of the service. */
interface Written {
  readonly rendererVersion: number;
  readonly project: string;
  readonly key: string;
  /** Path and query of the cached image. Its origin is gone. */
  readonly path: string;
  readonly bytes: number;
}

const folder = join(rootPath, 'test/upgrade');
const versions = (await readdir(folder))
  .filter((name) => name.endsWith('.tar.gz'))
  .map((name) => name.replace('.tar.gz', ''));
t.ok(versions.includes('0.1.0'));

for (const version of versions) {
  t.test(`opens a data folder of version ${version}`, async (t) => {
    const dataDir = await temporaryFolder(t);
    execFileSync('tar', ['-xzf', join(folder, `${version}.tar.gz`), '-C', dataDir]);
    const written: Written = JSON.parse(await readFile(join(folder, `${version}.json`), 'utf8'));
    const service = await startService(t, { dataDir });
    const get = async (path: string) => {
      const headers = { authorization: `Bearer ${written.key}` };
      const response = await fetch(`${service.url}/api/sdk/v1/projects${path}`, { headers });
      t.equal(response.status, 200, `projects${path}`);
      return json(response);
    };
    const { projects } = await get('');
    t.match(projects, [{ id: written.project, defaultQuality: 70 }]);
    t.match(await get(`/${written.project}/presets`), { presets: [{ name: 'card' }] });
    t.match(await get(`/${written.project}/layers`), { layers: [{ name: 'words' }] });
    const response = await fetch(service.url + written.path);
    if (written.rendererVersion === rendererVersion) {
      t.match([response.status, response.headers.get('x-cache')], [200, 'disk']);
      t.equal((await response.arrayBuffer()).byteLength, written.bytes);
    } else {
      t.equal(response.status, 502, 'another version of the renderer does not use the image');
    }
    t.equal(await service.end(), 0);
  });
}
