import { randomBytes } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { version } from '../../../contract/package.ts';
import { FairShare } from '../../../pool/fair-share.ts';
import { readBody } from '../../../pool/source/body.ts';
import { Connections } from '../../../pool/source/connections.ts';
import { fetchSource } from '../../../pool/source/fetch.ts';
import { SharedMemory } from '../../../pool/source/shared-memory.ts';
import { until } from '../../until.ts';
import {
  client,
  createGuard,
  expectFailure,
  listen,
  openSources,
  startHeldOrigin,
  startOrigin,
} from './origin.ts';

const owner = { project: 'p', host: 'h' };

t.test('sends a user agent and image types, but no cookies or referrer', async (t) => {
  process.env['http_proxy'] = 'http://127.0.0.1:9';
  process.env['HTTP_PROXY'] = 'http://127.0.0.1:9';
  t.teardown(() => {
    delete process.env['http_proxy'];
    delete process.env['HTTP_PROXY'];
  });
  const origin = await startOrigin(t, (_, response) => {
    response.setHeader('set-cookie', 'a=b; Path=/').end('picture');
  });
  const sources = openSources(t);
  const lease = await sources.acquire(origin.url('/a%20b.png?c=d&e#fragment'), client());
  t.equal(Buffer.from(lease.bytes).toString(), 'picture', 'proxy variables are ignored');
  await sources.acquire(origin.url('/second'), client());
  const [first, second] = origin.requests;
  t.match(first, { method: 'GET', url: '/a%20b.png?c=d&e' });
  t.match(first?.headers, {
    'user-agent': `image-delivery/${version} (+http://localhost:3000)`,
    accept: /^image\//,
    'accept-encoding': 'identity',
    'cdn-loop': 'localhost:1',
  });
  t.ok(sources.isOwnFetch('other.example, localhost:1'));
  t.same([second?.headers.cookie, second?.headers.referer], [undefined, undefined]);
});

t.test('returns bodies of any length in shared memory', async (t) => {
  for (const length of [1, 65_535, 65_536, 65_537, 300_000, 1_000_000]) {
    const body = Buffer.alloc(length, 'abc');
    for (const known of [true, false]) {
      const origin = await startOrigin(t, (_, response) => {
        if (known) response.setHeader('content-length', length);
        // Two writes that declare no length are sent in chunks.
        response.write(body.subarray(0, length >> 1));
        response.end(body.subarray(length >> 1));
      });
      const { bytes } = await openSources(t).acquire(origin.url(), client());
      t.ok(body.equals(bytes), `${length} bytes`);
      t.type(bytes.buffer, SharedArrayBuffer);
    }
  }
});

t.test('returns a body in a separate buffer if there is no shared memory', async (t) => {
  const memory = { allocate: () => null, free: () => {} };
  const limits = { maxBytes: 1_000_000, budget: new FairShare(2_000_000, 0), owner, memory };
  async function* chunks() {
    for (let index = 0; index < 10; index += 1) yield Buffer.alloc(50_000, `${index}`);
  }
  for (const length of [500_000, null]) {
    const bytes = await readBody(chunks(), { ...limits, length });
    t.type(bytes.buffer, ArrayBuffer);
    t.same([bytes.byteLength, bytes[49_999], bytes[450_000]], [500_000, 48, 57]);
    limits.budget.release(owner, 500_000);
  }
});

t.test('returns an error code per unsuccessful status', async (t) => {
  const expected: Record<string, readonly number[]> = {
    source_unreachable: [204, 206, 300, 302, 304, 400, 451, 500, 502, 503],
    source_unauthorized: [401],
    source_forbidden: [403],
    source_not_found: [404, 410],
    source_rate_limited: [429],
  };
  const origin = await startOrigin(t, (request, response) => {
    response.statusCode = Number(request.url?.slice(1));
    response.end('body');
  });
  const sources = openSources(t);
  for (const [code, statuses] of Object.entries(expected)) {
    for (const status of statuses) {
      const failure = await expectFailure(sources.acquire(origin.url(`/${status}`), client()));
      t.match(failure, { code, message: String(status) });
    }
  }
  t.equal((await sources.acquire(origin.url('/203'), client())).bytes.byteLength, 4);
  t.equal(sources.stats().heldBytes, 4, 'only the lease of the 203');
});

