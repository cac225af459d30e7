import sharp from 'sharp';
import type { Test } from 'tap';
import { signature, signImageUrl } from '../../server/image/access.ts';
import { siteAtHost } from '../../server/image/site.ts';
import type { Project } from '../../store/projects.ts';
import { cloudinarySignature } from '../../urls/src/cloudinary.ts';
import { imgixSignature } from '../../urls/src/imgix.ts';
import { imgproxySignature } from '../../urls/src/imgproxy/imgproxy.ts';
import { thumborSignature } from '../../urls/src/thumbor.ts';
import { until } from '../until.ts';
import { urlExamples } from '../url-examples.ts';
import { documentedSizes } from './documented-sizes.ts';
import { startFrontEnd } from './front-end.ts';
import { playHostGames } from './host-games.ts';
import { defaultHttpServer, eachHttpServer } from './http-servers.ts';
import { picture } from './origin.ts';
import { type RawResponse, StrictConnection } from './raw-http.ts';

type Headers = Readonly<Record<string, string>>;

/** Returns the width of a PNG, or 0 for another body. */
const readWidth = ({ body }: RawResponse): number =>
  body.subarray(1, 4).toString() === 'PNG' ? body.readUInt32BE(16) : 0;

/**
 * Starts a service with two projects and a host per project. Their source images are 40 and 60
 * pixels wide.
 */
async function startTwoSites(t: Test, environment: Headers) {
  const service = await startFrontEnd(t, environment);
  const { origin, store, port } = service;
  const sites: string[] = [];
  // Remove the hosts of the previous test, which uses the same store.
  await store.db.collection('hosts').deleteMany({});
  for (const [name, width] of [
    ['a', 40],
    ['b', 60],
  ] as const) {
    const id = await service.createProject('127.0.0.1');
    sites.push(id);
    origin.serve(`/${name}/pic.png`, await picture(width, 30));
    origin.serve(`/${name}/x/%C3%BC%20y.png`, await picture(width, 30));
    await setHost(store.projects, id, `img.${name}.example`, `${origin.url}/${name}/`);
  }
  origin.serve('/outside.png', await picture(80, 30));
  const [a = '', b = ''] = sites;
  const get = async (host: string, target: string, headers: Headers = {}) => {
    const connection = await StrictConnection.open(port);
    const response = await connection.request('GET', target, { host, ...headers });
    connection.close();
    return response;
  };
  /** Sends raw bytes and returns the status and image width of the response. */
  const send = async (bytes: string) => {
    const connection = await StrictConnection.open(port);
    connection.send(bytes);
    const response = await connection.response();
    connection.close();
    return [response.status, readWidth(response)];
  };
  return { ...service, a, b, get, send };
}

async function setHost(
  projects: Awaited<ReturnType<typeof startFrontEnd>>['store']['projects'],
  id: string,
  host: string,
  base: string | null,
  urls = 'native',
): Promise<Project | null> {
  await projects.hostClaims.claim(host, id);
  return projects.setItem(id, 'hosts', host, { host, base, urls, updatedAt: new Date() });
}

