import sharp from 'sharp';
import t from 'tap';
import { until } from '../until.ts';
import { prefix, rootKey, send } from './control/control.ts';
import { startFrontEnd } from './front-end.ts';
import { eachHttpServer } from './http-servers.ts';
import { picture } from './origin.ts';
import { StrictConnection } from './raw-http.ts';

t.test("negotiates the operator's formats with `auto`", async (t) => {
  const settings = { SERVICE_AUTO_FORMATS: 'jxl,avif,webp' };
  const { url, origin, image } = await startFrontEnd(t, settings);
  origin.serve('/a.jpg', await picture(300, 200));
  const frames = Buffer.concat([Buffer.alloc(4_800, 20), Buffer.alloc(4_800, 220)]);
  const raw = { width: 40, height: 80, channels: 3, pageHeight: 40 } as const;
  origin.serve('/a.gif', await sharp(frames, { raw }).gif().toBuffer());
  const chrome = 'image/avif,image/webp,image/jxl,image/apng,image/*,*/*;q=0.8';
  const safari = 'image/webp,image/avif,image/jxl,image/heic,image/png,image/*;q=0.8';
  for (const [path, accept, type, cache] of [
    ['/a.jpg', chrome, 'image/jxl', 'miss'],
    ['/a.jpg', safari, 'image/jxl', 'memory'],
    ['/a.jpg', 'image/avif,image/webp,*/*', 'image/avif', 'miss'],
    ['/a.jpg', 'image/webp,*/*', 'image/webp', 'miss'],
    ['/a.jpg', '*/*', 'image/jpeg', 'miss'],
    ['/a.jpg', chrome, 'image/jxl', 'memory'],
    // Safari does not play animations in JPEG XL.
    ['/a.gif', chrome, 'image/webp', 'miss'],
  ] as const) {
    const { headers } = await fetch(url + image(path, 'w=30'), { headers: { accept } });
    t.equal(headers.get('content-type'), type, `${path}: ${accept}`);
    t.equal(headers.get('x-cache'), cache, `${path}: ${accept}`);
    t.match(headers.get('vary'), /^Accept,/);
  }
});

t.test('delivers SVGs as sanitised SVGs', async (t) => {
  const { url, origin, image } = await startFrontEnd(t, { SERVICE_AUTO_FORMATS: 'avif,svg' });
  const logo = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20">';
  const script = '<script>alert(1)</script>';
  origin.serve(
    '/a.svg',
    Buffer.from(`${logo}${script}<rect id="r" width="40" height="20"/></svg>`),
  );
  origin.serve('/a.jpg', await picture(60, 40));
  const get = async (path: string, query: string, accept = 'image/svg+xml,image/avif,*/*') => {
    const response = await fetch(url + image(path, query), { headers: { accept } });
    return { response, type: response.headers.get('content-type'), text: await response.text() };
  };
  for (const cache of ['miss', 'memory']) {
    const { response, type, text } = await get('/a.svg', 'w=80&fmt=svg');
    t.match([response.status, type], [200, 'image/svg+xml']);
    t.equal(response.headers.get('x-cache'), cache);
    const policy = "default-src 'none'; style-src 'unsafe-inline'; sandbox";
    t.equal(response.headers.get('content-security-policy'), policy);
    t.equal(response.headers.get('x-content-type-options'), 'nosniff');
    t.match(text, /^<svg [^>]*width="80" height="40"/);
    t.match(text, '<rect id="r"');
    t.notMatch(text, 'alert');
  }
  t.equal((await get('/a.svg', 'w=90')).type, 'image/svg+xml', 'auto, if Accept names it');
  t.equal((await get('/a.svg', 'w=90', 'image/avif,*/*')).type, 'image/png');
  t.equal((await get('/a.svg', 'w=90&blur=2')).type, 'image/png', 'auto, if pixels are needed');
  t.equal((await get('/a.jpg', 'w=30')).type, 'image/avif');
  const blurred = await get('/a.svg', 'fmt=svg&blur=2');
  t.match([blurred.response.status, blurred.text], [400, /parameter_invalid.*blur/]);
  const raster = await get('/a.jpg', 'fmt=svg');
  t.match([raster.response.status, raster.text], [415, /source_unsupported.*JPEG/]);
});