t.test('accepts a partial response only with all bytes', async (t) => {
  const ranges: Readonly<Record<string, boolean>> = {
    'bytes 0-6/7': true,
    'Bytes 0-6/7': true,
    'bytes 0-5/7': false,
    'bytes 1-7/7': false,
    'bytes 0-6/*': false,
    'bytes 0-7/8': false,
    'bytes 0-3/4': false,
    'items 0-6/7': false,
    '': false,
  };
  const origin = await startOrigin(t, (request, response) => {
    const range = decodeURIComponent(request.url?.slice(1) ?? '');
    response.writeHead(206, range === '' ? {} : { 'content-range': range }).end('picture');
  });
  const sources = openSources(t);
  for (const [range, isWhole] of Object.entries(ranges)) {
    const get = () => sources.acquire(origin.url(`/${encodeURIComponent(range)}`), client());
    if (isWhole) t.equal((await get()).bytes.byteLength, 7, range);
    else t.match(await expectFailure(get()), { code: 'source_unreachable', message: '206' }, range);
  }
  t.equal(sources.stats().heldBytes, 14);
});

t.test('passes on a valid Retry-After of a 429', async (t) => {
  const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000).toUTCString();
  const cases: ReadonlyArray<readonly [header: string, least: number, most: number]> = [
    ['1', 1, 1],
    ['120', 120, 120],
    ['99999999999999999999', 3_600, 3_600],
    [inSeconds(90), 60, 91],
    [inSeconds(1e9), 3_600, 3_600],
  ];
  const origin = await startOrigin(t, (request, response) => {
    const header = decodeURIComponent(request.url?.slice(4) ?? '');
    response.writeHead(Number(request.url?.slice(1, 4)), header ? { 'retry-after': header } : {});
    response.end();
  });
  const sources = openSources(t);
  const measureWait = async (status: number, header: string) => {
    const path = `/${status}${encodeURIComponent(header)}`;
    return (await expectFailure(sources.acquire(origin.url(path), client()))).details.retryAfter;
  };
  for (const [header, least, most] of cases) {
    const wait = (await measureWait(429, header)) ?? 0;
    t.ok(wait >= least && wait <= most, `${header}: ${wait}`);
  }
  for (const header of ['', '0', '-5', '1.5', '1e3', 'soon', inSeconds(-60), 'x'.repeat(5_000)]) {
    t.equal(await measureWait(429, header), undefined, header.slice(0, 40));
  }
  t.equal(await measureWait(503, '120'), undefined, 'only of a 429');
});

t.test('keeps a valid content type with the bytes', async (t) => {
  const cases: ReadonlyArray<readonly [header: string | null, type: string | null]> = [
    ['text/html', 'text/html'],
    ['Text/HTML; charset=utf-8', 'text/html'],
    ['image/svg+xml;x="a/b"', 'image/svg+xml'],
    [null, null],
    ...['', 'html', 'text/', '/html', 'a/b/c', 'a b/c', '<b>/x', 'text/html, text/plain'].map(
      (header) => [header, null] as const,
    ),
    [`text/${'x'.repeat(65)}`, null],
  ];
  const origin = await startOrigin(t, (request, response) => {
    const [type] = cases[Number(request.url?.slice(1))] ?? [];
    if (typeof type === 'string') response.setHeader('content-type', type);
    response.end('picture');
  });
  const sources = openSources(t);
  for (const [index, [header, type]] of cases.entries()) {
    for (const from of ['origin', 'cache']) {
      const lease = await sources.acquire(origin.url(`/${index}`), client());
      t.equal(lease.contentType, type, `${header} from the ${from}`);
    }
  }
});