eachHttpServer(
  "delivers the sources below a host's base",
  async (t, { environment }) => {
    const { get, a, b, url, port, origin, store, image } = await startTwoSites(t, environment);
    const query = 'w=20&fmt=png';
    const native = await fetch(
      `${url}/img/${encodeURIComponent(`${origin.url}/a/pic.png`)}?project=${a}&${query}`,
    );
    const onHost = await get('img.a.example', `/pic.png?${query}`);
    t.equal(onHost.status, 200);
    t.equal(onHost.headers.get('etag'), native.headers.get('etag'), 'the same image');
    t.equal(onHost.headers.get('cache-tag'), native.headers.get('cache-tag'));
    t.match(onHost.headers.get('server-timing'), /^cache;desc=memory/, 'of the same cache');
    t.equal(readWidth(await get('img.a.example', '/pic.png?fmt=png')), 40);
    t.equal(readWidth(await get('img.b.example', '/pic.png?fmt=png')), 60);
    t.equal(readWidth(await get('img.a.example', '/x/%C3%BC%20y.png?fmt=png')), 40);
    const warned = await get('img.a.example', '/pic.png?magnify=2&utm_source=x');
    t.equal(warned.headers.get('x-image-warnings'), 'parameter_unknown;name="magnify"');

    t.test("maps paths below /img to the host's project", async (t) => {
      const source = encodeURIComponent(`${origin.url}/outside.png`);
      for (const target of [`/img/${source}?fmt=png`, `/img/?url=${source}&fmt=png&project=${a}`]) {
        for (let i = 0; i < 2; i += 1) t.equal(readWidth(await get('img.a.example', target)), 80);
      }
      const own = `/img/${source}?project=${b}&fmt=png`;
      t.equal(readWidth(await get('127.0.0.1', own)), 80);
      for (const target of [own, `/pic.png?project=${b}`]) {
        const { status, body } = await get('img.a.example', target);
        t.equal(status, 400, target);
        t.match(JSON.parse(body.toString()), {
          code: 'parameter_invalid',
          message: 'The host belongs to another project.',
        });
      }
    });

    t.test('keeps the path below the base', async (t) => {
      for (const path of [
        '/../outside.png',
        '/%2e%2e/outside.png',
        '/x/../../b/pic.png',
        '/..%2Foutside.png',
        '/%2e%2E%2foutside.png',
        '/x/..%5c..%5coutside.png',
        '/x%2F..%252F..%252Foutside.png',
        '/x%252F%252e%252e',
        '/..;/outside.png',
        '/..%3Bx%2Foutside.png',
      ]) {
        const { status, headers } = await get('img.a.example', path);
        t.equal(status, 400, path);
        t.match(headers.get('x-image-error'), /^source_invalid/);
      }
      for (const path of [
        '//127.0.0.1/outside.png',
        '/\\evil.example/x.png',
        '/..x/outside.png',
        '/x..%2Fa...png',
        '/...%2Fa.png',
      ]) {
        t.equal((await get('img.a.example', path)).status, 404, path);
      }
    });

    t.test('defaults the base of a host to the project origin', async () => {
      await setHost(store.projects, a, 'site.a.example', null);
      const project = await store.projects.find(a);
      const id = project?._id ?? '';
      await store.projects.updateIdentity(id, { origin: `${origin.url}/a/` }, null);
      await until('it has the new origin', async () => {
        return readWidth(await get('site.a.example', '/pic.png?fmt=png')) === 40;
      });
    });

    t.test('serves no images, but the service itself, on other hosts', async (t) => {
      const nowhere = await get('img.c.example', '/pic.png');
      t.equal(nowhere.status, 404);
      t.match(JSON.parse(nowhere.body.toString()), {
        code: 'endpoint_not_found',
        message: 'GET /pic.png does not exist on img.c.example, which is not a delivery host.',
        resolution_hint: / delivery host, forward the Host header\.$/,
      });
      t.equal(nowhere.headers.get('x-image-error'), undefined);
      const missing = await get('127.0.0.1', '/healthz');
      t.match(JSON.parse(missing.body.toString()).message, /Did you mean \/api\/health\?$/);
      t.equal((await get('img.c.example', '/api/health/live')).status, 200);
      origin.serve('/c.png', await picture(50, 30));
      const ofDefault = image('/c.png', 'fmt=png');
      for (let i = 0; i < 3; i += 1) t.equal(readWidth(await get('cdn.example', ofDefault)), 50);
      const connection = await StrictConnection.open(port);
      t.equal(
        (await connection.request('POST', '/pic.png', { host: 'img.a.example' })).status,
        404,
      );
      const preflight = await connection.request('OPTIONS', '/pic.png', { host: 'img.a.example' });
      t.equal(preflight.status, 204);
      connection.close();
    });

    t.test('applies a host change within two seconds', async (t) => {
      t.equal(readWidth(await get('moving.example', '/pic.png?fmt=png')), 0);
      await setHost(store.projects, a, 'moving.example', `${origin.url}/a/`);
      const widthIs = (width: number) => async () =>
        readWidth(await get('moving.example', '/pic.png?fmt=png')) === width;
      await until('it is of the first project', widthIs(40));
      await store.projects.hostClaims.release('moving.example', a);
      await store.projects.removeItem(a, 'hosts', 'moving.example');
      await setHost(store.projects, b, 'moving.example', `${origin.url}/b/`);
      await until('it is of the second project', widthIs(60));
      await store.projects.hostClaims.release('moving.example', b);
      await store.projects.delete(b);
      await until('it is of no project', widthIs(0));
      t.equal((await get('img.b.example', '/pic.png?fmt=png')).status, 404);
    });

    t.test("purges the host's images with the project's purge", async (t) => {
      origin.serve('/a/pic.png', await picture(44, 30));
      t.equal(readWidth(await get('img.a.example', '/pic.png?fmt=png')), 40, 'cached');
      await store.projects.purge(a, null);
      await until('the new picture', async () => {
        return readWidth(await get('img.a.example', '/pic.png?fmt=png')) === 44;
      });
    });
  },
  defaultHttpServer,
);

