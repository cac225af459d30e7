import type { ServerResponse } from 'node:http';
import t from 'tap';
import { client, expectFailure, openSources, startOrigin } from './origin.ts';

t.test('follows relative redirects and redirects to other hosts', async (t) => {
  for (const status of [301, 302, 303, 307, 308]) {
    const origin = await startOrigin(t, (request, response) => {
      const target = { '/a': 'b?x#y', '/b?x': `http://b.example.:${origin.port}/c` }[
        request.url ?? ''
      ];
      if (target === undefined) response.end(`${request.headers.host}${request.url}`);
      else response.writeHead(status, { location: target }).end('moved');
    });
    const checked: string[] = [];
    const lease = await openSources(t).acquire(
      origin.url('/a', 'a.example'),
      client({ isAllowedHost: (host) => checked.push(host) > 0 }),
    );
    t.equal(Buffer.from(lease.bytes).toString(), `b.example:${origin.port}/c`, String(status));
    t.ok(checked.includes('b.example'), 'without the trailing dot');
  }
});

t.test('follows at most five redirects', async (t) => {
  const origin = await startOrigin(t, (request, response) => {
    const left = Number(request.url?.slice(1));
    if (left === 0) response.end('picture');
    else response.writeHead(302, { location: `/${left - 1}` }).end();
  });
  const sources = openSources(t);
  t.equal((await sources.acquire(origin.url('/5'), client())).bytes.byteLength, 7);
  const before = origin.requests.length;
  const failure = await expectFailure(sources.acquire(origin.url('/9'), client()));
  t.match(failure, { code: 'source_unreachable', message: /too often/ });
  t.equal(origin.requests.length - before, 6);
});

t.test('checks every redirect', async (t) => {
  const target = await startOrigin(t, (_, response) => response.end('inside'));
  const own = { baseUrl: 'http://me.example', port: target.port };
  const locations: Record<string, string> = {
    'http://169.254.169.254/latest/meta-data/': 'source_blocked',
    'http://[::ffff:169.254.169.254]/': 'source_blocked',
    'http://0x7f.2/': 'source_blocked',
    '//localhost/': 'source_blocked',
    'http://metadata.google.internal/': 'source_blocked',
    [target.url().href]: 'source_blocked',
    [target.url('/', 'me.example').href]: 'source_blocked',
    [target.url('/', 'other.example').href]: 'source_blocked',
    'http://stranger.example/': 'source_not_allowed',
    'ftp://a.example/': 'source_unreachable',
    'file:///etc/passwd': 'source_unreachable',
    'data:image/png;base64,AAAA': 'source_unreachable',
    'http://user:secret@a.example/': 'source_unreachable',
    'http://a b/': 'source_unreachable',
    'http://': 'source_unreachable',
    [`//${'h'.repeat(1_025)}/`]: 'source_unreachable',
  };
  for (const [location, code] of Object.entries(locations)) {
    const origin = await startOrigin(t, (_, response) => {
      response.writeHead(302, { location }).end();
    });
    const failure = await expectFailure(
      openSources(t, own).acquire(
        origin.url('/', 'a.example'),
        client({ isAllowedHost: (host) => host !== 'stranger.example' }),
      ),
    );
    t.equal(failure.code, code, location);
    t.notMatch(failure.message, /secret/);
    t.equal(/host that is too long/.test(failure.message), location.startsWith('//h'));
  }
  t.equal(target.requests.length, 0);
});

t.test('checks the addresses of a redirect', async (t) => {
  const origin = await startOrigin(t, (_, response) => {
    response.writeHead(302, { location: 'http://inside.example/' }).end();
  });
  const resolve = async (name: string) => [
    { address: name === 'inside.example' ? '10.0.0.1' : '127.0.0.1', family: 4 },
  ];
  const failure = await expectFailure(
    openSources(t, {}, { resolve }).acquire(origin.url('/', 'a.example'), client()),
  );
  t.match(failure, { code: 'source_blocked', message: /inside\.example/ });
});

t.test('does not wait for an endless redirect body', async (t) => {
  const origin = await startOrigin(t, (request, response) => {
    if (request.url === '/end') response.end('picture');
    else response.writeHead(302, { location: '/end' }).write('and on');
  });
  const sources = openSources(t);
  t.equal((await sources.acquire(origin.url('/'), client())).bytes.byteLength, 7);
  await sources.close();
  await origin.quiet();
});

