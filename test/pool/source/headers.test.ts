import type { ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import t from 'tap';
import type { Dispatcher } from 'undici';
import { ServiceError } from '../../../contract/errors.ts';
import { FairShare } from '../../../pool/fair-share.ts';
import { SharedMemory } from '../../../pool/source/shared-memory.ts';
import { headerLoader } from '../../../pool/source/source-loader.ts';
import { client, createGuard, expectFailure, openSources, startOrigin } from './origin.ts';

const secret = 'Bearer secret-of-the-test';
const credentials = { authorization: secret, 'x-token': 'other-secret' };
const findLoader = () => headerLoader('a', credentials);

t.test('sends headers with the request, and to the same origin after a redirect', async (t) => {
  const origin = await startOrigin(t, ({ url }, response) => {
    if (url === '/first') response.writeHead(302, { location: '/second' }).end();
    else response.end('picture');
  });
  await openSources(t).acquire(origin.url('/first'), client({ findLoader }));
  t.equal(origin.requests.length, 2);
  for (const { headers } of origin.requests) t.match(headers, credentials);
});

t.test('sends no headers to another host or port, or after a redirect back', async (t) => {
  const other = await startOrigin(t, ({ url = '' }, response) => {
    const back = /^\/back\?(\d+)$/.exec(url)?.[1];
    if (back === undefined) return response.end('picture');
    return response.writeHead(307, { location: `http://127.0.0.1:${back}/end` }).end();
  });
  const origin = await startOrigin(t, ({ url = '' }, response) => {
    const location = decodeURIComponent(url.slice(2));
    if (location.startsWith('http')) response.writeHead(301, { location }).end();
    else response.end('picture');
  });
  const targets = [
    other.url('/other-port').href,
    origin.url('/other-host', 'localhost').href,
    other.url(`/back?${origin.port}`).href,
  ];
  const sources = openSources(t, { privateSources: ['127.0.0.1:*', 'localhost:*'] });
  for (const target of targets) {
    const url = origin.url(`/?${encodeURIComponent(target)}`);
    await sources.acquire(url, client({ findLoader }));
  }
  const all = [...origin.requests, ...other.requests];
  const sent = all.filter(({ headers }) => headers.authorization !== undefined);
  t.same(
    sent.map(({ url }) => url?.slice(0, 5)),
    ['/?htt', '/?htt', '/?htt'],
  );
  t.equal(all.length, 7);
});

t.test('sends no headers from https to http', async (t) => {
  const requests: Dispatcher.DispatchOptions[] = [];
  const connections = {
    dispatch: (options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) => {
      requests.push(options);
      const controller = {} as Dispatcher.DispatchController;
      const first = requests.length === 1;
      const headers = first ? { location: 'http://photos.example/b.jpg' } : {};
      handler.onResponseStart?.(controller, first ? 302 : 200, headers);
      handler.onResponseData?.(controller, Buffer.from('picture'));
      handler.onResponseEnd?.(controller, {});
    },
  };
  const { signal } = new AbortController();
  const options = {
    guard: createGuard(),
    connections,
    signal,
    loopId: 'a',
    userAgent: 'test',
    isAllowedHost: () => true,
    timeoutMs: 10_000,
    maxBytes: 1_000_000,
    budget: new FairShare(1_000_000, 1_000_000),
    owner: { project: 'p', host: 'h' },
    memory: new SharedMemory(1_000_000),
  };
  await findLoader().fetch(new URL('https://photos.example/a.jpg'), options);
  t.match(requests, [
    { origin: 'https://photos.example', headers: credentials },
    {
      origin: 'http://photos.example',
      headers: { authorization: undefined, 'x-token': undefined },
    },
  ]);
  const plain = findLoader().fetch(new URL('http://photos.example/a.jpg'), options);
  t.match(await expectFailure(plain), { code: 'source_blocked', message: /only over https/ });
  t.equal(requests.length, 2, 'nothing was sent');
});

t.test('omits headers from errors', async (t) => {
  const answers = [
    (response: ServerResponse) => response.writeHead(401).end(secret),
    (response: ServerResponse) => response.writeHead(500, secret).end(),
    (response: ServerResponse) => response.writeHead(302, { location: 'http://[' }).end(),
    (response: ServerResponse) => response.destroy(),
    (response: ServerResponse) => {
      response.writeHead(200, { 'content-length': 9 }).write('p');
      response.destroy();
    },
  ];
  const origin = await startOrigin(t, ({ url = '' }, response) => {
    answers[Number(url.slice(1))]?.(response);
  });
  const sources = openSources(t);
  for (const index of answers.keys()) {
    const error = await expectFailure(
      sources.acquire(origin.url(`/${index}`), client({ findLoader })),
    );
    t.type(error, ServiceError);
    t.notMatch(inspect(error, { depth: 9 }), /secret/, error.message);
  }
});

t.test('does not share bytes, failures or fetches between identities', async (t) => {
  const origin = await startOrigin(t, ({ headers, url }, response) => {
    if (url === '/denied' && headers.authorization !== 'a') response.writeHead(401).end();
    else setTimeout(() => response.end(`for ${headers.authorization}`), 20);
  });
  const sources = openSources(t);
  const read = async (path: string, name: string | null) => {
    const own = () => (name === null ? null : headerLoader(name, { authorization: name }));
    const lease = await sources.acquire(origin.url(path), client({ findLoader: own }));
    return Buffer.from(lease.bytes).toString();
  };
  const names = ['a', 'b', null, 'a'];
  const texts = ['for a', 'for b', 'for undefined', 'for a'];
  t.same(await Promise.all(names.map((name) => read('/x', name))), texts, 'at the same time');
  t.equal(origin.requests.length, 3);
  for (const [index, name] of names.entries()) t.equal(await read('/x', name), texts[index]);
  t.equal(origin.requests.length, 3, 'from the cache');
  t.equal((await expectFailure(read('/denied', 'b'))).code, 'source_unauthorized');
  t.equal(await read('/denied', 'a'), 'for a', 'the failure is not shared');
});

t.test('revalidates a source with headers', async (t) => {
  const origin = await startOrigin(t, ({ headers }, response) => {
    if (headers.authorization !== secret) response.writeHead(401).end();
    else if (headers['if-none-match'] === '"1"') response.writeHead(304).end();
    else response.setHeader('etag', '"1"').end('picture');
  });
  const sources = openSources(t);
  const { validators } = await sources.acquire(origin.url(), client({ findLoader }));
  t.same(validators.etag, '"1"');
  t.equal((await sources.revalidate(origin.url(), validators, client({ findLoader }))).bytes, null);
});