eachHttpServer('returns no image of the wrong project', async (t, { name, environment }) => {
  const service = await startFrontEnd(t, environment);
  await playHostGames(t, name, service, service.port);
});

eachHttpServer('reads X-Forwarded-Host of trusted proxies', async (t, { environment }) => {
  // A dual stack listener sees the proxy as ::ffff:127.0.0.1.
  const trusted = { ...environment, SERVICE_HOST: '::', SERVICE_TRUSTED_PROXIES: '127.0.0.1' };
  const { get, send } = await startTwoSites(t, trusted);
  const target = '/pic.png?fmt=png';
  const width = async (host: string, forwarded: string) =>
    readWidth(await get(host, target, { 'x-forwarded-host': forwarded }));
  for (let i = 0; i < 3; i += 1) {
    t.equal(await width('img.a.example', 'img.b.example'), 40, 'of a client, behind a cache');
    t.equal(await width('IMG.A.example:80', '127.0.0.1, img.b.example'), 40);
    t.equal(await width('127.0.0.1', 'IMG.B.EXAMPLE.:443'), 60);
    t.equal(await width(`origin${i}.example`, 'img.b.example'), 60, 'of a proxy with another name');
    t.equal(await width('127.0.0.1', 'img.a.example, img.b.example'), 60, 'of the nearest proxy');
    t.equal(await width('127.0.0.1', '127.0.0.1'), 0);
    t.equal(await width('img.a.example', ''), 40);
    t.equal(await width('img.a.example', 'localhost'), 40);
  }
  const lines = 'X-Forwarded-Host: img.a.example\r\nX-Forwarded-Host: img.b.example';
  const twice = `GET ${target} HTTP/1.1\r\nHost: x.example\r\n${lines}\r\n\r\n`;
  t.same(await send(twice), [200, 60], 'two headers are one list');
});

/** URLs whose size follows client hints, and the width for a hinted width of 48 at a ratio of 3. */
const hintedUrls: Readonly<Record<string, readonly (readonly [url: string, width: number])[]>> = {
  cloudflare: [['/cdn-cgi/image/w=auto/a.jpg', 48]],
  cloudinary: [
    ['/image/upload/w_auto,dpr_auto/a.jpg', 48],
    ['/image/upload/w_30,dpr_auto/a.jpg', 90],
    ['/image/upload/c_crop,w_0.5,h_0.5/w_30,dpr_auto/a.jpg', 90],
  ],
};

/** URLs without a width, which a client hint would set on other hosts. */
const unsizedUrls: Readonly<Record<string, string>> = {
  cloudflare: '/cdn-cgi/image/quality=50/a.jpg',
  cloudinary: '/demo/image/upload/q_50/a.jpg',
  imgix: '/a.jpg?q=50',
  imgproxy: '/unsafe/q:50/plain/a.jpg',
  thumbor: '/unsafe/filters:quality(50)/a.jpg',
};

