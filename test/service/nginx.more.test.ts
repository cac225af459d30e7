import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import sharp from 'sharp';
import t from 'tap';
import { hasNginx, startNginx } from '../../bench/servers/nginx.ts';
import { signature, signedText } from '../../server/image/access.ts';
import { cdnSourceTag } from '../../server/image/caching.ts';
import { rootPath } from '../root.ts';
import { until } from '../until.ts';
import { startFrontEnd } from './front-end.ts';
import { held } from './held-reply.ts';
import { playHostGames } from './host-games.ts';
import { httpServers } from './http-servers.ts';
import { picture } from './origin.ts';
import { StrictConnection } from './raw-http.ts';
import { freePort, startDelivery } from './service.ts';

const skip = !hasNginx && 'nginx is not installed';

type Teardown = { teardown(action: () => Promise<unknown>): void };

/** Starts a relay between nginx and the service that counts connections and records requests. */
async function startRelay(t: Teardown, port: number) {
  let connections = 0;
  let sent = '';
  const relay = createServer((client) => {
    connections += 1;
    client.on('data', (bytes) => {
      sent += bytes.toString('latin1');
    });
    const server = connect(port, '127.0.0.1');
    client.pipe(server).pipe(client);
    client.on('error', () => server.destroy()).on('close', () => server.destroy());
    server.on('error', () => client.destroy());
  });
  const own = await freePort();
  relay.listen(own, '127.0.0.1');
  await once(relay, 'listening');
  t.teardown(async () => relay.close());
  return { port: own, connections: () => connections, sent: () => sent };
}

/**
 * Starts nginx with the documented example, except for paths and ports. Returns its URL and its
 * cache.
 */
async function startExample(t: Teardown, upstream: string) {
  const example = await readFile(join(rootPath, 'docs/deploy/nginx.conf'), 'utf8');
  let cache = '';
  const nginx = await startNginx('nginx', (folder, port) => {
    cache = `${folder}/cache`;
    return example
      .replace('/var/cache/nginx/image-delivery', cache)
      .replace('server 127.0.0.1:3000;', `server ${upstream};`)
      .replace('listen 80;', `listen 127.0.0.1:${port};`);
  });
  t.teardown(() => nginx.close());
  return { nginx: nginx.url, cache };
}

