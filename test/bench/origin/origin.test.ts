import { once } from 'node:events';
import { connect } from 'node:net';
import t from 'tap';
import { startOrigin } from '../../../bench/origin/origin.ts';
import { picture, pictureNames } from '../../../bench/origin/pictures.ts';

t.test('serves a picture with its type, length and ETag', async (t) => {
  const origin = await startOrigin();
  t.teardown(() => origin.close());
  t.equal(origin.url, `http://127.0.0.1:${origin.port}`);
  const response = await fetch(`${origin.url}/pulse.gif`);
  const body = Buffer.from(await response.arrayBuffer());
  t.equal(response.status, 200);
  t.equal(response.headers.get('content-type'), 'image/gif');
  t.equal(response.headers.get('content-length'), String(body.length));
  t.ok(body.equals(await picture('pulse.gif')));

  const etag = response.headers.get('etag') ?? '';
  t.match(etag, /^"[\w-]{20,}"$/);
  const same = await fetch(`${origin.url}/pulse.gif`, { headers: { 'if-none-match': etag } });
  t.equal(same.status, 304);
  t.equal((await same.arrayBuffer()).byteLength, 0);
  const other = await fetch(`${origin.url}/emblem.svg`, { headers: { 'if-none-match': etag } });
  t.equal(other.status, 200);
  t.equal(other.headers.get('content-type'), 'image/svg+xml');
  t.not(other.headers.get('etag'), etag);
});

t.test('HEAD answers like GET without the body; other methods are refused', async (t) => {
  const origin = await startOrigin();
  t.teardown(() => origin.close());
  const head = await fetch(`${origin.url}/emblem.svg`, { method: 'HEAD' });
  t.equal(head.status, 200);
  t.equal(head.headers.get('content-length'), String((await picture('emblem.svg')).length));
  t.equal((await head.arrayBuffer()).byteLength, 0);
  const post = await fetch(`${origin.url}/emblem.svg`, { method: 'POST', body: 'x' });
  t.equal(post.status, 405);
  t.equal(post.headers.get('allow'), 'GET, HEAD');
});

t.test('everything else is 404', async (t) => {
  const origin = await startOrigin();
  t.teardown(() => origin.close());
  for (const path of ['/nothing.jpg', '/toString', '/__proto__', '/pulse.gif/', '//pulse.gif']) {
    t.equal((await fetch(origin.url + path)).status, 404, path);
  }
});

t.test('the front page shows every picture', async (t) => {
  const origin = await startOrigin();
  t.teardown(() => origin.close());
  const response = await fetch(`${origin.url}/`);
  t.match(response.headers.get('content-type'), 'text/html');
  const page = await response.text();
  for (const name of pictureNames) t.match(page, `src="/${name}"`);
});

t.test('counts the requests for each path, each origin for itself', async (t) => {
  const [origin, other] = await Promise.all([startOrigin(), startOrigin()]);
  t.teardown(() => Promise.all([origin.close(), other.close()]));
  t.equal(origin.requests('/emblem.svg'), 0);
  for (const query of ['', '?a=1', '?b=2']) {
    await (await fetch(`${origin.url}/emblem.svg${query}`)).arrayBuffer();
  }
  await (await fetch(`${origin.url}/nothing`)).arrayBuffer();
  t.equal(origin.requests('/emblem.svg'), 3);
  t.equal(origin.requests('/nothing'), 1);
  t.equal(other.requests('/emblem.svg'), 0);
});

t.test('close ends every connection and frees the port', { timeout: 15_000 }, async (t) => {
  const origin = await startOrigin();
  const idle = connect(origin.port, '127.0.0.1');
  const waiting = connect(origin.port, '127.0.0.1');
  t.teardown(() => idle.destroy() && waiting.destroy());
  waiting.write('GET /emblem.svg HTTP/1.1\r\nHost: ');
  idle.write('HEAD /emblem.svg HTTP/1.1\r\nHost: origin\r\n\r\n');
  await once(idle, 'data');
  // Being cut off in the middle of a request may show as a reset, which is fine here.
  waiting.on('error', () => {});
  const ended = Promise.all(
    [idle, waiting].map((socket) => new Promise((resolve) => socket.once('close', resolve))),
  );
  idle.resume();
  waiting.resume();
  await origin.close();
  await ended;
  await origin.close();

  const heir = await startOrigin({ port: origin.port });
  t.teardown(() => heir.close());
  t.equal(heir.port, origin.port);
  await t.rejects(startOrigin({ port: origin.port }), { code: 'EADDRINUSE' });
});
