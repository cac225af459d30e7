import sharp from 'sharp';
import t from 'tap';
import { signature, signedText } from '../../server/image/access.ts';
import { parameterNames, parameters } from '../../server/image/parameters.ts';
import { ultraHdr } from '../pool/rendering/ultra-hdr.ts';
import { startFrontEnd } from './front-end.ts';
import { picture } from './origin.ts';
import { countImages, json } from './service.ts';

const textual = new Set(['blurhash', 'thumbhash', 'lqip', 'json']);

t.test('changes the image with the example of every transform parameter', async (t) => {
  const { url, origin, image } = await startFrontEnd(t);
  // Wider than the examples' crop, with a border to trim and transparency to lay on a background.
  const detail = await picture(500, 420);
  const framed = sharp(detail).extend({ top: 9, bottom: 9, background: '#fff' });
  origin.serve('/photo.png', await framed.png().toBuffer());
  const transparent = sharp(detail).composite([
    {
      input: Buffer.from([0, 0, 0, 90]),
      raw: { width: 1, height: 1, channels: 4 },
      tile: true,
      blend: 'dest-in',
    },
  ]);
  origin.serve('/glass.png', await transparent.png().toBuffer());
  const frames = { width: 40, height: 60, channels: 3, pageHeight: 30 } as const;
  const stack = Buffer.alloc(40 * 60 * 3).fill(255, 0, 40 * 30 * 3);
  origin.serve('/moving.gif', await sharp(stack, { raw: frames }).gif().toBuffer());
  const wide = sharp(detail)
    .withExif({ IFD0: { Copyright: 'me' } })
    .withIccProfile('p3');
  origin.serve('/wide.png', await wide.png().toBuffer());
  origin.serve('/bright.jpg', await ultraHdr(await sharp(detail).toBuffer()));
  const whole = await sharp(detail).png().toBuffer();
  origin.serve('/cut.png', whole.subarray(0, whole.length / 2));
  const sources: Partial<Record<string, string>> = {
    flatten: 'glass.png',
    page: 'moving.gif',
    animated: 'moving.gif',
    lenient: 'cut.png',
    keep: 'wide.png',
    icc: 'wide.png',
    hdr: 'bright.jpg',
  };

  for (const name of parameterNames) {
    const { example, exampleContext, aliases, role } = parameters[name];
    if (role === 'delivery') continue;
    const ask = async (query: string) => {
      const response = await fetch(url + image(`/${sources[name] ?? 'photo.png'}`, query));
      return { response, body: Buffer.from(await response.arrayBuffer()) };
    };
    const { response, body } = await ask(`${exampleContext}&${name}=${example}`);
    t.equal(response.status, 200, name);
    t.match(await sharp(body).metadata(), { width: Number, height: Number }, name);
    const plain = await ask(exampleContext);
    t.notOk(body.equals(plain.body), `${name} changes the image`);
    for (const alias of aliases) {
      const { response } = await ask(`${alias}=${example}&${exampleContext}`);
      t.equal(response.headers.get('x-cache'), 'memory', `${alias} is ${name}`);
    }
  }

  t.test('sends separate content types for placeholders and JSON', async (t) => {
    for (const format of textual) {
      const target = url + image('/photo.png', `w=100&fmt=${format}`);
      const response = await fetch(target);
      t.equal(response.status, 200, format);
      const type = format === 'json' ? 'application/json' : 'text/plain; charset=utf-8';
      t.equal(response.headers.get('content-type'), type);
      const again = await fetch(target);
      t.equal(again.headers.get('x-cache'), 'memory');
      t.equal(again.headers.get('etag'), response.headers.get('etag'));
      if (format === 'json') {
        t.match(await json(again), {
          source: { format: 'png', width: 500, height: 438 },
          output: { width: 100, height: 88 },
          dominant: /^#[0-9a-f]{6}$/,
        });
      }
    }
  });

  t.test('fetches, renders and caches each version of a source', async (t) => {
    const ask = async (query: string) => {
      const response = await fetch(url + image('/price.jpg', query));
      const body = Buffer.from(await response.arrayBuffer());
      return { status: response.status, tier: response.headers.get('x-cache'), body };
    };
    origin.serve('/price.jpg', await picture(60, 40));
    const before = await ask('w=30');
    origin.serve('/price.jpg', await picture(40, 60));
    t.match(await ask('w=30'), { tier: 'memory', body: before.body });
    const after = await ask('w=30&v=2026-11-22_b.1');
    t.match(await sharp(after.body).metadata(), { width: 30, height: 45 });
    t.match(await ask('v=2026-11-22_b.1&w=30'), { tier: 'memory', body: after.body });
    t.match(await ask('w=30'), { tier: 'memory', body: before.body });
    t.equal((await ask('w=20&v=2026-11-22_b.1')).status, 200);
    t.equal(origin.requests.get('/price.jpg'), 2, 'one fetch of each version');
    for (const value of ['', 'x'.repeat(65), 'a%20b', 'a/b', '%C3%BC']) {
      const { status, body } = await ask(`w=30&v=${value}`);
      t.match(
        { status, error: JSON.parse(body.toString()) },
        {
          status: 400,
          error: { code: 'parameter_invalid', message: /^v must be 1 to 64 letters/ },
        },
        value,
      );
    }
  });

  t.test('returns 400 for a crop outside the source', async (t) => {
    const response = await fetch(url + image('/photo.png', 'crop=600,0,10,10'));
    t.equal(response.status, 400);
    t.match(await json(response), { code: 'parameter_invalid', message: /500 x 438/ });
  });
});

