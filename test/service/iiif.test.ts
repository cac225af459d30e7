import sharp from 'sharp';
import type { Test } from 'tap';
import { until } from '../until.ts';
import { prefix, rootKey, send } from './control/control.ts';
import { startFrontEnd } from './front-end.ts';
import { defaultHttpServer, eachHttpServer } from './http-servers.ts';
import { picture } from './origin.ts';
import { StrictConnection } from './raw-http.ts';

type Headers = Readonly<Record<string, string>>;

const context = (version: number) => `http://iiif.io/api/image/${version}/context.json`;

/** Starts a service with an IIIF host, and a 1600 × 1000 image in a folder below its base. */
async function startIiif(t: Test, environment: Headers) {
  const service = await startFrontEnd(t, { ...environment, SERVICE_ROOT_API_KEY: rootKey });
  const { origin, store, port, createProject } = service;
  await store.db.collection('hosts').deleteMany({});
  const id = await createProject('127.0.0.1');
  const host = 'iiif.shop.example';
  const base = `${origin.url}/files/`;
  await store.projects.hostClaims.claim(host, id);
  await store.projects.setItem(id, 'hosts', host, {
    host,
    base,
    urls: 'iiif',
    updatedAt: new Date(),
  });
  origin.serve('/files/x/a%20b.jpg', await picture(1600, 1000));
  origin.serve('/files/not.txt', Buffer.from('no image'));
  const get = async (target: string, headers: Headers = {}, method = 'GET') => {
    const connection = await StrictConnection.open(port);
    const response = await connection.request(method, target, { host, ...headers });
    connection.close();
    return { ...response, text: response.body.toString() };
  };
  return { ...service, id, base, get };
}

