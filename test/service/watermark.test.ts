import sharp from 'sharp';
import t from 'tap';
import { near, pixels } from '../pool/transform/pictures.ts';
import { startTestOrigin } from './origin.ts';
import { json, startService } from './service.ts';

const key = 'sk_root-key-of-the-tests';
const solid = (width: number, height: number, background: string) =>
  sharp({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer();

t.test('the watermark of a project lies on all its pictures', async (t) => {
  const origin = await startTestOrigin(t);
  const elsewhere = await startTestOrigin(t);
  origin.serve('/a.png', await solid(200, 100, 'white'));
  origin.serve('/b.png', await solid(200, 100, 'blue'));
  elsewhere.serve('/mark.png', await solid(10, 10, 'red'));
  const service = await startService(t, { environment: { SERVICE_ROOT_API_KEY: key } });
  // The watermark's host needs no place on the allowlist.
  const project = await service.project('127.0.0.1');
  const set = async (settings: object) => {
    const response = await fetch(`${service.url}/api/sdk/v1/projects/${project}/settings`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(settings),
    });
    t.equal(response.status, 200);
  };
  const ask = (path: string, query = '') =>
    fetch(`${service.url}/img/${origin.url}${path}?project=${project}&fmt=png${query}`);
  const read = async (response: Response) => pixels(new Uint8Array(await response.arrayBuffer()));
  const watermarkUrl = `http://localhost:${elsewhere.port}/mark.png`;

  t.same((await read(await ask('/a.png'))).at(190, 90), [255, 255, 255, 255]);
  await set({ watermarkUrl, watermarkEnabled: true, watermarkOpacity: 100, watermarkMargin: 5 });

  const marked = await ask('/a.png');
  t.equal(marked.headers.get('x-cache'), 'miss', 'a change of the watermark is another picture');
  const { at } = await read(marked);
  // 20 percent of the width, southeast, 5 pixels from the edges.
  t.same(at(194, 94), [255, 0, 0, 255]);
  t.same(at(155, 55), [255, 0, 0, 255]);
  for (const [x, y] of [
    [196, 96],
    [153, 90],
    [190, 53],
  ] as const) {
    t.same(at(x, y), [255, 255, 255, 255], `${x}, ${y}`);
  }
  t.same((await read(await ask('/b.png', '&w=100'))).at(92, 42), [255, 0, 0, 255]);
  t.equal(elsewhere.requests.get('/mark.png'), 1, 'it is fetched once for several pictures');

  await set({ watermarkPosition: 'northwest', watermarkOpacity: 50, watermarkScale: 50 });
  t.ok(near((await read(await ask('/a.png'))).at(6, 6), [255, 127, 127, 255]));

  t.test('its failure is told as its own', async (t) => {
    await set({ watermarkUrl: `http://127.0.0.1:${elsewhere.port}/none.png` });
    const missing = await ask('/a.png');
    t.equal(missing.status, 404);
    t.match(await json(missing), { code: 'source_not_found', message: /^The watermark cannot/ });

    elsewhere.serve('/text.png', Buffer.from('no picture'));
    await set({ watermarkUrl: `http://127.0.0.1:${elsewhere.port}/text.png` });
    const broken = await ask('/a.png');
    t.equal(broken.status, 415);
    t.match(await json(broken), { code: 'source_unsupported', message: /^The watermark cannot/ });
  });

  t.test('without it all is as before', async (t) => {
    await set({ watermarkEnabled: false });
    const plain = await ask('/a.png');
    t.equal(plain.headers.get('x-cache'), 'memory');
    t.same((await read(plain)).at(190, 90), [255, 255, 255, 255]);
  });
});