t.test('warns about a crop that reaches beyond the source', async (t) => {
  const { url, origin, image } = await startFrontEnd(t);
  origin.serve('/a.png', await picture(60, 40));
  for (const [crop, warnings] of [
    ['30,0,30,40', null],
    ['30,0,31,40', 'crop_clipped'],
    ['0,39,60,2', 'crop_clipped'],
  ] as const) {
    for (const tier of ['miss', 'memory']) {
      const { headers } = await fetch(url + image('/a.png', `crop=${crop}`));
      t.same([headers.get('x-cache'), headers.get('x-image-warnings')], [tier, warnings], crop);
    }
  }
});

t.test('warns about unknown parameters in every response to their URL only', async (t) => {
  const { url, origin, image, store, createProject } = await startFrontEnd(t);
  origin.serve('/a.png', await picture(60, 40));
  const load = async (target: string, headers: Readonly<Record<string, string>> = {}) => {
    const response = await fetch(url + target, { headers });
    await response.arrayBuffer();
    const warnings = response.headers.get('x-image-warnings');
    const etag = response.headers.get('etag') ?? '';
    return { status: response.status, tier: response.headers.get('x-cache'), warnings, etag };
  };
  const ask = (query: string, headers = {}) => load(image('/a.png', query), headers);
  const warnings = 'parameter_unknown;name="magnify", parameter_unknown;name="resize"';
  const unknown = 'w=30&magnify=2&resize=100x100&utm_source=mail&fbclid=a';
  const { etag } = await ask(unknown);
  for (const attempt of ['rendered', 'repeated', 'repeated again']) {
    t.match(await ask(`${unknown}&fmt=png`), { status: 200, warnings }, attempt);
  }
  t.match(await ask(unknown, { 'if-none-match': etag }), { status: 304, warnings });
  t.match(await ask('w=30&utm_source=mail'), { tier: 'memory', warnings: null, etag });
  t.match(await ask('w=30&magnify=2'), {
    tier: 'memory',
    warnings: 'parameter_unknown;name="magnify"',
  });
  t.match(await ask('w=30'), { tier: 'memory', warnings: null, etag });
  const both = await ask('w=30&fmt=jpeg&maxbytes=1&magnify=2');
  t.equal(both.warnings, 'maxbytes_exceeded, parameter_unknown;name="magnify"');

  const forged = await ask('w=30&a%0d%0aset-cookie:%20b%22,%20maxbytes_exceeded,%20%22=1');
  const item = 'parameter_unknown;name="a??set-cookie: b?, maxbytes_exceeded, ?"';
  t.match(forged, { status: 200, warnings: item }, 'a name cannot add a header or a warning');

  const owner = await createProject('127.0.0.1');
  const { signingSecret } = (await store.projects.requireSignatures(owner, null)) ?? {};
  const exp = Math.floor(Date.now() / 1_000) + 1_000;
  const [path = '', query = ''] = countImages(origin, owner)(
    '/a.png',
    `magnify=2&exp=${exp}`,
  ).split('?');
  const sig = signature(String(signingSecret), signedText(path, query));
  for (const tier of ['miss', 'memory', 'memory']) {
    const signed = await load(`${path}?${query}&sig=${sig}`);
    t.match(signed, { status: 200, tier, warnings: 'parameter_unknown;name="magnify"' }, 'signed');
  }
});

t.test('rejects unknown parameters if the service is strict', async (t) => {
  const { url, origin, image } = await startFrontEnd(t, { SERVICE_UNKNOWN_PARAMETERS: 'refuse' });
  origin.serve('/a.png', await picture(60, 40));
  const ask = (query: string) => fetch(url + image('/a.png', query));
  t.equal((await ask('w=30&utm_source=mail&gclid=a')).status, 200);
  const refused = await ask('w=30&fm=webp');
  t.equal(refused.status, 400);
  t.match(await json(refused), {
    code: 'parameter_invalid',
    message: 'fm is not a parameter. Did you mean fmt?',
  });
});