eachHttpServer(
  'describes a source in info.json',
  async (t, { environment }) => {
    const trusted = { ...environment, SERVICE_TRUSTED_PROXIES: '127.0.0.1' };
    const { get, origin, port, id } = await startIiif(t, trusted);
    const own = '/iiif/3/x%2Fa%20b.jpg';

    t.test('describes the image in version 3.0', async (t) => {
      const { status, headers, text } = await get(`${own}/info.json`);
      t.equal(status, 200);
      t.equal(headers.get('content-type'), `application/ld+json;profile="${context(3)}"`);
      t.equal(headers.get('access-control-allow-origin'), '*');
      t.equal(headers.get('cache-control'), 'public, max-age=3600');
      t.match(JSON.parse(text), {
        '@context': context(3),
        id: `http://iiif.shop.example${own}`,
        type: 'ImageService3',
        protocol: 'http://iiif.io/api/image',
        profile: 'level2',
        width: 1600,
        height: 1000,
        maxWidth: 10_000,
        maxArea: 40_000_000,
        sizes: [
          { width: 400, height: 250 },
          { width: 800, height: 500 },
          { width: 1600, height: 1000 },
        ],
        tiles: [{ width: 512, scaleFactors: [1, 2, 4] }],
        extraFormats: ['webp', 'gif'],
      });
      const again = await get(`${own}/info.json`, { 'if-none-match': headers.get('etag') ?? '' });
      t.equal(again.status, 304);
      t.equal((await get(`${own}/info.json`, {}, 'HEAD')).status, 200);
    });

    t.test('describes the image in version 2.1', async (t) => {
      const { headers, text } = await get('/iiif/2/x%2Fa%20b.jpg/info.json');
      t.equal(headers.get('content-type'), 'application/json');
      const info = JSON.parse(text);
      t.match(info, {
        '@context': context(2),
        '@id': 'http://iiif.shop.example/iiif/2/x%2Fa%20b.jpg',
        width: 1600,
        height: 1000,
        profile: ['http://iiif.io/api/image/2/level2.json', { maxWidth: 10_000 }],
      });
      const accept = `application/ld+json;profile="${context(2)}"`;
      const linked = await get('/iiif/2/x%2Fa%20b.jpg/info.json', { accept });
      t.equal(linked.headers.get('content-type'), 'application/ld+json');
      t.match(linked.headers.get('vary'), /accept/i);
      const third = await get('/iiif/x%2Fa%20b.jpg/info.json');
      t.equal(JSON.parse(third.text).id, 'http://iiif.shop.example/iiif/x%2Fa%20b.jpg');
    });

    t.test("ignores the request's port unless it is the base URL's", async (t) => {
      for (const [host, expected] of [
        ['IIIF.shop.example:8443', ''],
        ['iiif.shop.example:0', ''],
        [`iiif.shop.example:${port}`, `:${port}`],
      ] as const) {
        const { text } = await get(`${own}/info.json`, { host });
        t.equal(JSON.parse(text).id, `http://iiif.shop.example${expected}${own}`, host);
      }
    });

    t.test("uses the base URL's scheme, whatever a trusted proxy forwards", async (t) => {
      const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil.example' };
      const { text } = await get(`${own}/info.json`, forwarded);
      t.equal(JSON.parse(text).id, `http://iiif.shop.example${own}`);
    });

    t.test('redirects to the description', async (t) => {
      for (const [path, location] of [
        [own, `${own}/info.json`],
        [`${own}/`, `${own}/info.json`],
        ['/x%2Fa%20b.jpg', '/x%2Fa%20b.jpg/info.json'],
      ] as const) {
        const { status, headers } = await get(path);
        t.same([status, headers.get('location')], [303, location], path);
        t.equal(headers.get('access-control-allow-origin'), '*');
      }
    });

    t.test('counts the parameters of a tile', async (t) => {
      for (let i = 0; i < 2; i += 1) await get(`${own}/0,0,512,512/64,64/0/gray.png`);
      const { body } = await send(port, 'GET', `${prefix}/projects/${id}/top`, {});
      const { variants } = body.top.hour;
      const variant = 'crop=0,0,512,512&dpr=1&fit=fill&fmt=png&grayscale=1&h=64&w=64';
      t.match(
        variants.find(({ requests }: { requests: number }) => requests === 2),
        { variant },
      );
    });

    t.test('fetches the source once', async (t) => {
      t.equal(origin.requests.get('/files/x/a%20b.jpg'), 1);
    });
  },
  defaultHttpServer,
);

eachHttpServer(
  'delivers tiles like the native parameters',
  async (t, { environment }) => {
    const { get, id, base, url, origin } = await startIiif(t, environment);
    const native = `${url}/img/${encodeURIComponent(`${base}x/a b.jpg`)}?project=${id}&`;
    const own = '/iiif/3/x%2Fa%20b.jpg';
    for (const [request, parameters] of [
      ['full/max/0/default.jpg', 'w=1600&h=1000&fit=fill&fmt=jpeg'],
      ['512,512,512,512/256,256/0/color.jpg', 'crop=512,512,512,512&w=256&h=256&fit=fill&fmt=jpeg'],
      ['0,0,99999,1000/pct:50/0/gray.png', 'w=800&h=500&fit=fill&grayscale&fmt=png'],
      [
        'square/^2000,/270/default.webp',
        'crop=300,0,1000,1000&w=2000&h=2000&fit=fill&enlarge&animated=0&rotate=270&fmt=webp',
      ],
    ] as const) {
      const same = await fetch(native + parameters);
      for (let i = 0; i < 2; i += 1) {
        const { status, headers, body } = await get(`${own}/${request}`, { 'sec-ch-width': '320' });
        t.same([status, headers.get('etag')], [200, same.headers.get('etag')], request);
        t.equal(headers.get('access-control-allow-origin'), '*');
        t.ok((await sharp(body).metadata()).width);
      }
    }
    for (const [request, size] of [
      ['7,11,333,777/101,50/90/default.jpg', '50x101'],
      ['7,11,333,777/pct:33/!270/gray.png', '256x110'],
      ['full/1,/0/default.png', '1x1'],
      ['0,0,1600,3/400,/0/default.jpg', '400x1'],
      ['pct:33.3,33.3,33.3,33.3/max/12.5/default.png', '592x440'],
      ['square/^1999,/180/bitonal.gif', '1999x1999'],
      ['full/^!2000,2000/45/default.webp', '2298x2298'],
      ['1599,999,512,512/max/!90/color.jpg', '1x1'],
    ] as const) {
      const { width, height } = await sharp((await get(`${own}/${request}`)).body).metadata();
      t.equal(`${width}x${height}`, size, request);
    }
    t.equal(origin.requests.get('/files/x/a%20b.jpg'), 1, 'one fetch');
  },
  defaultHttpServer,
);