t.test('caches only images in the nginx example, each format once', { skip }, async (t) => {
  const { service, origin, image } = await startDelivery(t);
  origin.serve('/a.jpg', await picture(600, 400));
  const source = held(await picture(500, 300));
  origin.serve('/slow.jpg', source.reply);
  const { nginx } = await startExample(t, `127.0.0.1:${service.port}`);
  const toUrl = (name: string) => nginx + image(`/${name}`, 'w=200');
  const load = async (headers: Record<string, string> = {}, url = toUrl('a.jpg')) => {
    const response = await fetch(url, { headers, redirect: 'manual' });
    const body = Buffer.from(await response.arrayBuffer());
    const { status } = response;
    const of = (name: string) => response.headers.get(name);
    return { status, of, body, edge: of('x-edge-cache'), type: of('content-type') };
  };

  /** Returns a signed URL of a cached image, and its expiry in Unix seconds. */
  const signedAndCached = async (id: string) => {
    const secret = await service.admin('projects', 'sign', id, '--ttl', '60');
    // Another one follows when a busy machine takes too long for two requests.
    return until('a signed URL that was requested twice', async () => {
      const exp = Math.floor(Date.now() / 1_000) + 3;
      const [path, query] = [`/img/${origin.url}/a.jpg`, `project=${id}&w=50&exp=${exp}`];
      const url = `${nginx}${path}?${query}&sig=${signature(secret, signedText(path, query))}`;
      const edges = [(await load({}, url)).edge, (await load({}, url)).edge];
      return edges[1] === 'HIT' && ([url, exp] as const);
    });
  };

  // Accept headers of Chrome, Firefox and others.
  const chrome = { accept: 'image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8' };
  const firefox = {
    accept: 'image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5',
  };
  const first = await load(chrome);
  t.match(first, { status: 200, edge: 'MISS', type: 'image/avif' });
  t.match(first.of('vary'), /^Accept, Sec-CH-DPR/, 'other caches still get Vary');
  const second = await load(firefox);
  t.match(second, { edge: 'HIT', type: 'image/avif' }, 'an equivalent Accept header');
  t.ok(second.body.equals(first.body));
  for (const [accept, type] of [
    ['image/webp,*/*', 'image/webp'],
    ['*/*', 'image/jpeg'],
    ['image/avif;q=0, image/webp', 'image/webp'],
  ] as const) {
    t.match(await load({ accept }), { edge: 'MISS', type }, accept);
    t.match(await load({ accept }), { edge: 'HIT', type }, accept);
  }
  t.match(
    await load({ ...chrome, 'sec-ch-width': '100' }),
    { edge: 'MISS' },
    'a client hint is part of the cache key',
  );

  const etag = first.of('etag') ?? '';
  t.match(await load({ ...chrome, 'if-none-match': etag }), { status: 304 });

  const { search, pathname } = new URL(toUrl('a.jpg'));
  const inQuery = `/img${search}&url=${encodeURIComponent(pathname.slice('/img/'.length))}&q=34`;
  const long = `${toUrl('a.jpg')}&utm_source=${'x'.repeat(14_000)}`;
  for (const url of [nginx + inQuery, long]) {
    t.match(await load({}, url), { status: 200, edge: 'MISS' }, url.slice(0, 80));
    t.match(await load({}, url), { status: 200, edge: 'HIT' });
  }

  const waiting = [1, 2, 3].map(() => load({}, toUrl('slow.jpg')));
  await until('the fetch', () => source.waiting === 1);
  source.release();
  const edges = (await Promise.all(waiting)).map(({ edge }) => edge);
  t.same(edges.sort(), ['HIT', 'HIT', 'MISS'], 'one request renders for all');

  for (const edge of ['MISS', 'HIT']) {
    t.match(await load({}, toUrl('none.jpg')), { status: 404, edge }, 'briefly, if it is missing');
    const invalid = await load({}, `${toUrl('a.jpg')}&w=0`);
    t.match(invalid, { status: 400, edge: 'MISS' }, 'other errors are not cached');
  }
  const health = await load({}, `${nginx}/api/health`);
  t.match(health, { status: 200, edge: null });
  const created = await fetch(`${nginx}/api/sdk/v1/projects`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk_none', 'content-type': 'application/json' },
    body: '{}',
  });
  t.equal(created.status, 401, 'a body reaches the control plane');

  const [signed, exp] = await signedAndCached(await service.project());
  await until('its expiry', () => Date.now() >= exp * 1_000 + 1_000);
  for (const time of ['first', 'second']) {
    t.match(await load({}, signed), { status: 403 }, `the ${time} request after the expiry`);
  }

  t.equal(await service.end('SIGTERM'), 0);
  t.match(await load({}, signed), { status: 502 }, 'also while the service is stopped');
  t.match(await load(chrome), { status: 200, edge: 'HIT' }, 'hits while the service is stopped');
});

t.test(
  'purges one source in the nginx example with the command of docs/cdn.md',
  { skip },
  async (t) => {
    const { service, origin, project, image } = await startDelivery(t);
    const { nginx, cache } = await startExample(t, `127.0.0.1:${service.port}`);
    const load = async (name: string, query: string) => {
      const response = await fetch(nginx + image(`/${name}`, `fmt=png&${query}`));
      const { width } = await sharp(await response.arrayBuffer()).metadata();
      return { width, edge: response.headers.get('x-edge-cache') };
    };
    const requests = [
      ['a.jpg', 'q=50'],
      ['a.jpg', 'q=60'],
      ['b.jpg', 'q=50'],
    ] as const;
    const all = () => Promise.all(requests.map(([name, query]) => load(name, query)));
    for (const name of ['a.jpg', 'b.jpg']) origin.serve(`/${name}`, await picture(600, 400));
    for (const edge of ['MISS', 'HIT']) t.same(await all(), Array(3).fill({ width: 600, edge }));

    for (const name of ['a.jpg', 'b.jpg']) origin.serve(`/${name}`, await picture(300, 200));
    await service.admin('purge', project, `${origin.url}/a.jpg`);
    await until('the service has the new picture', async () => {
      const response = await fetch(service.url + image('/a.jpg', 'fmt=png&q=70'));
      return (await sharp(await response.arrayBuffer()).metadata()).width === 300;
    });
    t.same(await all(), Array(3).fill({ width: 600, edge: 'HIT' }));
    const page = await readFile(join(rootPath, 'docs/cdn.md'), 'utf8');
    const [command = ''] = /^grep .*\/var\/cache\/nginx.*$/m.exec(page) ?? [];
    const tag = cdnSourceTag(project, new URL(`${origin.url}/a.jpg`));
    execFileSync('sh', ['-c', command.replace(/\/var\S+/, cache).replace(/s-[0-9a-f]{30}/, tag)]);
    const renewed = { width: 300, edge: 'MISS' };
    t.same(await all(), [renewed, renewed, { width: 600, edge: 'HIT' }]);
  },
);

