import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import sharp from 'sharp';
import t from 'tap';
import { installed, startServer } from '../../bench/servers/launch.ts';
import { cdnSourceTag } from '../../server/image/caching.ts';
import { rootPath } from '../root.ts';
import { until } from '../until.ts';
import { picture } from './origin.ts';
import { startDelivery } from './service.ts';

const skip = !installed('varnishd') && 'Varnish is not installed';

/** Line in the documented examples that a service with JPEG XL needs. */
const jxlLine = /# (?=if \(req\.http\.accept ~ "image\/jxl"\))/;

/**
 * Starts Varnish with the documented example, except for the service's port and the JPEG XL line.
 */
async function startExample(
  t: { teardown(action: () => Promise<unknown>): void },
  upstream: number,
): Promise<string> {
  const example = await readFile(join(rootPath, 'docs/deploy/varnish.vcl'), 'utf8');
  const vcl = example.replace('"3000"', `"${upstream}"`).replace(jxlLine, '');
  const varnish = await startServer(
    'varnish',
    (port, folder) =>
      `varnishd -F -j none -s malloc,64m -n ${folder}/work -a 127.0.0.1:${port} -f ${folder}/vcl`.split(
        ' ',
      ),
    { files: () => ({ vcl }) },
  );
  t.teardown(() => varnish.close());
  return varnish.url;
}

/** Sends a ban, a method that `fetch` rejects, and returns the status. */
const ban = (url: string, headers: Readonly<Record<string, string>>) =>
  new Promise((resolve, reject) => {
    request(url, { method: 'BAN', headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .once('error', reject)
      .end();
  });

t.test('caches each format once in the Varnish example, and bans a tag', { skip }, async (t) => {
  const { service, origin, project, image } = await startDelivery(t, {
    environment: { SERVICE_AUTO_FORMATS: 'jxl,avif,webp' },
  });
  const varnish = await startExample(t, service.port);
  for (const name of ['a.jpg', 'b.jpg']) origin.serve(`/${name}`, await picture(600, 400));
  const load = async (accept: string, name = 'a.jpg', query = 'w=200') => {
    const response = await fetch(varnish + image(`/${name}`, query), { headers: { accept } });
    const body = Buffer.from(await response.arrayBuffer());
    const { status, headers } = response;
    // A hit shows two numbers: its own request and the request that fetched the image.
    const hit = (headers.get('x-varnish') ?? '').includes(' ');
    return { status, type: headers.get('content-type'), hit, body };
  };

  for (const [first, second, type] of [
    ['image/jxl,image/avif,image/webp,*/*;q=0.8', 'image/webp,image/avif,image/jxl', 'image/jxl'],
    ['image/avif,image/webp,image/apng,*/*;q=0.8', 'image/webp,image/avif,*/*', 'image/avif'],
    ['image/webp,*/*', 'text/html,image/webp', 'image/webp'],
    ['*/*', 'image/png', 'image/jpeg'],
  ] as const) {
    t.match(await load(first), { status: 200, type, hit: false }, first);
    t.match(await load(second), { status: 200, type, hit: true }, second);
  }
  t.match(await load('image/avif;q=0, image/webp'), { type: 'image/webp' }, 'as it was sent');
  t.equal((await fetch(`${varnish}/api/health`)).status, 200);

  const measureWidth = async (name: string) => {
    const { body, hit } = await load('*/*', name, 'fmt=png&q=50');
    return { width: (await sharp(body).metadata()).width, hit };
  };
  for (const name of ['a.jpg', 'b.jpg']) {
    t.match(await measureWidth(name), { width: 600, hit: false });
    origin.serve(`/${name}`, await picture(300, 200));
  }
  await service.admin('purge', project, `${origin.url}/a.jpg`);
  await until('the service has the new picture', async () => {
    const response = await fetch(service.url + image('/a.jpg', 'fmt=png&q=70'));
    return (await sharp(await response.arrayBuffer()).metadata()).width === 300;
  });
  t.match(await measureWidth('a.jpg'), { width: 600, hit: true });
  const tag = cdnSourceTag(project, new URL(`${origin.url}/a.jpg`));
  t.equal(await ban(varnish, { tag: '.*' }), 400);
  t.equal(await ban(varnish, { tag, 'x-forwarded-for': '192.0.2.1' }), 403);
  t.match(await measureWidth('a.jpg'), { width: 600, hit: true });
  t.equal(await ban(varnish, { tag }), 200);
  t.match(await measureWidth('a.jpg'), { width: 300, hit: false });
  t.match(await measureWidth('b.jpg'), { width: 600, hit: true });
});