t.test('sends the quick format with auto until the best format is ready', async (t) => {
  const settings = { SERVICE_AUTO_FIRST: 'webp', SERVICE_ROOT_API_KEY: rootKey };
  // An image of the memory cache, and one that only the disk keeps.
  for (const more of [
    {},
    { SERVICE_MEMORY_CACHE_BYTES: '0', SERVICE_DISK_CACHE_BYTES: '1000000000' },
  ]) {
    const frontEnd = await startFrontEnd(t, { ...settings, ...more });
    const { url, port, origin, image, project, log } = frontEnd;
    const cached = 'SERVICE_DISK_CACHE_BYTES' in more ? 'disk' : 'memory';
    origin.serve('/a.jpg', await picture(600, 400));
    const get = async (query: string, accept = 'image/avif,image/webp,*/*', init = {}) => {
      const { status, headers, body } = await fetch(url + image('/a.jpg', query), {
        headers: { accept, ...init },
      });
      await body?.cancel();
      const read = (name: string) => headers.get(name);
      const [type, cache, control] = [read('content-type'), read('x-cache'), read('cache-control')];
      return { status, type, cache, control, etag: read('etag') ?? '', vary: read('vary') };
    };
    const best = async (query: string) => {
      const found = await until('the best format', async () => {
        const found = await get(query);
        return found.type === 'image/avif' && found;
      });
      t.match(found, { cache: cached, control: 'public, max-age=31536000, immutable' });
      return found;
    };

    const first = await Promise.all([get('w=300'), get('w=300'), get('w=300')]);
    for (const response of first) {
      t.match(response, { status: 200, type: 'image/webp', control: 'public, max-age=5' });
      t.match(response.vary, /^Accept,/);
    }
    await best('w=300');
    t.equal(origin.requests.get('/a.jpg'), 1, 'one fetch for both');
    t.match(await get('w=300', 'image/webp'), {
      type: 'image/webp',
      cache: cached,
      etag: first[0].etag,
      control: 'public, max-age=31536000, immutable',
    });

    const { etag } = await get('w=200');
    const again = await get('w=200', undefined, { 'if-none-match': etag });
    t.ok(
      again.status === 304 || again.type === 'image/avif',
      'the browser has it, or gets the best',
    );
    await best('w=200');

    // Who names a format, or accepts only the best one, waits for it.
    t.match(await get('w=100&fmt=avif'), { type: 'image/avif', cache: 'miss' });
    t.match(await get('w=100', 'image/avif'), { type: 'image/avif', cache: 'miss' });
    t.match(await get('w=100', '*/*'), { type: 'image/jpeg', cache: 'miss' });
    t.match(await get('w=100&fmt=json'), { type: 'application/json', cache: 'miss' });

    const of = `${prefix}/projects/${project}`;
    t.equal((await send(port, 'POST', `${of}/purge`, { json: { all: true } })).status, 202);
    await until('the purge', async () => {
      const { type, control } = await get('w=300');
      return type === 'image/webp' && control === 'public, max-age=5';
    });
    t.match(await best('w=300'), { status: 200 });
    await until('the usage of the renders after responses', async () => {
      const { usage } = (await send(port, 'GET', `${of}/usage`, {})).body;
      return usage.days.at(-1).background.renders === 3;
    });
    t.same(log, []);
  }
});