t.test('fails with source_unreachable on broken responses, and names the stage', async (t) => {
  const answers = {
    'not HTTP': 'picture\r\n\r\n',
    'nothing at all': '',
    'only a part of the head': 'HTTP/1.1 200 OK\r\nContent-Le',
    'a head that is too long': `HTTP/1.1 200 OK\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`,
    'two lengths': 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd',
    'an invalid length': 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nabcd',
    'less than its length': 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabcd',
    'chunks without an end': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n',
  };
  for (const [name, answer] of Object.entries(answers)) {
    const server = createServer((socket) => socket.once('data', () => socket.end(answer)));
    const origin = await listen(t, server);
    const sources = openSources(t);
    const failure = await expectFailure(sources.acquire(origin.url('/?secret=1'), client()));
    t.match(failure, { code: 'source_unreachable', message: /\(response\).*127\.0\.0\.1/ }, name);
    t.notMatch(failure.message, /secret/);
    t.equal(sources.stats().heldBytes, 0);
  }
});

t.test('repeats a request on a closed kept connection', async (t) => {
  let broken = 0;
  const server = createServer((socket) => {
    let served = 0;
    socket.on('data', () => {
      served += 1;
      if (served === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabcd');
      else {
        broken += 1;
        socket.destroy();
      }
    });
  });
  const origin = await listen(t, server);
  const sources = openSources(t);
  for (let i = 0; broken === 0; i++) {
    t.equal((await sources.acquire(origin.url(`/${i}`), client())).bytes.byteLength, 4);
    // Let the connection become idle, so that the next request reuses it.
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
});

t.test('repeats a broken request once, but not after its response head', async (t) => {
  const head = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n';
  for (const [answer, expected] of [
    ['', 2],
    [head, 1],
    [`${head}abcd`, 1],
  ] as const) {
    let requests = 0;
    const server = createServer((socket) => {
      socket.once('data', () => {
        requests += 1;
        socket.end(answer);
      });
    });
    const origin = await listen(t, server);
    await expectFailure(openSources(t).acquire(origin.url(), client()));
    t.equal(requests, expected, answer);
  }
});

t.test('reads responses of every form and in any pieces', async (t) => {
  const head = 'HTTP/1.1 200 OK\r\n';
  const known = `${head}Content-Length: 7\r\n\r\npicture`;
  const hints = 'HTTP/1.1 103 Early Hints\r\nContent-Length: 9\r\nLocation: /b\r\n\r\n';
  const chunks = `${head}Transfer-Encoding: chunked\r\n\r\n3\r\npic\r\n4\r\nture\r\n0\r\n`;
  const answers = {
    'of known length': known,
    'after informational responses': `${hints}HTTP/1.1 102 Processing\r\n\r\n${known}`,
    'in chunks': `${chunks}\r\n`,
    'in chunks with trailers': `${chunks}Content-Encoding: gzip\r\nLocation: /b\r\n\r\n`,
    'until the connection closes': `${head}\r\npicture`,
  };
  const send = async (socket: Socket, answer: string, size: number) => {
    for (let at = 0; at < answer.length; at += size) {
      socket.write(answer.slice(at, at + size));
      await new Promise((resolve) => setImmediate(resolve));
    }
    socket.end();
  };
  for (const [name, answer] of Object.entries(answers)) {
    for (const size of [1, answer.length]) {
      const server = createServer((socket) => {
        socket.setNoDelay();
        socket.once('data', () => send(socket, answer, size));
      });
      const origin = await listen(t, server);
      const lease = await openSources(t).acquire(origin.url(), client());
      t.equal(Buffer.from(lease.bytes).toString(), 'picture', `${name}, ${size} bytes at a time`);
    }
  }
});

/** Opens fetches with one connection per origin. */
function openFetches(t: Test) {
  const guard = createGuard(['127.0.0.1:*']);
  const connections = new Connections(guard, { perOrigin: 1, kept: 1, timeoutMs: 10_000 });
  t.teardown(() => connections.destroy());
  const budget = new FairShare(4_000_000, 0);
  const memory = new SharedMemory(400_000);
  const get = (url: URL, { signal } = new AbortController()) =>
    fetchSource(url, {
      loopId: 'images.example:443',
      userAgent: 'test',
      guard,
      connections,
      isAllowedHost: () => true,
      maxBytes: 1_000_000,
      budget,
      owner,
      memory,
      timeoutMs: 10_000,
      signal,
    });
  return { get, budget, memory };
}

t.test('rejects with the reason on an abort during the body', async (t) => {
  const origin = await startOrigin(t, (request, response) => {
    response.setHeader('content-encoding', request.url === '/coded' ? 'gzip' : 'identity');
    response.write(gzipSync(randomBytes(100_000)).subarray(0, 80_000));
  });
  for (const path of ['/plain', '/coded']) {
    const { get, budget, memory } = openFetches(t);
    const leaving = new AbortController();
    const fetched = get(origin.url(path), leaving);
    const reason = new Error('left');
    await until('a part of the body has arrived', () => budget.held > 0);
    leaving.abort(reason);
    t.equal(await fetched.catch((error: unknown) => error), reason);
    t.equal(budget.held, 0);
    t.equal(memory.used, 0);
  }
});

t.test('rejects with the reason on an abort during decoding', async (t) => {
  const body = gzipSync(Buffer.alloc(300_000));
  const origin = await startOrigin(t, (_, response) => {
    response.setHeader('content-encoding', 'gzip').end(body);
  });
  const { get, budget, memory } = openFetches(t);
  const leaving = new AbortController();
  const reason = new Error('left');
  let buffers = 0;
  t.intercept(budget, 'take', {
    value(...args: Parameters<FairShare['take']>) {
      buffers += 1;
      // The first buffer is for encoded bytes, the others for decoded bytes.
      if (buffers === 3) process.nextTick(() => leaving.abort(reason));
      return FairShare.prototype.take.apply(budget, args);
    },
  });
  const fetched = get(origin.url(), leaving);
  t.equal(await fetched.catch((error: unknown) => error), reason);
  t.same([budget.held, memory.used], [0, 0]);
});

t.test('aborts a fetch that waits for a connection, and never sends it', async (t) => {
  const origin = await startHeldOrigin(t);
  const { get } = openFetches(t);
  const first = get(origin.url('/first'));
  await until('the connection is used', () => origin.held.has('/first'));
  const leaving = new AbortController();
  const second = get(origin.url('/second'), leaving);
  const third = get(origin.url('/third'));
  const reason = new Error('left');
  leaving.abort(reason);
  t.equal(await second.catch((error: unknown) => error), reason);
  await origin.respond('/first', '/third');
  await Promise.all([first, third]);
  t.same(origin.paths(), ['/first', '/third']);
});

t.test('reuses a connection after a short unwanted body', async (t) => {
  const usedFor = async (status: number, length: number) => {
    const used = new Set<Socket>();
    const origin = await startOrigin(t, ({ url, socket }, response) => {
      if (url === '/end') return response.end('picture');
      used.add(socket);
      response.writeHead(status, { location: '/end', 'content-length': length });
      return response.end(Buffer.alloc(length));
    });
    const sources = openSources(t);
    for (let i = 0; i < 20; i += 1) {
      await sources.acquire(origin.url(`/${i}`), client()).catch(() => {});
      // Gives the connection time to become idle.
      await new Promise((resolve) => setImmediate(resolve));
    }
    return used.size;
  };
  for (const status of [302, 404]) {
    t.ok((await usedFor(status, 100)) < 20, `${status} with a short body`);
    t.equal(await usedFor(status, 900_000), 20, `${status} with a long body`);
  }
});