t.test('sends validators only to the URL that sent them', async (t) => {
  let target = '/a';
  let answer: ServerResponse['statusCode'] = 200;
  let etag = '"1"';
  const origin = await startOrigin(t, (request, response) => {
    const { host = '' } = request.headers;
    if (request.url === '/latest') {
      const location = target.startsWith('/') ? target : `http://${target}`;
      return void response.writeHead(302, { location, etag: '"of the redirect"' }).end();
    }
    const isKnown = request.headers['if-none-match'] !== undefined;
    const headers = { etag, 'last-modified': 'Sun, 22 Nov 2026 10:00:00 GMT' };
    if (isKnown && answer === 304) response.writeHead(304, headers).end();
    else response.writeHead(200, headers).end(`${host.split(':')[0]}${request.url}`);
  });
  const sources = openSources(t);
  const url = origin.url('/latest', 'one.example');
  const first = await sources.acquire(url, client());
  first.release();
  const ask = async () => {
    const from = origin.requests.length;
    const { bytes } = await sources.revalidate(url, first.validators, client());
    return [
      bytes === null ? null : Buffer.from(bytes).toString(),
      ...origin.requests.slice(from).map(({ headers }) => headers['if-none-match'] ?? null),
    ];
  };
  answer = 304;
  t.same(await ask(), [null, null, '"1"'], 'not to the redirect');
  target = '/b';
  t.same(await ask(), ['one.example/b', null, null], 'another file with the same entity tag');
  target = `two.example:${origin.port}/a`;
  t.same(await ask(), ['two.example/a', null, null], 'another host');
  target = '/a';
  etag = 'W/"1"';
  t.same(await ask(), [null, null, '"1"'], 'a weak form of the same');
  etag = '"2"';
  t.same(await ask(), ['one.example/a', null, '"1"', null], 'a 304 about another version');
});

t.test("sends a redirect's cookie to the rest of its redirects", async (t) => {
  const origin = await startOrigin(t, ({ url, headers }, response) => {
    const { host = '', cookie } = headers;
    if (url === '/image' && cookie === undefined) {
      response.setHeader('set-cookie', ['seen=a%20b; Path=/; HttpOnly', 'old=1; Max-Age=0']);
      response.writeHead(302, { location: '/image' }).end();
    } else response.end(`${host.split(':')[0]} ${cookie}`);
  });
  const sources = openSources(t);
  const lease = await sources.acquire(origin.url('/image', 'a.example'), client());
  t.equal(Buffer.from(lease.bytes).toString(), 'a.example seen=a%20b');
  await sources.acquire(origin.url('/other', 'a.example'), client());
  t.equal(origin.requests.at(-1)?.headers.cookie, undefined, 'not in another fetch');
});

t.test('sends cookies only to their host, path and scheme', async (t) => {
  const cookies = [
    'host=1',
    'here=1; Path=/here',
    'secure=1; Secure',
    'domain=1; Domain=example',
    'sub=1; Path=/; Domain=a.example',
    'parent=1; Path=/; Domain=site.a.example',
    'foreign=1; Domain=b.example',
  ];
  const hops = ['x.site.a.example/here/b', 'a.example/here', 'site.a.example/', 'b.example/'];
  const origin = await startOrigin(t, ({ url, headers }, response) => {
    const hop = hops.indexOf(`${headers.host?.split(':')[0]}${url}`);
    const next = hops[hop + 1];
    if (next === undefined) return response.end('picture');
    const [host, ...path] = next.split('/');
    const location = `http://${host}:${origin.port}/${path.join('/')}`;
    return response.writeHead(302, { location, 'set-cookie': hop === 0 ? cookies : [] }).end();
  });
  const url = origin.url('/here/b', 'x.site.a.example');
  await openSources(t).acquire(url, client());
  const sent = origin.requests.map(({ headers }) => headers.cookie);
  t.same(sent, [undefined, 'sub=1', 'sub=1; parent=1', undefined]);
});

t.test('limits the cookies of a fetch', async (t) => {
  const cookies = Array.from({ length: 60 }, (_, index) => `c${index}=${'v'.repeat(150)}`);
  const origin = await startOrigin(t, ({ url }, response) => {
    if (url === '/end') response.end('picture');
    else response.writeHead(302, { location: '/end', 'set-cookie': cookies }).end();
  });
  await openSources(t).acquire(origin.url('/'), client());
  t.equal(origin.requests.at(-1)?.headers.cookie?.split('; ').length, 20);
});

t.test('follows locations with raw UTF-8 as browsers do', async (t) => {
  const origin = await startOrigin(t, ({ url }, response) => {
    const locations: Readonly<Record<string, string>> = {
      '/utf-8': Buffer.from('/größe ü/日本.png?q=é').toString('latin1'),
      '/latin-1': '/\xfc.png',
    };
    const location = locations[url ?? ''];
    if (location === undefined) response.end(url);
    else response.writeHead(302, { location }).end();
  });
  const sources = openSources(t);
  const get = async (path: string) => {
    const { bytes } = await sources.acquire(origin.url(path), client());
    return decodeURI(Buffer.from(bytes).toString());
  };
  t.equal(await get('/utf-8'), '/größe ü/日本.png?q=é');
  t.equal(await get('/latin-1'), '/ü.png');
});