eachHttpServer(
  'returns no cached image of another project that lists the host',
  async (t, { environment }) => {
    const { get, origin, store, a, b } = await startTwoSites(t, environment);
    const { projects } = store;
    const fields = { host: 'img.b.example', base: `${origin.url}/a/`, updatedAt: new Date() };
    const widthIs = (width: number) => async () =>
      readWidth(await get('img.b.example', '/pic.png?fmt=png')) === width;
    await until('the image of the owner is cached', widthIs(60));
    t.equal(readWidth(await get('img.a.example', '/pic.png?fmt=png')), 40);
    // Without a claim, as after a crash of two releases at once.
    await projects.setItem(a, 'hosts', fields.host, fields);
    await until('the image of the other project is cached', widthIs(40));
    await projects.updateSettings(b, { defaultQuality: 31 });
    await until('the owner is the project again', widthIs(60));
  },
  defaultHttpServer,
);

eachHttpServer(
  'reads the source size of the version in a URL',
  async (t, { environment }) => {
    const { get, origin, store, a } = await startTwoSites(t, environment);
    await setHost(store.projects, a, 'imgproxy.a.example', `${origin.url}/a/`, 'imgproxy');
    for (const [version, width, height] of [
      [1, 80, 60],
      [2, 20, 25],
    ] as const) {
      origin.serve('/a/v.png', await picture(width, height));
      const target = `/unsafe/c:0.5:30/cb:${version}/plain/v.png@png`;
      const response = await get('imgproxy.a.example', target);
      t.same([response.status, readWidth(response)], [200, width / 2], target);
    }
  },
  defaultHttpServer,
);

eachHttpServer(
  "delivers other services' URLs like native URLs",
  async (t, { environment }) => {
    const { get, origin, store, url, createProject } = await startTwoSites(t, environment);
    origin.serve('/shop/a.jpg', await picture(1600, 1000));
    const id = await createProject('127.0.0.1');
    await store.projects.updateSettings(id, { defaultDpr: 2, defaultQuality: 31 });
    await store.projects.setItem(id, 'presets', 'card', { w: 400, h: 300, fit: 'cover' });
    const base = `${origin.url}/shop/`;
    const native = `${url}/img/${encodeURIComponent(`${base}a.jpg`)}?project=${id}&`;
    const accept = 'image/webp';
    for (const [name, examples] of Object.entries(urlExamples)) {
      const host = `${name}.shop.example`;
      await setHost(store.projects, id, host, base, name);
      for (const example of examples) {
        const target = example.url
          .replaceAll(encodeURIComponent('https://shop.example/'), encodeURIComponent(base))
          .replaceAll('https://shop.example/', base);
        const same = await fetch(native + example.native, { headers: { accept } });
        for (const hints of [{}, {}, { 'sec-ch-width': '48', 'sec-ch-dpr': '3' }]) {
          const { status, headers, body } = await get(host, target, { accept, ...hints });
          t.same([status, headers.get('etag')], [200, same.headers.get('etag')], target);
          t.equal(headers.get('x-image-warnings'), undefined);
          const { width, height } = await sharp(body).metadata();
          t.equal(`${width}x${height}`, documentedSizes[name]?.[example.url], target);
        }
      }
      const unsized = unsizedUrls[name];
      if (unsized !== undefined) {
        const { headers } = await get(host, unsized, { accept, 'sec-ch-width': '48' });
        const whole = await get(host, unsized, { accept });
        t.equal(headers.get('etag'), whole.headers.get('etag'), `${name}: hints set no size`);
      }
      for (const [target, width] of hintedUrls[name] ?? []) {
        const { body } = await get(host, target, { 'sec-ch-width': '48', 'sec-ch-dpr': '3' });
        t.equal((await sharp(body).metadata()).width, width, 'except where the URL says so');
      }
      const first = examples[0]?.url ?? '';
      const warned = await get(host, `${first}${first.includes('?') ? '&' : '?'}other=1`);
      // The query of Cloudflare's URLs belongs to the source.
      const warnings = name === 'cloudflare' ? undefined : 'parameter_unknown;name="other"';
      t.equal(warned.headers.get('x-image-warnings'), warnings);
    }
    const statusesAre = (status: number) => async () => {
      const firsts = Object.entries(urlExamples).map(([name, examples]) =>
        get(`${name}.shop.example`, examples[0]?.url ?? ''),
      );
      return (await Promise.all(firsts)).every((response) => response.status === status);
    };
    await store.projects.requireSignatures(id, null);
    await until('all require a signature', statusesAre(403));
    await store.projects.stopRequiringSignatures(id);
    await until('none requires a signature', statusesAre(200));
  },
  defaultHttpServer,
);

