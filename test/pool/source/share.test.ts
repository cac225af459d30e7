import type { ServerResponse } from 'node:http';
import t, { type Test } from 'tap';
import { Urgency } from '../../../pool/single-flight.ts';
import type { SourceLease } from '../../../pool/source/sources.ts';
import { until } from '../../until.ts';
import { client, expectFailure, openSources, startHeldOrigin, startOrigin } from './origin.ts';

t.test('shares one fetch and its bytes among concurrent requests for a URL', async (t) => {
  const origin = await startHeldOrigin(t);
  const sources = openSources(t);
  const acquired = Array.from({ length: 100 }, (_, i) =>
    sources.acquire(origin.url(`/a#${i}`), client()),
  );
  await origin.respond('/a');
  const leases = await Promise.all(acquired);
  t.equal(origin.requests.length, 1);
  t.equal(new Set(leases.map(({ bytes }) => bytes)).size, 1);
  t.ok(leases.every(({ fetchMs }) => fetchMs !== null && fetchMs > 0));
  t.match(sources.stats(), { fetches: 1, fetching: 0, heldBytes: 7 }, 'counted once');
  for (let i = 0; i < 200; i++) leases[0]?.release();
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(sources.stats().heldBytes, 7, 'a repeated release has no effect');
  for (const lease of leases) lease.release();
  t.equal(sources.stats().heldBytes, 0);
});

t.test('ends the fetch only on the last abort', async (t) => {
  const responses: ServerResponse[] = [];
  let cut = 0;
  const origin = await startOrigin(t, (_, response) => {
    responses.push(response);
    response.write('pic');
    response.on('close', () => {
      if (!response.writableFinished) cut += 1;
    });
  });
  const sources = openSources(t);
  const leaving = [new AbortController(), new AbortController(), new AbortController()];
  const acquired = leaving.map(({ signal }) =>
    sources.acquire(origin.url(), client({ signal })).catch((error: unknown) => error),
  );
  await until('a request', () => responses.length === 1);
  for (const [index, controller] of leaving.entries()) {
    t.same([sources.stats().fetching, cut], [1, 0]);
    controller.abort(index);
    t.equal(await acquired[index], index);
  }
  await until('the fetch has ended', () => cut === 1 && sources.stats().fetching === 0);
  t.equal(sources.stats().heldBytes, 0);

  const again = sources.acquire(origin.url(), client());
  await until('another request', () => responses.length === 2);
  responses[1]?.end('ture');
  t.equal((await again).bytes.byteLength, 7, 'the abort is not cached');

  const signal = AbortSignal.abort(new Error('before'));
  await t.rejects(sources.acquire(origin.url('/2'), client({ signal })), { message: 'before' });
  t.equal(sources.stats().fetches, 2, 'an aborted signal starts no fetch');
});

/**
 * Starts an origin that redirects from a.example to b.example, and a request with only a.example
 * allowed.
 */
async function openRedirecting(
  t: Test,
  end: (response: ServerResponse) => unknown = (response) => response.end('picture'),
) {
  const origin = await startOrigin(t, ({ url }, response) => {
    if (url === '/end') end(response);
    else response.writeHead(302, { location: `http://b.example:${origin.port}/end` }).end();
  });
  const sources = openSources(t);
  const get = (options = client()) => sources.acquire(origin.url('/', 'a.example'), options);
  const strict = () => client({ isAllowedHost: (host) => host === 'a.example' });
  return { requests: origin.requests, get, strict };
}

const refused = { code: 'source_not_allowed', message: /b\.example/ };

t.test("respects each request's allowlist in a shared fetch", async (t) => {
  for (const strictLeads of [true, false]) {
    const { requests, get, strict } = await openRedirecting(t);
    // The second request joins before the first response.
    const [first, second] = strictLeads ? [get(strict()), get()] : [get(), get(strict())];
    const [failed, served] = strictLeads ? [first, second] : [second, first];
    t.match(await expectFailure(failed), refused);
    t.equal((await served).bytes.byteLength, 7);
    t.equal(requests.length, strictLeads ? 3 : 2, 'the other host gets one request');
    t.match(await expectFailure(get(strict())), refused, 'also from the cache');
  }
});

t.test('follows a redirect for a joining request after refusing it for another', async (t) => {
  const { get } = await openRedirecting(t);
  let late: Promise<SourceLease> | undefined;
  const isAllowedHost = (host: string) => {
    if (host === 'a.example') return true;
    queueMicrotask(() => {
      late ??= get();
    });
    return false;
  };
  t.match(await expectFailure(get(client({ isAllowedHost }))), refused);
  t.equal((await late)?.bytes.byteLength, 7);
});

t.test('does not cache a refused redirect', async (t) => {
  const { requests, get, strict } = await openRedirecting(t);
  t.match(await expectFailure(get(strict())), refused);
  t.equal(requests.length, 1, 'the other host got no request');
  t.equal((await get()).bytes.byteLength, 7);
});

t.test("uses a host's cached failure only for requests that may use the host", async (t) => {
  const { get, strict } = await openRedirecting(t, (response) => response.writeHead(404).end());
  t.equal((await expectFailure(get())).code, 'source_not_found');
  t.match(await expectFailure(get(strict())), refused);
});

t.test('aborts fetches on close', async (t) => {
  const origin = await startOrigin(t, (_, response) => response.write('pic'));
  const sources = openSources(t, { fetchConcurrency: 1 });
  const get = (path: string, options = client()) =>
    expectFailure(sources.acquire(origin.url(path), options));
  const failures = [get('/1'), get('/2', client({ urgency: new Urgency('background') }))];
  await until('a request', () => origin.requests.length === 1);
  await sources.close();
  failures.push(get('/3'));
  for (const failure of failures) t.equal((await failure).code, 'overloaded');
  await origin.quiet();
  t.match(sources.stats(), { fetching: 0, heldBytes: 0, cacheBytes: 0 });
});
