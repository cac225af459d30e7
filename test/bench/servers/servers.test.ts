import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import t from 'tap';
import { pinning } from '../../../bench/scenarios/run.ts';
import { hasRoom, writeEntries } from '../../../bench/scenarios/scale/entries.ts';
import { startBare } from '../../../bench/servers/bare.ts';
import { encoderOptions, sharpFields } from '../../../bench/servers/encoder-settings.ts';
import { defaultPeer, parsePeer, peerServer } from '../../../bench/servers/peer.ts';
import { processorMs, residentMiB } from '../../../bench/servers/processes.ts';
import { encoderQuality } from '../../../pool/rendering/encode/quality.ts';
import { DiskCacheIndex } from '../../../server/cluster/disk-cache-index.ts';
import { rootPath } from '../../root.ts';
import { temporaryFolder } from '../../temporary-root.ts';

const json = async (path: string) => JSON.parse(await readFile(join(rootPath, path), 'utf8'));

t.test('IPX uses the same version of sharp', async (t) => {
  const { dependencies } = await json('package.json');
  t.equal((await json('bench/ipx/package.json')).overrides.sharp, dependencies.sharp);
  const { packages } = await json('bench/ipx/package-lock.json');
  t.equal(packages['node_modules/sharp'].version, dependencies.sharp);
});

t.test('encoder options are those of the service', async (t) => {
  t.match(encoderOptions('avif', 80, 1_000), {
    quality: encoderQuality('avif', 80, 1_000),
    effort: Number,
  });
  t.match(encoderOptions('jpeg', 80, 1_000), { quality: 80, chromaSubsampling: '4:2:0' });
  t.match(encoderOptions('jpeg', 95, 1_000), { chromaSubsampling: '4:4:4' });
  const { options } = sharp({
    create: { width: 1, height: 1, channels: 3, background: 'red' },
  }) as unknown as {
    options: Record<string, unknown>;
  };
  const fields = sharpFields(500_000, 80);
  t.match(fields, { jpegQuantisationTable: 2, webpEffort: Number, heifEffort: Number });
  t.same(
    Object.keys(fields).filter((name) => !(name in options)),
    [],
    'by the names of fields that sharp has',
  );
});

t.test('a peer has a template of its URLs', async (t) => {
  const text = 'other=http://127.0.0.1:8081/rs:fit:{width}/q:{quality}/plain/{url}@{format}';
  const peer = parsePeer(text);
  const server = peerServer({ ...peer, pid: 5 }, 1_000);
  t.match(server, { name: 'other', url: 'http://127.0.0.1:8081', pid: 5 });
  const source = 'http://127.0.0.1:1/a.jpg?n={n}';
  t.equal(
    server.imageUrl({ source, width: 800, format: 'avif', quality: 80 }),
    `http://127.0.0.1:8081/rs:fit:800/q:${encoderQuality('avif', 80, 1_000)}/plain/http%3A%2F%2F127.0.0.1%3A1%2Fa.jpg%3Fn%3D{n}@avif`,
  );
  for (const [wrong, why] of [
    ['http://127.0.0.1/{url}', /name=/],
    ['a=ftp://127.0.0.1/{url}{width}{format}', /name=/],
    ['a=http://127.0.0.1/{url}{width}', /\{format\}/],
    ['a=http://127.0.0.1/{url}{width}{format}{h}', /\{h\}/],
    ['a=http://127.0.0.1/{url}/{width}/{format}-{quality}', /cannot be left out/],
  ] as const) {
    t.throws(() => parsePeer(wrong), why, wrong);
  }
});

t.test('a peer with its defaults has URLs without a quality', async (t) => {
  const request = { source: 'http://o/a.jpg?n={n}', width: 800, format: 'avif' } as const;
  const url = 'http%3A%2F%2Fo%2Fa.jpg%3Fn%3D{n}';
  const urlOf = (template: string, quality: number | null) =>
    defaultPeer(parsePeer(`a=http://h/${template}`))
      .imageUrl(request, quality)
      .slice(9);
  for (const [template, plain, with70] of [
    [
      'rs:fit:{width}:0/q:{quality}/plain/{url}@{format}',
      `rs:fit:800:0/plain/${url}@avif`,
      `rs:fit:800:0/q:70/plain/${url}@avif`,
    ],
    [
      'i?u={url}&quality={quality}&w={width}&f={format}',
      `i?u=${url}&w=800&f=avif`,
      `i?u=${url}&quality=70&w=800&f=avif`,
    ],
    ['{width}/{format}/{url}?q={quality}', `800/avif/${url}`, `800/avif/${url}?q=70`],
    ['w_{width},q_{quality},f_{format}/{url}', `w_800,f_avif/${url}`, `w_800,q_70,f_avif/${url}`],
    [
      '{width}x0/filters:quality({quality}):format({format})/{url}',
      `800x0/filters:format(avif)/${url}`,
      `800x0/filters:quality(70):format(avif)/${url}`,
    ],
    ['{width}/{format}/{url}', `800/avif/${url}`, `800/avif/${url}`],
  ] as const) {
    t.same([urlOf(template, null), urlOf(template, 70)], [plain, with70], template);
  }
  const accepts = (template: string) =>
    defaultPeer(parsePeer(`a=http://h/${template}`)).acceptsQuality;
  t.same(['{url}/{width}/{format}/{quality}', '{url}/{width}/{format}'].map(accepts), [
    true,
    false,
  ]);
});

t.test('the bare handler responds to all URLs, or only the given paths', async (t) => {
  const response = { headers: [['etag', '"e"']] as const, body: Buffer.from('body') };
  const one = await startBare(response);
  t.teardown(() => one.close());
  const many = await startBare(response, { paths: ['/img/a', '/img/b'] });
  t.teardown(() => many.close());
  const get = async (url: string, headers = {}) => {
    const response = await fetch(url, { headers });
    return [response.status, await response.text()];
  };
  t.same(await get(`${one.url}/anything?at=all`), [200, 'body']);
  t.same(await get(`${many.url}/img/a?b=2`), [200, 'body']);
  t.same(await get(`${many.url}/img/b`), [200, 'body']);
  t.same(await get(`${many.url}/img/b`, { 'if-none-match': '"e"' }), [304, '']);
  t.match(await get(`${many.url}/img/c`), [404]);
});

t.test('servers and load have separate processors if there are enough', async (t) => {
  const none = { server: null, load: null };
  t.same(pinning(2, 2), none);
  const four = pinning(2, 4);
  if (four.server !== null) t.same(four, { server: '0-1', load: '2-3' });
  const two = pinning(1, 2);
  if (two.server !== null) t.same(two, { server: '0', load: '1' });
});

t.test('the service finds the written entries', async (t) => {
  const folder = await temporaryFolder(t);
  await writeEntries(folder, 0, 5);
  await writeEntries(folder, 5, 12);
  const index = new DiskCacheIndex(folder, 1e9, (error) => t.fail(error.message));
  await index.scan();
  t.equal(index.count, 12);
  t.equal(await hasRoom(folder, 1), true);
  t.equal(await hasRoom(folder, 1e12), false);
});

t.test(
  'the memory and the processor time of a process',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const mib = await residentMiB(process.pid);
    t.ok(mib > 20 && mib < 4_000, `${mib} MiB`);
    const own = process.cpuUsage();
    const ms = await processorMs(process.pid);
    t.ok(Math.abs(ms - (own.user + own.system) / 1_000) < 500, `${ms} ms`);
  },
);