eachHttpServer(
  'checks the signatures of other services before every cache',
  async (t, { environment }) => {
    const { get, origin, store, log, createProject } = await startTwoSites(t, {
      ...environment,
      SERVICE_LOG_LEVEL: 'debug',
    });
    origin.serve('/shop/a.jpg', await picture(160, 100));
    const base = `${origin.url}/shop/`;
    const fetched = `w_90/${base}a.jpg`;
    const hex = (text: string) => Buffer.from(text).toString('hex');
    const salt = hex('salt');
    /** By kind: a URL, its forms signed with a secret, and with a wrong signature. */
    const kinds = {
      imgix: {
        unsigned: '/a.jpg?w=80',
        signed: (secret: string) => [`/a.jpg?w=80&s=${imgixSignature(secret, '/a.jpg', 'w=80')}`],
        wrong: ['/a.jpg?w=80&s=', '/a.jpg?w=80&s=0', '/a.jpg?s=0&w=80'],
      },
      cloudinary: {
        unsigned: '/demo/image/upload/w_80/a.jpg',
        signed: (secret: string) => [
          `/demo/image/upload/s--${cloudinarySignature(secret, 'w_80/a.jpg')}--/w_80/v1/a.jpg`,
          `/image/upload/s--${cloudinarySignature(secret, 'w_80/a.jpg', 'sha256', 32)}--/w_80/a.jpg`,
          `/image/fetch/s--${cloudinarySignature(secret, fetched)}--/${fetched}`,
        ],
        wrong: ['s----', 's--AAAAAAAA--', `s--${'A'.repeat(32)}--`].map(
          (signature) => `/demo/image/upload/${signature}/w_80/a.jpg`,
        ),
      },
      imgproxy: {
        unsigned: '/unsafe/w:80/plain/a.jpg',
        signed: (secret: string) =>
          ['/w:80/plain/a.jpg', '/w:80/YS5qcGc', '/c:40:30/plain/a.jpg'].map(
            (path) => `/${imgproxySignature(hex(secret), salt, path)}${path}`,
          ),
        wrong: ['/x/w:80/plain/a.jpg', `/${'A'.repeat(43)}/w:80/plain/a.jpg`],
      },
      thumbor: {
        unsigned: '/unsafe/80x0/a.jpg',
        signed: (secret: string) =>
          ['80x0/a.jpg', '8x8/filters:focal(1x1:9x9)/a.jpg'].map(
            (path) => `/${thumborSignature(secret, path)}/${path}`,
          ),
        wrong: ['/x/80x0/a.jpg', `/${'A'.repeat(27)}=/80x0/a.jpg`],
      },
    };
    const secretFor = (kind: string, secret: string) =>
      kind === 'imgproxy' ? { secret: hex(secret), salt } : { secret };
    const check = async (kind: keyof typeof kinds) => {
      const { unsigned, signed, wrong } = kinds[kind];
      const id = await createProject('127.0.0.1');
      const host = `${kind}.shop.example`;
      await setHost(store.projects, id, host, base, kind);
      const statuses = (targets: readonly string[]) =>
        Promise.all(targets.map(async (target) => (await get(host, target)).status));
      const all = [unsigned, ...signed('first'), ...signed('second'), ...wrong];
      // Twice, so that all of them are in the caches.
      for (let i = 0; i < 2; i += 1) {
        t.same(new Set(await statuses(all)), new Set([200]), 'nothing is checked without a secret');
      }
      await store.projects.setUrlSecret(id, kind, secretFor(kind, 'first'));
      const refused = (targets: readonly string[]) => async () =>
        (await statuses(targets)).every((status) => status === 403);
      await until('wrong signatures are refused', refused([...wrong, ...signed('second')]));
      const refusal = await get(host, wrong[0] ?? '');
      t.match(JSON.parse(refusal.body.toString()), { code: 'signature_invalid' });
      t.notMatch(refusal.body.toString(), 'first');
      t.same(new Set(await statuses([unsigned, ...signed('first')])), new Set([200]));
      await store.projects.requireSignatures(id, null);
      await until('a signature is required', refused([unsigned]));
      t.same(new Set(await statuses(signed('first'))), new Set([200]));
      await store.projects.setUrlSecret(id, kind, secretFor(kind, 'second'), true);
      await until('both are valid', async () =>
        (await statuses([...signed('first'), ...signed('second')])).every(
          (responseStatus) => responseStatus === 200,
        ),
      );
      await store.projects.setUrlSecret(id, kind, secretFor(kind, 'second'));
      await until('the first secret has ended', refused(signed('first')));
      t.same(new Set(await statuses(signed('second'))), new Set([200]));
      await store.projects.removeItem(id, 'urlSecrets', kind);
      await until('there is no secret', refused([unsigned, ...signed('second')]));
      await store.projects.stopRequiringSignatures(id);
      await until('no signature is required', async () => !(await refused([unsigned])()));
    };
    await Promise.all((Object.keys(kinds) as (keyof typeof kinds)[]).map(check));
    const path = `/a.jpg?w=70&expires=${Math.floor(Date.now() / 1_000) + 100}`;
    const { status, headers } = await get('imgix.shop.example', path);
    t.match([status, headers.get('cache-control')], [200, /max-age=\d\d?\b/]);
    t.equal((await get('imgix.shop.example', '/a.jpg?w=70&expires=1')).status, 403);
    for (const crop of ['', '/c:40:30']) {
      const expired = `/unsafe/exp:1${crop}/plain/a.jpg`;
      t.equal((await get('imgproxy.shop.example', expired)).status, 403, expired);
    }
    const paths = log.filter(({ msg }) => msg === 'request').map(({ path }) => String(path));
    t.ok(paths.includes(`${base}a.jpg`), 'logs sources');
    t.same(
      paths.filter((path) => /s--(?!…)|[\w-]{27}/.test(path)),
      [],
      'logs no signature',
    );
  },
  defaultHttpServer,
);

