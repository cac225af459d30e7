import t from 'tap';
import { parsePeer, peerServer } from '../../../bench/options.ts';
import { startBare } from '../../../bench/servers/bare.ts';
import { pinning, processorMs, residentMiB } from '../../../bench/servers/launch.ts';
import { encoderOptions } from '../../../bench/servers/server.ts';
import { encoderQuality } from '../../../pool/rendering/encode/quality.ts';
import { usedCpuMs } from '../../clock.ts';

t.test("uses the service's encoder options", async (t) => {
  t.match(encoderOptions('avif', 80, 1_000), {
    quality: encoderQuality('avif', 80, 1_000),
    effort: Number,
  });
  t.match(encoderOptions('jpeg', 80, 1_000), { quality: 80, chromaSubsampling: '4:2:0' });
  t.match(encoderOptions('jpeg', 95, 1_000), { chromaSubsampling: '4:4:4' });
});

t.test("fills a peer's URL template", async (t) => {
  const text = 'other=http://127.0.0.1:8081/rs:fit:{width}/q:{quality}/plain/{url}@{format}';
  const server = peerServer(parsePeer(text), 5);
  t.match(server, { name: 'other', url: 'http://127.0.0.1:8081', pid: 5 });
  const source = 'http://127.0.0.1:1/a.jpg?n={n}';
  t.equal(
    server.imageUrl({ source, width: 800, format: 'avif', pixels: 1_000, quality: 80 }),
    `http://127.0.0.1:8081/rs:fit:800/q:${encoderQuality('avif', 80, 1_000)}/plain/http%3A%2F%2F127.0.0.1%3A1%2Fa.jpg%3Fn%3D{n}@avif`,
  );
  const boxed = peerServer(parsePeer('a=http://a/{width}x{height}/{url}.{format}'), null);
  const image = { source: 's', width: 5, pixels: 1, quality: 80, format: 'png' } as const;
  t.equal(boxed.imageUrl({ ...image, height: 7 }), 'http://a/5x7/s.png');
  t.equal(boxed.imageUrl(image), 'http://a/5x0/s.png');
  for (const [wrong, why] of [
    ['http://127.0.0.1/{url}', /name=/],
    ['a=ftp://127.0.0.1/{url}{width}{format}', /name=/],
    ['a=http://127.0.0.1/{url}{width}', /\{format\}/],
    ['a=http://127.0.0.1/{url}{width}{format}{h}', /\{h\}/],
  ] as const) {
    t.throws(() => parsePeer(wrong), why, wrong);
  }
});

t.test('responds from the bare handler to all URLs, or only the given paths', async (t) => {
  const response = { headers: [['etag', '"e"']] as const, body: Buffer.from('body') };
  const bare = await startBare(response);
  t.teardown(() => bare.close());
  const many = await startBare(response, null, ['/img/a', '/img/b']);
  t.teardown(() => many.close());
  const get = async (url: string, headers = {}) => {
    const response = await fetch(url, { headers });
    return [response.status, await response.text()];
  };
  t.same(await get(`${bare.url}/anything?at=all`), [200, 'body']);
  t.same(await get(`${many.url}/img/a?b=2`), [200, 'body']);
  t.same(await get(`${many.url}/img/b`), [200, 'body']);
  t.same(await get(`${many.url}/img/b`, { 'if-none-match': '"e"' }), [304, '']);
  t.match(await get(`${many.url}/img/c`), [404]);
});

t.test('separates the processors of a server and the load if there are several', async (t) => {
  t.same(pinning(1), { server: null, load: null });
  const four = pinning(4);
  if (four.server !== null) t.same(four, { server: '0', load: '1-3' });
});

t.test(
  "measures a process's memory and processor time",
  { skip: process.platform !== 'linux' },
  async (t) => {
    const mib = await residentMiB(process.pid);
    t.ok(mib > 20 && mib < 4_000, `${mib} MiB`);
    const before = usedCpuMs();
    const ms = await processorMs(process.pid);
    // The system counts in 10 ms steps.
    t.ok(ms > before - 50 && ms < usedCpuMs() + 50, `${ms} ms after ${before} ms`);
  },
);
