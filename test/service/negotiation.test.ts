import sharp from 'sharp';
import t from 'tap';
import { ssim, toReference } from '../../bench/encoders/ssim.ts';
import { redAndBlueError, redOnBlue } from '../pool/rendering/red-on-blue.ts';
import { until } from '../until.ts';
import { prefix, rootKey, send } from './control/control.ts';
import { startFrontEnd } from './front-end.ts';
import { picture } from './origin.ts';

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
  const frames = Buffer.concat([Buffer.alloc(40 * 40 * 3, 20), Buffer.alloc(40 * 40 * 3, 220)]);
  origin.serve(
    '/a.gif',
    await sharp(frames, { raw: { width: 40, height: 80, channels: 3, pageHeight: 40 } })
      .gif()
      .toBuffer(),
  );
  origin.serve('/letters.png', await redOnBlue());
  const textures = { smooth: await dunes(), busy: await grain() };
  for (const [name, body] of Object.entries(textures)) origin.serve(`/${name}.png`, body);

  async function load(path: string, query: string, accept = '*/*') {
    const response = await fetch(url + image(path, query), { headers: { accept } });
    const body = Buffer.from(await response.arrayBuffer());
    const { status, headers } = response;
    const warning = headers.get('x-image-warnings');
    const cache = headers.get('x-cache');
    return { status, type: headers.get('content-type'), cache, warning, body };
  }

  async function get(query: string, headers: Record<string, string>, path = '/a.jpg') {
    const response = await fetch(url + image(path, query), { headers });
    const { format, width, pages } = await sharp(await response.arrayBuffer()).metadata();
    const type = response.headers.get('content-type');
    return { type, format, width, pages };
  }

  t.test('weighs the types in Accept', async (t) => {
    const cases: ReadonlyArray<readonly [accept: string, type: string]> = [
      ['image/avif,image/webp,image/apng,*/*;q=0.8', 'image/avif'],
      ['image/webp,*/*', 'image/webp'],
      ['image/avif;q=0, image/webp', 'image/webp'],
      ['image/avif;q=0.2, image/webp;q=0.9', 'image/webp'],
      ['IMAGE/WEBP', 'image/webp'],
      ['*/*', 'image/jpeg'],
      ['image/*', 'image/jpeg'],
      ['text/html, image/avif-sequence', 'image/jpeg'],
    ];
    for (const [accept, type] of cases) {
      t.equal((await get('w=60', { accept })).type, type, accept);
      t.equal((await get('w=60&fmt=auto', { accept })).type, type, accept);
    }
    t.equal((await get('w=60&fmt=png', { accept: 'image/avif' })).type, 'image/png', 'fmt wins');
    t.equal((await get('w=60&f=jpg', { accept: 'image/avif' })).type, 'image/jpeg');
  });

  t.test('keeps animations animated', async (t) => {
    const accept = 'image/avif,image/webp';
    t.match(await get('w=20', { accept }, '/a.gif'), { type: 'image/webp', pages: 2, width: 20 });
    const own = await get('w=20', { accept: '*/*' }, '/a.gif');
    t.match(own, { type: 'image/gif', pages: 2 });
  });

  t.test('keeps the colours of saturated edges', async (t) => {
    // Half chroma resolution causes errors of 48, 46 and 31. AVIF's error is 1.0 if its setting is
    // missing. WebP supports no other resolution, but can weigh it.
    const bounds = { jpeg: 8, webp: 40, avif: 0.8 };
    for (const [format, most] of Object.entries(bounds)) {
      const { type, body } = await load('/letters.png', `fmt=${format}&lossless=0`);
      t.equal(type, `image/${format}`);
      const error = await redAndBlueError(body);
      t.ok(error < most, `${format}: ${error.toFixed(1)}`);
    }
    for (const [accept, type] of [
      ['image/avif,image/webp', 'image/webp'],
      ['image/avif', 'image/png'],
      ['*/*', 'image/png'],
    ] as const) {
      const found = await load('/letters.png', 'fmt=auto', accept);
      t.equal(found.type, type, accept);
      t.equal(await redAndBlueError(found.body), 0, 'exact, and with fewer bytes');
    }
  });

  t.test('chooses the quality by the pixels with q=auto', async (t) => {
    const loss = async (name: keyof typeof textures, body: Buffer) =>
      1 - (await ssim(await toReference(sharp(textures[name])), body));
    for (const format of ['jpeg', 'webp', 'avif'] as const) {
      const query = `fmt=${format}&lossless=0`;
      const score = { smooth: 0, busy: 0 };
      const auto = { smooth: 0, busy: 0 };
      const bytes = { smooth: 0, busy: 0 };
      for (const name of ['smooth', 'busy'] as const) {
        const fixed = await load(`/${name}.png`, `${query}&q=77`);
        const made = await load(`/${name}.png`, `${query}&q=auto`);
        t.equal(made.cache, 'miss');
        t.equal((await load(`/${name}.png`, `quality=AUTO&${query}`)).cache, 'memory');
        score[name] = await loss(name, fixed.body);
        auto[name] = await loss(name, made.body);
        bytes[name] = made.body.length / fixed.body.length;
      }
      t.ok(bytes.smooth < 0.97 && bytes.busy > 1.1, `${format}: ${JSON.stringify(bytes)}`);
      const [before, after] = [score.busy / score.smooth, auto.busy / auto.smooth];
      t.ok(
        after < 0.8 * before,
        `${format}: ${before.toFixed(1)} to ${after.toFixed(1)} x the loss`,
      );
    }
    const free = (await load('/busy.png', 'fmt=webp&q=auto')).body.length;
    const { body } = await load('/busy.png', `fmt=webp&q=auto&maxbytes=${Math.round(free / 2)}`);
    t.ok(body.length <= free / 2 && body.length > free / 4, 'the highest quality for maxbytes');
    for (const [query, dropped] of [
      ['fmt=avif', 'animation_dropped'],
      ['fmt=webp', null],
      ['fmt=avif&a=0', null],
    ] as const) {
      t.equal((await load('/a.gif', query)).warning, dropped, query);
    }
    for (const format of ['jpeg', 'png', 'jpeg']) {
      const { warning } = await load('/busy.png', `fmt=${format}&maxbytes=100`);
      t.equal(warning, 'maxbytes_exceeded', `${format}: no output has so few bytes`);
    }
    t.equal((await load('/busy.png', 'fmt=jpeg&maxbytes=100000')).warning, null);
    const moving = await load('/a.gif', 'fmt=webp&q=auto');
    t.match([moving.status, moving.type], [200, 'image/webp']);
    for (const q of ['', 'automatic', 'auto80']) {
      t.equal((await load('/smooth.png', `q=${q}`)).status, 400, `q=${q}`);
    }
  });

  t.test('applies client hints to what the query leaves open', async (t) => {
    const width = async (query: string, headers: Record<string, string>) =>
      (await get(query, { accept: '*/*', ...headers })).width;
    t.equal(await width('w=100', { 'sec-ch-dpr': '2' }), 100, 'as in a srcset');
    t.equal(await width('w=100&dpr=auto', { 'sec-ch-dpr': '2' }), 200);
    t.equal(await width('w=100&dpr=AUTO', { dpr: '3' }), 300);
    const both = { 'sec-ch-dpr': '2', dpr: '3' };
    t.equal(await width('w=100&dpr=auto', both), 200, 'the newer name first');
    t.equal(await width('w=100&dpr=1', { 'sec-ch-dpr': '2' }), 100, 'the query wins');
    t.equal(await width('w=100&dpr=auto', { dpr: 'many' }), 100, 'not a number');
    t.equal(await width('q=80', { 'sec-ch-width': '320' }), 320);
    t.equal(await width('q=80', { width: '300' }), 320, 'rounded up to a standard width');
    t.equal(await width('w=50', { width: '300' }), 50, 'the query wins');
    t.equal(
      await width('q=80', { 'viewport-width': '500', dpr: '1' }),
      560,
      'rounded up to a standard width',
    );
    t.equal(await width('q=80', { 'sec-ch-viewport-width': '320', dpr: '2' }), 640);
    t.equal(await width('q=80', { 'viewport-width': '5000' }), 1200, 'nothing is scaled up');
  });

  t.test('keeps format and size if there is no query', async (t) => {
    t.match(await get('', { accept: '*/*' }), { format: 'jpeg', width: 1200 });
  });
});

const textureSize = { width: 200, height: 150 };

/** Returns a grey image from a function that gives each pixel's level. */
function grey(level: (x: number, y: number) => number): Promise<Buffer> {
  const { width, height } = textureSize;
  const pixels = Buffer.alloc(width * height * 3);
  for (let at = 0; at < width * height; at += 1) {
    pixels.fill(level(at % width, Math.floor(at / width)), at * 3, at * 3 + 3);
  }
  return sharp(pixels, { raw: { ...textureSize, channels: 3 } })
    .png()
    .toBuffer();
}

/** Draws broad waves with crests. */
const dunes = () => grey((x, y) => 128 + 90 * Math.abs(Math.sin(x / 31 + Math.sin(y / 47) * 2)));

/** Draws a fine low-contrast texture, always the same. */
function grain(): Promise<Buffer> {
  let state = 7;
  return grey((x) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return 90 + x / 4 + (state / 2 ** 31) * 36;
  });
}