eachHttpServer(
  'requires the signatures of the host and the project',
  async (t, { environment }) => {
    const { get, store, origin, a, b } = await startTwoSites(t, environment);
    const [first, second] = await Promise.all(
      [a, b].map((id) => store.projects.requireSignatures(id, null)),
    );
    await setHost(store.projects, a, 'other.a.example', 'http://127.0.0.1/other/');
    const exp = Math.floor(Date.now() / 1_000) + 600;
    const query = `fmt=png&exp=${exp}`;
    const signed = (project: Project | null | undefined, host: string, path = '/pic.png') => {
      const sig = signature(project?.signingSecret ?? '', `//${host}${path}?${query}`);
      return `${path}?${query}&sig=${sig}`;
    };
    await until('signatures are required', async () => {
      const statuses = ['a', 'b'].map(async (label) =>
        get(`img.${label}.example`, '/pic.png?fmt=png'),
      );
      return (await Promise.all(statuses)).every(({ status }) => status === 403);
    });
    const latest = await store.projects.find(a);
    const sign = (url: string) =>
      signImageUrl(url, {
        projectId: a,
        siteAt: (host) => latest && siteAtHost(latest, host),
        secret: first?.signingSecret ?? '',
        exp,
        basePath: '/',
      });
    const url = sign('https://IMG.a.example:8443/pic.png?fmt=png') ?? '';
    t.equal(readWidth(await get('img.a.example', url.replace(/^https:..[^/]*/, ''))), 40);
    t.equal(sign('https://img.b.example/pic.png'), null);
    const nextSite = latest && siteAtHost(latest, 'img.a.example');
    const foreign = signImageUrl('https://next.a.example/_next/image?url=/a.jpg&w=8&q=75', {
      projectId: a,
      siteAt: () => nextSite && { ...nextSite, host: { ...nextSite.host, urls: 'next' } },
      secret: first?.signingSecret ?? '',
      exp,
      basePath: '/',
    });
    t.equal(foreign, null, 'of another service');
    t.equal(sign('https://img.a.example/pic.png?project=prj_0000000000000000'), null);
    const below = sign(
      `https://img.a.example/img/${encodeURIComponent(`${origin.url}/a/pic.png`)}`,
    );
    const target = (below ?? '').replace('https://img.a.example', '');
    t.equal((await get('img.a.example', target)).status, 200);
    t.equal((await get('img.b.example', target)).status, 403);
    t.equal((await get('127.0.0.1', target)).status, 400, 'the project is missing');
    for (let i = 0; i < 2; i += 1) {
      t.equal(readWidth(await get('img.a.example', signed(first, 'img.a.example'))), 40);
      t.equal(readWidth(await get('IMG.a.example:80', signed(first, 'img.a.example'))), 40);
      t.equal(readWidth(await get('img.b.example', signed(second, 'img.b.example'))), 60);
      for (const [host, target] of [
        ['img.b.example', signed(first, 'img.a.example')],
        ['img.b.example', signed(first, 'img.b.example')],
        ['other.a.example', signed(first, 'img.a.example')],
        ['img.a.example', signed(first, 'img.a.example').replace('/pic', '/x/../pic')],
        ['img.a.example', signed(first, 'img.a.example').replace('fmt=png', 'fmt=png&w=9')],
      ] as const) {
        t.equal((await get(host, target)).status, 403, `${host} ${target}`);
      }
    }
  },
  defaultHttpServer,
);