eachHttpServer('refuses other paths, sources and values', async (t, { environment }) => {
  const { get, store, id } = await startIiif(t, environment);
  const request = 'full/max/0/default.jpg';
  for (const [path, status, code] of [
    [`/iiif/3/x/a%20b.jpg/${request}`, 404, 'source_not_found'],
    [`/x/a%20b.jpg/${request}`, 404, 'source_not_found'],
    ['/products/x%2Fa%20b.jpg', 404, 'source_not_found'],
    [`/iiif/3/missing.jpg/${request}`, 404, 'source_not_found'],
    ['/iiif/3/missing.jpg/info.json', 404, 'source_not_found'],
    ['/iiif/3/not.txt/info.json', 415, 'source_unsupported'],
    [`/iiif/3/x%2Fa%2520b.jpg/${request}`, 200, undefined],
    [`/cantaloupe/iiif/2/x%2Fa%20b.jpg/full/full/0/default.jpg`, 200, undefined],
    [`/iiif/3/[frob]/${request}`, 400, 'source_invalid'],
    [`/iiif/3/%ff/${request}`, 400, 'source_invalid'],
    [`/iiif/3/%zz/${request}`, 400, 'source_invalid'],
    [`/iiif/3//${request}`, 400, 'source_missing'],
    [`/iiif/3/..%2Foutside.jpg/${request}`, 400, 'source_invalid'],
    [`/iiif/3/..%5Coutside.jpg/${request}`, 400, 'source_invalid'],
    [`/iiif/3/x%2Fa%20b.jpg%3Fv=1/${request}`, 404, 'source_not_found'],
    ['/iiif/3/x%2Fa%20b.jpg/full/full/0/default.jpg', 400, 'parameter_invalid'],
    ['/iiif/3/x%2Fa%20b.jpg/full/max/0/default.tif', 400, 'parameter_invalid'],
    ['/iiif/3/x%2Fa%20b.jpg/1600,0,5,5/max/0/default.jpg', 400, 'parameter_invalid'],
    ['/iiif/3/x%2Fa%20b.jpg/full/1700,/0/default.jpg', 400, 'parameter_invalid'],
  ] as const) {
    const response = await get(path);
    t.equal(response.status, status, path);
    if (code !== undefined) t.equal(JSON.parse(response.text).code, code, path);
  }
  const ignored = await get(`/iiif/3/x%2Fa%20b.jpg/${request}?w=3&utm_source=x`);
  t.equal(ignored.headers.get('x-image-warnings'), 'parameter_unknown;name="w"');
  const host = 'iiif.shop.example';
  const base = 'http://other.example/';
  await store.projects.setItem(id, 'hosts', host, {
    host,
    base,
    urls: 'iiif',
    updatedAt: new Date(),
  });
  const fetchStatus = async () => (await get('/iiif/3/x%2Fa%20b.jpg/info.json')).status;
  await until('the allowlist does not have the source', async () => (await fetchStatus()) === 403);
  t.equal((await get(`/iiif/3/x%2Fa%20b.jpg/${request}`)).status, 403);
  t.equal((await get('/iiif/3/x%2Fa%20b.jpg')).status, 403);
});
