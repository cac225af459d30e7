import t from 'tap';
import { signature, signedText } from '../../server/image/access.ts';
import { near, pixels } from '../pool/rendering/pictures.ts';
import { italic, openSans, woff2 } from '../pool/rendering/text/font-files.ts';
import { until } from '../until.ts';
import { prefix, rootKey, send } from './control/control.ts';
import { startFrontEnd } from './front-end.ts';
import { picture, solid } from './origin.ts';
import { json } from './service.ts';

const white = [255, 255, 255, 255];
const red = [255, 0, 0, 255];

t.test("draws a project's layers on images that name them", async (t) => {
  const service = await startFrontEnd(t, { SERVICE_ROOT_API_KEY: rootKey });
  const { origin, store, project } = service;
  origin.serve('/a.png', await solid(200, 100, 'white'));
  origin.serve('/badge.png', await solid(20, 20, 'red'));
  const call = (method: string, path: string, json?: object, id = project) =>
    send(service.port, method, `${prefix}/projects/${id}/${path}`, { json });
  const put = async (name: string, layer: object, id = project) =>
    t.match(await call('PUT', `layers/${name}`, layer, id), { status: 200 }, name);
  const load = (query: string, id = project) =>
    fetch(`${service.url}/img/${origin.url}/a.png?project=${id}&fmt=png&${query}`);
  const read = async (response: Response) => {
    if (response.status !== 200) t.fail(await response.text());
    return pixels(new Uint8Array(await response.arrayBuffer()));
  };
  const refused = async (query: string, status: number, code: string, message: RegExp) => {
    const response = await load(query);
    const body = await json(response);
    t.same([response.status, body.code], [status, code], query.slice(0, 60));
    t.match(body.message, message, query.slice(0, 60));
  };
  const badge = { url: `${origin.url}/badge.png`, scale: 10 };
  await put('badge', { image: badge });
  const panel = { background: 'f00', color: 'f00', padding: 10, size: 20, position: 'northwest' };
  await put('price', { text: { words: 'Sale', ...panel } });
  await put('free', { text: { ...panel, freeText: true } });

  t.test("draws an image and a text in the URL's order", async (t) => {
    const { at } = await read(await load('layer=badge,price'));
    t.same([at(195, 95), at(5, 5), at(100, 95)], [red, red, white]);
    const plain = await read(await load('w=100'));
    t.same(plain.at(97, 47), white, 'not without the parameter');
    t.equal((await load('layer=badge,price')).headers.get('x-cache'), 'memory');
  });

  t.test('renders another image after a layer change', async (t) => {
    await put('badge', { image: { ...badge, position: 'northeast' } });
    const moved = await load('layer=badge');
    t.equal(moved.headers.get('x-cache'), 'miss');
    const { at } = await read(moved);
    t.same([at(195, 5), at(195, 95)], [red, white]);
    await put('badge', { image: badge });
  });

  t.test('accepts layers in presets', async (t) => {
    await call('PUT', 'presets/card', { parameters: { w: 100, layer: 'badge' } });
    const { at } = await read(await load('preset=card'));
    t.same(at(97, 47), red);
  });

  t.test(
    'requires a signature for words in the URL, unless the layer allows free texts',
    async (t) => {
      const price = encodeURIComponent('19,90 €');
      await refused(`layer=price&text.price=${price}`, 403, 'layer_text_not_signed', /text\.price/);
      t.equal((await load('layer=price&text.price=Sale')).status, 200, 'its own words');
      const { at } = await read(await load(`layer=free&text.free=${price}`));
      t.same(at(5, 5), red);
      t.same((await read(await load('layer=free'))).at(5, 5), white, 'no words, no panel');
      t.same((await read(await load('layer=free&text.free='))).at(5, 5), white, 'empty words');

      const signed = await service.createProject('127.0.0.1');
      await put('price', { text: panel }, signed);
      const secret = (await store.projects.requireSignatures(signed, null))?.signingSecret ?? '';
      const path = `/img/${origin.url}/a.png`;
      const exp = Math.floor(Date.now() / 1_000) + 600;
      const sign = (words: string) => {
        const query = `project=${signed}&fmt=png&layer=price&text.price=${words}&exp=${exp}`;
        return { query, sig: signature(secret, signedText(path, query)) };
      };
      const { query, sig } = sign(price);
      const ask = (changed: string) => fetch(`${service.url}${path}?${changed}&sig=${sig}`);
      await until('the signature is required', async () => (await ask(query)).status === 200);
      t.same((await read(await ask(query))).at(5, 5), red);
      const other = await ask(query.replace(price, 'free'));
      t.same([other.status, (await json(other)).code], [403, 'signature_invalid']);
    },
  );

  t.test('draws the images of the URL from the own host, or with a signature', async (t) => {
    await store.projects.updateIdentity(project, { origin: origin.url }, null);
    const mark = encodeURIComponent(`${origin.url}/badge.png`);
    const other = encodeURIComponent(`${origin.url.replace('127.0.0.1', 'localhost')}/badge.png`);
    await until('the origin is known', async () => {
      const { headers } = await load('overlay=/badge.png');
      return !headers.get('cache-control')?.includes('no-store');
    });
    const { at } = await read(
      await load(
        'overlay=/badge.png&overlay.w=10p&overlay.pos=northwest&overlay.x=4&overlay.radius=max' +
          `&overlay2=${mark}&overlay2.h=40&overlay2.pos=east&overlay2.opacity=50`,
      ),
    );
    t.same([at(3, 10), at(14, 10), at(4, 0)], [white, red, white], 'a circle');
    t.ok(near(at(199, 50), [255, 127, 127, 255], 2) && near(at(159, 50), white, 2), 'half');
    t.equal((await load(`overlay=/badge.png&overlay=${mark}`)).status, 400, 'repeated');
    await refused(`overlay=${other}`, 403, 'signature_invalid', /^overlay needs a signed URL/);
    await refused('overlay=https://a.example/b', 403, 'source_not_allowed', /a\.example/);
    await refused('overlay=nothing', 400, 'parameter_invalid', /^overlay must be an absolute/);
    await refused('overlay2.w=20', 400, 'parameter_invalid', /^overlay2.… needs an image/);
    await refused('overlay=/badge.png&overlay.w=0', 400, 'parameter_invalid', /^overlay.w must/);
    const missing = await load('overlay=/none.png');
    t.match([missing.status, missing.headers.get('cache-control')], [200, /no-store/]);

    const signed = await service.createProject('127.0.0.1', 'localhost');
    const secret = (await store.projects.requireSignatures(signed, null))?.signingSecret ?? '';
    const path = `/img/${origin.url}/a.png`;
    const exp = Math.floor(Date.now() / 1_000) + 600;
    const sign = (overlay: string) => {
      const query = `project=${signed}&fmt=png&overlay=${overlay}&overlay.w=20&exp=${exp}`;
      return `${query}&sig=${signature(secret, signedText(path, query))}`;
    };
    const ask = (query: string) => fetch(`${service.url}${path}?${query}`);
    await until('the signature is required', async () => (await ask(sign(other))).status === 200);
    t.same((await read(await ask(sign(other)))).at(195, 95), red, "another host's, signed");
    const changed = await ask(sign(other).replace('overlay.w=20', 'overlay.w=90'));
    t.same([changed.status, (await json(changed)).code], [403, 'signature_invalid']);
    const strange = await ask(sign('https://b.example/x.png'));
    t.same([strange.status, (await json(strange)).code], [403, 'source_not_allowed']);
  });

  t.test('explains wrong layers and words in the error', async () => {
    await refused('layer=bagde', 404, 'layer_not_found', /no layer bagde. Did you mean badge\?/);
    await refused('layer=toString', 400, 'parameter_invalid', /^layer must be 1 to 10 different/);
    await refused('layer=constructor', 404, 'layer_not_found', /no layer constructor/);
    for (const layer of ['', ',', 'badge,', 'badge,badge', 'a.b', 'x'.repeat(41)]) {
      await refused(`layer=${layer}`, 400, 'parameter_invalid', /^layer must be 1 to 10/);
    }
    const fifty = Array.from({ length: 50 }, (_, index) => `l${index}`).join();
    await refused(`layer=${fifty}`, 400, 'parameter_invalid', /^layer must be 1 to 10/);
    await refused('text.price=a', 400, 'parameter_invalid', /text\.price needs the layer price/);
    await refused('layer=badge&text.free=a', 400, 'parameter_invalid', /needs the layer free/);
    await refused('layer=badge&text.badge=a', 400, 'parameter_invalid', /badge is an image/);
    await refused('layer=free&text.=a', 400, 'parameter_invalid', /name of a layer/);
    const free = 'layer=free&text.free=';
    await refused(`${free}a&text.free=b`, 400, 'parameter_invalid', /more than once/);
    const long = `&text.${'x'.repeat(5_000)}=a`.repeat(2);
    await refused(`layer=free${long}`, 400, 'parameter_invalid', /^.{1,100}$/);
    await refused(`${free}${'x'.repeat(10_000)}`, 400, 'parameter_invalid', /at most 500 charact/);
    await refused(`${free}${'x'.repeat(501)}`, 400, 'parameter_invalid', /at most 500 characters/);
    await refused(`${free}a%00b`, 400, 'parameter_invalid', /without control characters/);
    await refused(`${free}a%1bb`, 400, 'parameter_invalid', /without control characters/);
  });

  t.test('warns about a source that ends too early', async (t) => {
    origin.serve('/cut.jpg', (await picture(40, 30)).subarray(0, -9));
    for (const attempt of ['rendered', 'from memory']) {
      const response = await fetch(
        `${service.url}/img/${origin.url}/cut.jpg?project=${project}&w=20`,
      );
      t.equal(response.status, 200);
      t.equal(response.headers.get('x-image-warnings'), 'source_incomplete', attempt);
      t.equal(response.headers.get('cache-control'), 'public, max-age=60', attempt);
    }
  });

  t.test('warns about an image with boxes for characters missing from every font', async (t) => {
    for (const attempt of ['rendered', 'from memory']) {
      const { headers } = await load('layer=free&text.free=Sale%20%F0%9F%98%80');
      t.equal(headers.get('x-image-warnings'), 'text_missing_glyphs', attempt);
      t.equal(headers.get('cache-control'), 'public, max-age=60', attempt);
    }
    const { headers } = await load('layer=free&text.free=Sale');
    t.equal(headers.get('x-image-warnings'), null);
    t.match(headers.get('cache-control'), /immutable/);
  });

  t.test('omits a layer with a missing source, and stores no such image', async (t) => {
    await put('away', { image: { url: `${origin.url}/away.png` } });
    await put('gone', { image: { url: `${origin.url}/gone.png` } });
    await put('text', { image: { url: `${origin.url}/text.png`, position: 'north' } });
    origin.serve('/text.png', Buffer.from('no picture'));
    for (const attempt of [1, 2]) {
      const response = await load('layer=away,badge,text,gone');
      t.equal(response.headers.get('cache-control'), 'no-store', `${attempt}`);
      const { at } = await read(response);
      t.same([at(195, 95), at(100, 5)], [red, white], 'the other layer is there');
    }
    t.equal(origin.requests.get('/away.png'), 1, 'a failure is remembered');
    const lines = service.log.filter(({ msg }) => /without layer/.test(msg));
    t.equal(lines.length, 1);
    origin.serve('/away.png', await solid(10, 10, 'red'));
    await until('it is requested again', async () => {
      const response = await load('layer=away');
      return response.headers.get('cache-control') !== 'no-store';
    });
  });

  t.test("draws a text in its file's font", async (t) => {
    origin.serve('/letters.woff2', italic);
    const fontUrl = `${origin.url}/letters.woff2`;
    await put('packaged', { text: { words: 'Sale' } });
    await put('own', { text: { words: 'Sale', fontUrl } });
    const etag = async (query: string) => (await load(query)).headers.get('etag');
    const packaged = await etag('layer=packaged');
    const drawn = await load('layer=own');
    t.not(drawn.headers.get('cache-control'), 'no-store');
    t.not(drawn.headers.get('etag'), packaged, 'other letters');
    t.not(await etag('nothing=here'), drawn.headers.get('etag'), 'letters');
    t.equal(await etag('layer=packaged&w=200'), packaged, 'and no other picture');

    origin.serve('/letters.woff2', await openSans('latin'));
    t.equal((await call('POST', 'purge', { sources: [fontUrl] })).status, 202);
    t.equal(await etag('layer=own'), packaged, 'a purge of its URL purges the pictures');
  });

  t.test('omits a text with an unusable font, and stores no such image', async (t) => {
    origin.serve('/damaged.ttf', italic.subarray(0, 999));
    origin.serve('/bomb.woff2', woff2({ declared: 2 ** 31, actual: 9 }));
    for (const name of ['none.woff2', 'damaged.ttf', 'bomb.woff2', 'badge.png']) {
      await put('letters', { text: { ...panel, words: 'a', fontUrl: `${origin.url}/${name}` } });
      const before = origin.requests.get(`/${name}`) ?? 0;
      for (const attempt of [1, 2]) {
        const response = await load('layer=letters,badge');
        t.equal(response.headers.get('cache-control'), 'no-store', `${name} ${attempt}`);
        const { at } = await read(response);
        t.same([at(5, 5), at(195, 95)], [white, red], 'the other layer is there');
      }
      t.ok((origin.requests.get(`/${name}`) ?? 0) <= before + 1, 'a failure is remembered');
    }
    t.not(
      (await load('layer=badge&w=199')).headers.get('cache-control'),
      'no-store',
      'as an image',
    );
    origin.serve('/none.woff2', italic);
    await put('letters', { text: { words: 'a', fontUrl: `${origin.url}/none.woff2` } });
    await until('it is requested again', async () => {
      const response = await load('layer=letters');
      return response.headers.get('cache-control') !== 'no-store';
    });
  });

  t.test('keeps a font usable whatever words a URL contains', async (t) => {
    origin.serve('/free.woff2', italic);
    await put('any', { text: { freeText: true, fontUrl: `${origin.url}/free.woff2` } });
    await load(`layer=any&text.any=${encodeURIComponent(`a${'\u0301'.repeat(400)}`)}`);
    const response = await load('layer=any&text.any=a');
    t.not(response.headers.get('cache-control'), 'no-store');
  });

  t.test("requires an allowed host for a layer's source", async (t) => {
    const id = await service.createProject('127.0.0.1');
    const { status, body } = await call(
      'PUT',
      'layers/a',
      { image: { url: 'http://b.test/' } },
      id,
    );
    t.same([status, body.code], [400, 'invalid_request']);
    const elsewhere = { text: { fontUrl: 'http://localhost/a.ttf' } };
    const font = await call('PUT', 'layers/a', elsewhere, id);
    t.equal(font.status, 400);
    t.match(font.body.message, /text\.fontUrl must be on an allowed host/);
    await store.projects.setItem(id, 'layers', 'letters', {
      text: { ...elsewhere.text, words: 'a' },
    });
    await store.projects.setItem(id, 'layers', 'elsewhere', {
      image: { url: 'http://localhost/a.png' },
    });
    await store.projects.setItem(id, 'layers', 'moved', {
      image: { url: `${origin.url}/moved.png` },
    });
    origin.serve('/moved.png', (_, response) => {
      const location = `http://localhost:${origin.port}/badge.png`;
      response.writeHead(302, { location }).end();
    });
    const denied = await load('layer=elsewhere', id);
    t.same([denied.status, (await json(denied)).code], [403, 'source_not_allowed']);
    t.equal((await load('layer=letters', id)).status, 403, 'nor a font');
    const redirected = await load('layer=moved', id);
    t.equal(redirected.headers.get('cache-control'), 'no-store', 'also after a redirect');
    // Let the other project use the host.
    await put('moved', { image: { url: `${origin.url}/moved.png`, scale: 10 } });
    const allowed = await load('layer=moved');
    t.not(allowed.headers.get('cache-control'), 'no-store');
  });

  t.test('omits a layer that loads itself through the service', async () => {
    const self = `${service.url}/img/${encodeURIComponent(`${origin.url}/a.png`)}?project=${project}&layer=self`;
    await store.projects.setItem(project, 'layers', 'self', { image: { url: self } });
    await until('it is delivered without the layer', async () => {
      const response = await load('layer=self');
      return response.status === 200 && response.headers.get('cache-control') === 'no-store';
    });
  });

  t.test("purges the images with a layer by the layer's URL", async (t) => {
    const tags = async (query: string) => (await load(query)).headers.get('x-cache');
    await load('layer=badge&w=50');
    t.equal(await tags('layer=badge&w=50'), 'memory');
    origin.serve('/badge.png', await solid(20, 20, 'blue'));
    t.equal((await call('POST', 'purge', { sources: [`${origin.url}/badge.png`] })).status, 202);
    const { at } = await read(await load('layer=badge&w=50'));
    t.ok(near(at(48, 23), [0, 0, 255, 255]));
  });
});