eachHttpServer(
  'serves the API on its own host only, if so set',
  async (t, { environment }) => {
    const { get, send, url } = await startTwoSites(t, {
      ...environment,
      SERVICE_OWN_HOST_ONLY: 'on',
      SERVICE_TRUSTED_PROXIES: '127.0.0.1',
      SERVICE_BASE_URL: 'https://images.example/x',
    });
    const paths = ['/api/health', '/api/health/live', '/openapi.json', '/docs', '/'];
    for (const host of ['127.0.0.1', 'localhost:3000', '[::1]', 'Images.Example:8443']) {
      for (const path of paths) t.equal((await get(host, path)).status, 200, `${host}${path}`);
    }
    for (const path of [...paths, '/api/sdk/v1/projects', '/console/x.js']) {
      const { status, body } = await get('cdn.example', path);
      t.equal(status, 403, path);
      t.equal(JSON.parse(body.toString()).code, 'host_not_allowed');
      const ofHost = await get('img.a.example', path);
      t.match(ofHost.headers.get('x-image-error'), /^source_/, 'a path of images');
      for (const [host, forwarded, error] of [
        ['img.a.example', 'localhost', 'source_'],
        ['127.0.0.1', 'img.a.example', 'source_'],
        ['cdn.example', 'images.example', 'host_not_allowed'],
      ] as const) {
        const answer = await get(host, path, { 'x-forwarded-host': forwarded });
        const code = answer.headers.get('x-image-error') ?? JSON.parse(answer.body.toString()).code;
        t.ok(code.startsWith(error), `${path}, Host: ${host}, X-Forwarded-Host: ${forwarded}`);
      }
    }
    const post = 'POST /api/sdk/v1/projects HTTP/1.1\r\nHost: cdn.example\r\n\r\n';
    t.same(await send(post), [403, 0]);
    t.equal((await fetch(`${url}/api/health/live`)).status, 200);
  },
  defaultHttpServer,
);