for (const engine of httpServers) {
  t.test(`hides no request behind a body that nginx drops (${engine})`, { skip }, async (t) => {
    const { port, origin, image } = await startFrontEnd(t, { SERVICE_HTTP_ENGINE: engine });
    origin.serve('/a.jpg', await picture(600, 400));
    const relay = await startRelay(t, port);
    const { nginx } = await startExample(t, `127.0.0.1:${relay.port}`);
    let width = 20;
    const target = () => {
      width += 1;
      return image('/a.jpg', `w=${width}&fmt=png`);
    };
    const body = 'x'.repeat(150);
    for (const [what, fields, sent] of [
      ['a length', `Content-Length: ${body.length}`, body],
      ['chunks', 'Transfer-Encoding: chunked', `96\r\n${body}\r\n0\r\n\r\n`],
    ] as const) {
      for (const method of ['GET', 'HEAD', 'POST']) {
        const client = await StrictConnection.open(Number(new URL(nginx).port));
        client.send(`${method} ${target()} HTTP/1.1\r\nHost: x\r\n${fields}\r\n\r\n${sent}`);
        const response = await client.response(method);
        client.close();
        t.equal(response.status, method === 'POST' ? 405 : 200, `${method} with ${what}`);
        for (const time of ['first', 'second']) {
          const response = await fetch(nginx + target());
          t.equal(response.headers.get('x-edge-cache'), 'MISS', `the ${time} request after it`);
          const image = await sharp(Buffer.from(await response.arrayBuffer())).metadata();
          t.equal(image.width, width, 'its own image');
        }
      }
    }
    t.notMatch(relay.sent(), /^(content-length|transfer-encoding):|x{150}/im);
    t.equal(relay.connections(), 1, 'the connection is kept');
  });
}

for (const engine of httpServers) {
  t.test(
    `delivers no image of another host's project behind nginx (${engine})`,
    { skip },
    async (t) => {
      const service = await startFrontEnd(t, {
        SERVICE_HTTP_ENGINE: engine,
        SERVICE_TRUSTED_PROXIES: '127.0.0.1',
      });
      const { nginx } = await startExample(t, `127.0.0.1:${service.port}`);
      await playHostGames(t, 'nginx', service, Number(new URL(nginx).port));
    },
  );
}

/** Pages with an nginx block, the delivery host in it, its kind of URLs, and an image's path. */
const documentedHosts = [
  ['delivery-hosts', 'img.shop.example', 'native', '/a.jpg?w=30'],
  ['migration/cloudflare', 'images.shop.example', 'cloudflare', '/cdn-cgi/image/width=30/a.jpg'],
  ['migration/next', 'next.shop.example', 'next', '/_next/image?url=%2Fa.jpg&w=30&q=75'],
] as const;

t.test('delivers images at the delivery hosts of the documented blocks', { skip }, async (t) => {
  const { store, origin, port, project } = await startFrontEnd(t);
  origin.serve('/a.jpg', await picture(60, 40));
  for (const [page, host, urls, path] of documentedHosts) {
    await store.projects.hostClaims.claim(host, project);
    const base = `${origin.url}/`;
    await store.projects.setItem(project, 'hosts', host, {
      host,
      base,
      urls,
      updatedAt: new Date(),
    });
    const text = await readFile(join(rootPath, `docs/${page}.md`), 'utf8');
    const block = /^```nginx\n([\s\S]*?)^```$/m.exec(text)?.[1] ?? '';
    const server = block.startsWith('server') ? block : `server {\n${block}}\n`;
    const nginx = await startNginx('nginx', (_, own) =>
      server
        .replace('server {', `server {\n  listen 127.0.0.1:${own};`)
        .replace('http://127.0.0.1:3000', `http://127.0.0.1:${port}`),
    );
    t.teardown(() => nginx.close());
    const client = await StrictConnection.open(Number(new URL(nginx.url).port));
    const response = await until(`the delivery host of ${page}`, async () => {
      const response = await client.request('GET', path, { host });
      return response.status !== 404 && response;
    });
    client.close();
    t.equal(response.status, 200, page);
    t.match(await sharp(response.body).metadata(), { width: 30 }, page);
  }
});
