import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { rootPath } from '../root.ts';
import { temporaryRoot } from '../temporary-root.ts';
import { until } from '../until.ts';
import { held } from './held.ts';
import { picture, startTestOrigin } from './origin.ts';
import { freePort, startService } from './service.ts';

const isInstalled = spawnSync('nginx', ['-v']).status === 0;

/** nginx with the example of the documents, of which only the places are changed. */
async function startNginx(t: { teardown(action: () => Promise<unknown>): void }, upstream: string) {
  const folder = await mkdtemp(join(temporaryRoot, 'image-delivery-nginx-'));
  const port = await freePort();
  const example = await readFile(join(rootPath, 'docs/deploy/nginx.conf'), 'utf8');
  const server = example
    .replace('/var/cache/nginx/image-delivery', `${folder}/cache`)
    .replace('server 127.0.0.1:3000;', `server ${upstream};`)
    .replace('listen 80;', `listen 127.0.0.1:${port};`);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  // As root its workers would be another user, who may not read the temporary folder.
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  await writeFile(
    join(folder, 'nginx.conf'),
    `daemon off; ${user} worker_processes 1; pid ${folder}/pid; error_log stderr warn;
events {} http { access_log off; ${temporary.join(' ')} ${server} }`,
  );
  const args = ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'];
  const tried = spawnSync('nginx', ['-t', ...args], { encoding: 'utf8' });
  if (tried.status !== 0) throw new Error(tried.stderr);
  const child: ChildProcess = spawn('nginx', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = once(child, 'exit');
  t.teardown(async () => {
    child.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true, force: true });
  });
  const url = `http://127.0.0.1:${port}`;
  await until('nginx answers', () => fetch(url).then(Boolean, () => false));
  return url;
}

t.test(
  'the nginx example caches images, each format once, and nothing else',
  { skip: !isInstalled && 'nginx is not installed' },
  async (t) => {
    const origin = await startTestOrigin(t);
    origin.serve('/a.jpg', await picture(600, 400));
    const source = held(await picture(500, 300));
    origin.serve('/slow.jpg', source.reply);
    const service = await startService(t);
    const project = await service.project();
    const nginx = await startNginx(t, `127.0.0.1:${service.port}`);
    const urlOf = (name: string) => `${nginx}/img/${origin.url}/${name}?project=${project}&w=200`;
    const ask = async (headers: Record<string, string> = {}, url = urlOf('a.jpg')) => {
      const response = await fetch(url, { headers });
      const body = Buffer.from(await response.arrayBuffer());
      const { status } = response;
      const of = (name: string) => response.headers.get(name);
      return { status, of, body, edge: of('x-edge-cache'), type: of('content-type') };
    };

    // The headers of Chrome, Firefox and others.
    const chrome = { accept: 'image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8' };
    const firefox = {
      accept: 'image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5',
    };
    const first = await ask(chrome);
    t.match(first, { status: 200, edge: 'MISS', type: 'image/avif' });
    t.match(first.of('vary'), /^Accept, Sec-CH-DPR/, 'other caches are still told');
    const second = await ask(firefox);
    t.match(second, { edge: 'HIT', type: 'image/avif' }, 'another spelling of the same');
    t.ok(second.body.equals(first.body));
    for (const [accept, type] of [
      ['image/webp,*/*', 'image/webp'],
      ['*/*', 'image/jpeg'],
      ['image/avif;q=0, image/webp', 'image/webp'],
    ] as const) {
      t.match(await ask({ accept }), { edge: 'MISS', type }, accept);
      t.match(await ask({ accept }), { edge: 'HIT', type }, accept);
    }
    t.match(
      await ask({ ...chrome, 'sec-ch-width': '100' }),
      { edge: 'MISS' },
      'a hint is in the key',
    );

    const ranged = await ask({ ...chrome, range: 'bytes=10-19' });
    t.match(ranged, { status: 206, edge: 'HIT' });
    t.ok(ranged.body.equals(first.body.subarray(10, 20)));
    const cold = await ask({ range: 'bytes=0-9' }, `${urlOf('a.jpg')}&q=33`);
    t.match(cold, { status: 206, edge: 'MISS' });
    t.match(
      await ask({}, `${urlOf('a.jpg')}&q=33`),
      { status: 200, edge: 'HIT' },
      'the whole image',
    );
    const etag = first.of('etag') ?? '';
    t.match(await ask({ ...chrome, 'if-none-match': etag }), { status: 304 });

    const waiting = [1, 2, 3].map(() => ask({}, urlOf('slow.jpg')));
    await until('the fetch', () => source.waiting === 1);
    source.release();
    const edges = (await Promise.all(waiting)).map(({ edge }) => edge);
    t.same(edges.sort(), ['HIT', 'HIT', 'MISS'], 'one request renders for all');

    for (const _ of [1, 2]) {
      t.match(await ask({}, urlOf('none.jpg')), { status: 404, edge: 'MISS' }, 'no error is kept');
    }
    const health = await ask({}, `${nginx}/api/health`);
    t.match(health, { status: 200, edge: null });
    const created = await fetch(`${nginx}/api/sdk/v1/projects`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk_none', 'content-type': 'application/json' },
      body: '{}',
    });
    t.equal(created.status, 401, 'a body reaches the control plane');

    t.equal(await service.end('SIGTERM'), 0);
    t.match(await ask(chrome), { status: 200, edge: 'HIT' }, 'hits while the service is away');
  },
);
