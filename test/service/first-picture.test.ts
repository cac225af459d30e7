import sharp from 'sharp';
import t from 'tap';
import { picture } from './origin.ts';
import { startDelivery, startService } from './service.ts';

t.test('renders an image, then serves it from memory, and after a restart from disk', async (t) => {
  const { service, origin, image } = await startDelivery(t);
  origin.serve('/a.jpg', await picture(900, 600));
  const url = service.url + image('/a.jpg', 'w=300&fmt=webp');

  const first = await fetch(url);
  const body = Buffer.from(await first.arrayBuffer());
  t.equal(first.status, 200);
  t.match(await sharp(body).metadata(), { format: 'webp', width: 300, height: 200 });

  t.test('sends the documented headers with the first response', async (t) => {
    t.equal(first.headers.get('content-type'), 'image/webp');
    t.equal(first.headers.get('cache-control'), 'public, max-age=31536000, immutable');
    t.equal(first.headers.get('accept-ch'), 'Sec-CH-DPR, Sec-CH-Width, Sec-CH-Viewport-Width');
    t.equal(
      first.headers.get('vary'),
      'Accept, Sec-CH-DPR, Sec-CH-Width, Sec-CH-Viewport-Width, DPR, Width, Viewport-Width',
    );
    t.equal(first.headers.get('content-length'), String(body.length));
    t.match(first.headers.get('etag'), /^"[\w-]{22}"$/);
    t.equal(first.headers.get('x-content-type-options'), 'nosniff');
    t.equal(first.headers.get('access-control-allow-origin'), '*');
    t.equal(first.headers.get('access-control-expose-headers'), '*');
    t.equal(first.headers.get('timing-allow-origin'), '*');
    t.equal(first.headers.get('cross-origin-resource-policy'), 'cross-origin');
    t.equal(first.headers.get('x-cache'), 'miss');
    t.match(first.headers.get('server-timing'), /^cache;desc=miss, fetch;dur=\d.*transform;dur=\d/);
    t.match(first.headers.get('x-request-id'), /^[\w-]+$/);
  });

  t.test('returns the same bytes from memory to repeated requests', async (t) => {
    for (const _ of [1, 2]) {
      const again = await fetch(url);
      t.equal(again.headers.get('x-cache'), 'memory');
      t.equal(again.headers.get('etag'), first.headers.get('etag'));
      t.same(Buffer.from(await again.arrayBuffer()), body);
    }
  });

  t.test('reads the image from disk after a restart, with no fetch', async (t) => {
    t.equal(await service.end('SIGTERM'), 0);
    const { dataDir, port, environment } = service;
    const restarted = await startService(t, { dataDir, port, environment });
    const response = await fetch(url);
    t.equal(response.headers.get('x-cache'), 'disk');
    t.equal(response.headers.get('etag'), first.headers.get('etag'));
    t.same(Buffer.from(await response.arrayBuffer()), body);
    t.equal(origin.requests.get('/a.jpg'), 1);
    t.equal(await restarted.end('SIGTERM'), 0);
  });
});