t.test('applies client headers to what the query leaves open', async (t) => {
  const { url, origin, image } = await startFrontEnd(t);
  origin.serve('/a.jpg', await picture(1200, 800));
  for (const [query, headers, type, width] of [
    ['', {}, 'jpeg', 1200],
    ['w=60', { accept: 'image/avif;q=0.2, image/webp;q=0.9' }, 'webp', 60],
    ['w=60&fmt=auto', { accept: 'image/avif,image/webp,*/*;q=0.8' }, 'avif', 60],
    ['w=60&f=jpg', { accept: 'image/avif' }, 'jpeg', 60],
    ['w=100', { 'sec-ch-dpr': '2' }, 'jpeg', 100],
    ['w=100&dpr=AUTO', { 'sec-ch-dpr': '2', dpr: '3' }, 'jpeg', 200],
    ['q=80', { width: '300' }, 'jpeg', 320],
    ['q=auto', { 'viewport-width': '500', dpr: '1' }, 'jpeg', 560],
    ['q=80', { 'sec-ch-viewport-width': '320', dpr: '2' }, 'jpeg', 640],
    ['q=80', { 'viewport-width': '5000' }, 'jpeg', 1200],
  ] as const) {
    const response = await fetch(url + image('/a.jpg', query), { headers });
    const label = `${query} ${JSON.stringify(headers)}`;
    t.equal(response.headers.get('content-type'), `image/${type}`, label);
    t.equal((await sharp(await response.arrayBuffer()).metadata()).width, width, label);
  }
});

eachHttpServer('sends WebP only to clients that name it', async (t, { environment }) => {
  const { port, origin, image } = await startFrontEnd(t, environment);
  origin.serve('/a.webp', await picture(300, 200, 'webp'));
  const frames = Buffer.concat([Buffer.alloc(4_800, 20), Buffer.alloc(4_800, 220)]);
  const raw = { width: 40, height: 80, channels: 3, pageHeight: 40 } as const;
  origin.serve('/moving.webp', await sharp(frames, { raw }).webp().toBuffer());
  const connection = await StrictConnection.open(port);
  t.teardown(() => connection.close());
  for (const [accept, still, moving] of [
    [null, 'jpeg', 'gif'],
    ['*/*', 'jpeg', 'gif'],
    ['image/*', 'jpeg', 'gif'],
    ['*/*;q=0', 'jpeg', 'gif'],
    ['image/png,image/jpeg', 'jpeg', 'gif'],
    ['image/webp;q=0,*/*', 'jpeg', 'gif'],
    ['image/webp', 'webp', 'webp'],
    ['image/webp;q=0.1,*/*', 'webp', 'webp'],
    ['image/avif,image/webp,*/*', 'avif', 'webp'],
  ] as const) {
    for (const [path, type] of [
      ['/a.webp', still],
      ['/moving.webp', moving],
    ] as const) {
      const headers: Record<string, string> = accept === null ? {} : { accept };
      const response = await connection.request('GET', image(path, 'w=30'), headers);
      t.equal(response.headers.get('content-type'), `image/${type}`, `${path}: ${accept}`);
    }
  }
});

t.test('names in Vary only what can change the response, if the operator wants that', async (t) => {
  const frontEnd = await startFrontEnd(t, { SERVICE_VARY: 'needed' });
  const { url, origin, image, project, store } = frontEnd;
  origin.serve('/a.jpg', await picture(300, 200));
  await store.projects.setItem(project, 'presets', 'card', { w: 30, fmt: 'webp' });
  const hints = 'Sec-CH-DPR, Sec-CH-Width, Sec-CH-Viewport-Width, DPR, Width, Viewport-Width';
  for (const cache of ['miss', 'memory']) {
    for (const [query, vary] of [
      ['w=30&fmt=webp', null],
      ['preset=card', null],
      ['w=30', 'Accept'],
      ['w=30&fmt=webp&dpr=auto', 'Sec-CH-DPR, DPR'],
      ['fmt=webp', hints],
      ['', `Accept, ${hints}`],
    ] as const) {
      const { headers } = await fetch(url + image('/a.jpg', `${query}&v=${query.length}`));
      t.equal(headers.get('vary'), vary, query);
      t.equal(headers.get('x-cache'), cache, query);
    }
  }
});
