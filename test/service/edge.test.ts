import { setTimeout as sleep } from 'node:timers/promises';
import { maxLookupsPerWindow } from '../../server/control/authenticate.ts';
import { startFrontEnd } from './front-end.ts';
import { eachHttpServer } from './http-servers.ts';
import { picture } from './origin.ts';
import { StrictConnection } from './raw-http.ts';

const readMethods = 'GET, HEAD, OPTIONS';

/** Requests that RFC 9110 and 9112 allow. `node` supports all of them. */
eachHttpServer(
  'accepts the requests that RFC 9110 and 9112 allow',
  async (t, { name, environment }) => {
    const strict = name === 'node';
    const rootKey = 'sk_root-key-of-the-tests';
    const service = await startFrontEnd(t, {
      ...environment,
      SERVICE_ROOT_API_KEY: rootKey,
      SERVICE_TRUSTED_PROXIES: '127.0.0.1',
    });
    const { origin, project } = service;
    const body = await picture(400, 300);
    origin.serve('/a.jpg', body);
    origin.serve('/slow.jpg', async (_, response) => {
      await sleep(400);
      response.end(body);
    });
    const image = service.image('/a.jpg', 'w=50');
    const slow = (n: number) =>
      `/img/${encodeURIComponent(`${origin.url}/slow.jpg?${n}`)}?project=${project}&w=50`;
    const connect = async () => {
      const connection = await StrictConnection.open(service.port);
      t.teardown(async () => connection.close());
      return connection;
    };
    const get = (target: string, fields = '') =>
      `GET ${target} HTTP/1.1\r\nHost: x\r\n${fields}\r\n`;
    const readCode = (response: { body: Buffer }) => JSON.parse(response.body.toString()).code;
    const bytes = (await (await fetch(service.url + image)).arrayBuffer()).byteLength;

    t.test('names the allowed methods with 405', async (t) => {
      const own = `/api/sdk/v1/projects/${project}`;
      const cases = [
        ['POST', image, readMethods],
        ['DELETE', '/api/health', readMethods],
        ['POST', '/api/ready', readMethods],
        ['PUT', '/openapi.json', readMethods],
        ['TRACE', '/api/sdk/v1/openapi.json', readMethods],
        ['PUT', '/api/sdk/v1/projects', 'GET, POST'],
        ['OPTIONS', '/api/sdk/v1/projects', 'GET, POST'],
        ['PATCH', `${own}/domains`, 'POST, DELETE'],
        ['POST', own, 'GET, PATCH, DELETE'],
        ['QUERY', image, readMethods],
        ['PROPFIND', image, readMethods],
        ['LOCK', image, readMethods],
        ['LOCK', own, 'GET, PATCH, DELETE'],
      ] as const;
      for (const [method, target, allow] of cases) {
        const connection = await connect();
        const response = await connection.request(method, target);
        t.equal(response.status, 405, `${method} ${target}`);
        t.equal(response.headers.get('allow'), allow, `${method} ${target}`);
        t.equal(readCode(response), 'method_not_allowed');
      }
      const nowhere = await (await connect()).request('PUT', '/nothing');
      t.equal(nowhere.status, 404);
      t.equal(nowhere.headers.get('allow'), undefined);
      t.equal((await (await connect()).request('LOCK', '/nothing')).status, 404);
      if (strict) t.equal((await (await connect()).request('CONNECT', 'a.example:1')).status, 404);
    });

    t.test('accepts preflights only for responses that pages can read', async (t) => {
      const connection = await connect();
      const preflight = { origin: 'https://a.example', 'access-control-request-method': 'GET' };
      for (const target of [image, '/openapi.json']) {
        const { status, headers } = await connection.request('OPTIONS', target, preflight);
        t.equal(status, 204);
        t.equal(headers.get('access-control-allow-origin'), '*');
        t.equal(headers.get('access-control-allow-methods'), 'GET, HEAD');
        t.match(headers.get('access-control-max-age'), /^\d+$/);
        t.notOk(headers.has('content-length'), 'RFC 9110, 8.6');
      }
      const control = await connection.request('OPTIONS', '/api/sdk/v1/projects', preflight);
      t.equal(control.status, 405);
      t.notOk(control.headers.has('access-control-allow-methods'));
      t.ok(connection.clean);
    });

    t.test("sends the route's CORS headers with errors", async (t) => {
      const connection = await connect();
      const readable = [
        [200, 'GET', image],
        [304, 'GET', image, { 'if-none-match': '*' }],
        [400, 'GET', `${image}&h=x`],
        [404, 'GET', image.replace(project, 'prj_0000000000000000')],
        [400, 'GET', '/img'],
        [405, 'POST', image],
        [405, 'LOCK', image],
      ] as const;
      for (const [status, method, target, headers = {}] of readable) {
        // A refused method closes its connection.
        const ownConnection = status === 405 ? await connect() : connection;
        const response = await ownConnection.request(method, target, headers);
        t.equal(response.status, status, `${method} ${target}`);
        t.equal(response.headers.get('access-control-allow-origin'), '*', `${status}`);
        t.equal(response.headers.get('cross-origin-resource-policy'), 'cross-origin', `${status}`);
      }
      for (const target of ['/api/health', '/openapi.json', '/api/sdk/v1/openapi.json']) {
        for (const [status, method] of [
          [200, 'GET'],
          [405, 'PUT'],
        ] as const) {
          const { headers, ...response } = await (await connect()).request(method, target);
          t.equal(response.status, status, `${method} ${target}`);
          t.equal(headers.get('access-control-allow-origin'), '*', `${method} ${target}`);
          const etag = headers.get('etag');
          t.equal(etag !== undefined, status === 200 && target.endsWith('openapi.json'), target);
          if (etag === undefined) continue;
          const known = { 'if-none-match': etag };
          const unchanged = await (await connect()).request(method, target, known);
          t.same([unchanged.status, unchanged.body.length], [304, 0], target);
          t.equal(unchanged.headers.get('etag'), etag);
        }
      }
      const authorization = `Bearer ${rootKey}`;
      const closed = [
        [200, 'GET', '/api/sdk/v1/projects', { authorization }],
        [400, 'POST', '/api/sdk/v1/projects', { authorization }],
        [404, 'GET', '/api/sdk/v1/projects/prj_0000000000000000', { authorization }],
        [401, 'GET', '/api/sdk/v1/projects'],
        [404, 'GET', '/api/sdk/v1/nothing'],
        [405, 'PUT', '/api/sdk/v1/projects'],
      ] as const;
      for (const [status, method, target, headers = {}] of closed) {
        const response = await (await connect()).request(method, target, headers);
        t.equal(response.status, status, `${method} ${target}`);
        const names = [...response.headers.keys()].filter((name) => /^(access|cross)-/.test(name));
        t.same(names, [], `${method} ${target} ${status}`);
      }
    });

    t.test(
      'shares the cached image among file names, and names the file in every response',
      async (t) => {
        const connection = await connect();
        const named = (name: string) => `${image}&fmt=webp&download=${encodeURIComponent(name)}`;
        const first = await connection.request('GET', named('a\r\nx-evil: 1'));
        const same = await connection.request('GET', `${image}&fmt=webp`);
        t.equal(same.headers.get('x-cache'), 'memory');
        const own = /inline; filename="([^"]+)"/.exec(
          same.headers.get('content-disposition') ?? '',
        );
        t.match(own?.[1], /^[^/]+\.webp$/, "the source's name");
        const disposition = (name: string) => `attachment; filename="${name}.webp"`;
        t.equal(first.headers.get('content-disposition'), disposition('ax-evil- 1'));
        t.notOk(first.headers.has('x-evil'));
        const shown = await connection.request('GET', `${image}&fmt=webp&filename=red%20shoe.png`);
        t.equal(shown.headers.get('x-cache'), 'memory');
        t.equal(shown.headers.get('etag'), same.headers.get('etag'));
        t.equal(shown.headers.get('content-disposition'), 'inline; filename="red shoe.webp"');
        for (const [status, method, headers] of [
          [200, 'GET', {}],
          [200, 'GET', {}],
          [200, 'HEAD', {}],
        ] as const) {
          const response = await connection.request(method, named('b'), headers);
          t.equal(response.status, status);
          t.equal(response.headers.get('x-cache'), 'memory');
          t.equal(response.headers.get('etag'), same.headers.get('etag'));
          t.equal(
            response.headers.get('content-disposition'),
            disposition('b'),
            `${method} ${status}`,
          );
        }
      },
    );

    t.test('sends a challenge with 401', async (t) => {
      const challenge = async (headers: Record<string, string>) => {
        const response = await (await connect()).request('GET', '/api/sdk/v1/projects', headers);
        t.equal(response.status, 401);
        return response.headers.get('www-authenticate');
      };
      const realm = 'Bearer realm="image-delivery"';
      t.equal(await challenge({}), realm);
      t.equal(await challenge({ authorization: 'Bearer sk_x' }), `${realm}, error="invalid_token"`);
      t.equal(await challenge({ 'x-service-api-key': 'sk_x' }), `${realm}, error="invalid_token"`);
    });

    t.test('limits unknown keys per client, including clients behind a proxy', async (t) => {
      const connection = await connect();
      let keys = 0;
      const guess = async (...forwarded: string[]) => {
        keys += 1;
        const proxies = forwarded.map((value) => `X-Forwarded-For: ${value}\r\n`).join('');
        connection.send(
          get('/api/sdk/v1/projects', `${proxies}X-Service-Api-Key: sk_guess_${keys}\r\n`),
        );
        return connection.response();
      };
      const statuses: number[] = [];
      for (let i = 0; i <= maxLookupsPerWindow; i++) {
        statuses.push((await guess(`203.0.113.${i}, 198.51.100.1`)).status);
      }
      t.same(new Set(statuses.slice(0, -1)), new Set([401]));
      t.equal(statuses.at(-1), 429, 'with any forged address');
      const refused = await guess('192.0.2.1', '198.51.100.1');
      t.equal(refused.status, 429, 'a proxy may append a second header');
      t.equal(readCode(refused), 'rate_limited');
      t.match(refused.headers.get('retry-after'), /^[1-5]?\d$|^60$/);
      t.equal((await guess('198.51.100.1', '198.51.100.2')).status, 401, 'another client');
      t.equal((await guess()).status, 401, 'the proxy itself');
      const known = `X-Forwarded-For: 198.51.100.1\r\nX-Service-Api-Key: ${rootKey}\r\n`;
      connection.send(get('/api/sdk/v1/projects', known));
      t.equal((await connection.response()).status, 200, 'known keys are not limited');
    });

    t.test('accepts heads up to 16 KB', async (t) => {
      const connection = await connect();
      const long = `X-Long: ${'a'.repeat(15_000)}\r\n`;
      connection.send(get(image, long));
      t.equal((await connection.response()).status, 200, 'in one packet');
      const head = get(image, long);
      for (let at = 0; at < head.length; at += 2_000) {
        connection.send(head.slice(at, at + 2_000));
        await sleep(5);
      }
      t.equal((await connection.response()).status, 200, 'in many packets');
      const count = strict ? 200 : 90;
      const many = Array.from({ length: count }, (_, i) => `X-${i}: a\r\n`).join('');
      connection.send(get(image, many));
      t.equal((await connection.response()).status, 200, `${count} headers`);
      connection.send(get(image, `X-Long: ${'a'.repeat(20_000)}\r\n`));
      if (!strict) {
        // The library sends this response itself; closing the connection ends its body.
        t.match(await connection.rest(), /^HTTP\/1\.1 431 [\s\S]*\r\nConnection: close\r\n/);
        return;
      }
      const refused = await connection.response();
      t.equal(refused.status, 431);
      t.equal(readCode(refused), 'headers_too_large');
      t.equal(refused.headers.get('connection'), 'close');
      t.ok(await connection.end());
    });

    t.test('accepts a head in two parts', async (t) => {
      const head = get(image);
      const version = head.indexOf(' HTTP/1.1');
      const other = await connect();
      for (const at of [2, 9, version - 1, version + 5, version + 11, head.length - 3]) {
        const connection = await connect();
        connection.send(head.slice(0, at));
        // The service must have read the first part once it responds to a later request.
        t.equal((await other.request('GET', '/api/ready')).status, 200);
        connection.send(head.slice(at));
        if (strict || at !== version + 5) {
          t.equal((await connection.response()).status, 200, `after ${at} bytes`);
        } else {
          t.match(await connection.rest(), /^HTTP\/1\.1 505 /, 'within the version');
        }
      }
    });

    t.test('finds a loop in a second CDN-Loop header', async (t) => {
      let own = '';
      origin.serve('/looped.jpg', (request, response) => {
        own = String(request.headers['cdn-loop']);
        response.end(body);
      });
      const looped = (width: number) => service.image('/looped.jpg', `w=${width}`);
      const connection = await connect();
      t.equal((await connection.request('GET', looped(50))).status, 200);
      connection.send(get(looped(51), `CDN-Loop: a.example\r\nCDN-Loop: ${own}\r\n`));
      const response = await connection.response();
      t.same([response.status, readCode(response)], [403, 'source_blocked']);
    });

    t.test('responds to pipelined requests in order', async (t) => {
      const connection = await connect();
      connection.send(get(image) + get('/nothing') + get(image));
      for (const status of [200, 404, 200]) t.equal((await connection.response()).status, status);
      t.ok(connection.clean);
      if (!strict) return;
      connection.send(get(slow(1)) + get(image) + get(slow(2)) + get('/nothing'));
      for (const status of [200, 200, 200, 404]) {
        t.equal((await connection.response()).status, status, 'after a slow one');
      }
      const other = await connect();
      other.send(`${get(slow(4))}${get(image)}garbage\r\n\r\n`);
      for (const status of [200, 200, 400]) {
        t.equal((await other.response()).status, status, 'before garbage');
      }
      t.ok(await other.end());
    });

    t.test("repeats the first response's headers", async (t) => {
      const target = `${image}&blur=0.9&download=a%20b`;
      const own = ['x-request-id', 'date', 'server-timing', 'x-cache'];
      const readHeaders = async (headers: Record<string, string> = {}) => {
        const response = await fetch(service.url + target, { headers });
        for (const name of own) t.ok(name === 'date' || response.headers.has(name), name);
        const rest = [...response.headers].filter(([name]) => !own.includes(name));
        return { status: response.status, headers: Object.fromEntries(rest) };
      };
      const first = await readHeaders();
      t.same(await readHeaders(), first);
      t.same(await readHeaders(), first, 'from the response cache');
      const known = { 'if-none-match': String(first.headers['etag']) };
      const notModified = await readHeaders(known);
      t.equal(notModified.status, 304);
      const ofBody = ['content-type', 'content-length', 'content-disposition'];
      for (const [name, value] of Object.entries(first.headers)) {
        if (ofBody.includes(name)) t.notOk(notModified.headers[name] && name !== 'content-length');
        else t.equal(notModified.headers[name], value, name);
      }
    });

    t.test('serves the next request after an unread body', async (t) => {
      const connection = await connect();
      const unwanted = 'x'.repeat(200_000);
      connection.send(
        `POST ${image} HTTP/1.1\r\nHost: x\r\nContent-Length: ${unwanted.length}\r\n\r\n${unwanted}`,
      );
      t.equal((await connection.response()).status, 405);
      t.equal((await connection.request('GET', image)).body.length, bytes);
      t.ok(connection.clean);
    });

    t.test('closes the connection of a GET or HEAD with a body', async (t) => {
      const hidden = get('/openapi.json');
      const bodies = [
        ['a length', `Content-Length: ${hidden.length}`, hidden],
        [
          'chunks',
          'Transfer-Encoding: chunked',
          `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`,
        ],
        // Sent by a proxy that forwards the length but not the body.
        ['a length and no body', `Content-Length: ${hidden.length - 9}`, ''],
      ] as const;
      const etag = (await fetch(service.url + image)).headers.get('etag');
      for (const [status, target, fields = ''] of [
        [200, image],
        [304, image, `If-None-Match: ${etag}\r\n`],
        [200, `${image}&blur=0.8`],
        [404, '/nothing'],
        [400, '/img'],
        [200, '/docs'],
      ] as const) {
        for (const method of ['GET', 'HEAD']) {
          const length = String(
            (await fetch(service.url + target, { method })).headers.get('content-length'),
          );
          for (const [what, body, sent] of bodies) {
            const head = `${method} ${target} HTTP/1.1\r\nHost: localhost\r\n${fields}${body}\r\n\r\n`;
            const alone = await connect();
            alone.send(head + sent);
            const response = await alone.response(method);
            t.equal(response.status, status, `${method} ${target} with ${what}`);
            t.equal(response.headers.get('connection'), 'close');
            if (status !== 304) t.equal(response.headers.get('content-length'), length);
            t.ok(await alone.end(), 'it closes the connection');
            const ahead = await connect();
            ahead.send(head + sent + hidden);
            const responses = (await ahead.rest()).split('HTTP/1.1 ').slice(1);
            t.ok(responses.length <= 1, 'further requests get no response');
            t.notMatch(responses.join(), /"openapi"/);
          }
        }
      }
      const connection = await connect();
      connection.send(get(image, 'Content-Length: 0\r\n'));
      t.equal((await connection.response()).status, 200);
      t.equal(
        (await connection.request('GET', image)).status,
        200,
        'an empty body keeps the connection',
      );
      t.ok(connection.clean);
    });

    t.test('closes the connection of an ambiguous request', async (t) => {
      // Neither a request in the body nor a later request gets a response.
      const hidden = get('/nothing');
      const longer = 2 + hidden.length;
      const cases = [
        // uWebSockets.js itself closes the connection after some of them.
        ['two Hosts', 'Host: b\r\nContent-Length: 2', '{}', true],
        ['one length twice', 'Content-Length: 2\r\nContent-Length: 2', '{}', true],
        ['two lengths', `Content-Length: 2\r\nContent-Length: ${longer}`, '{}', true],
        ['a list of lengths', 'Content-Length: 2, 2', '{}', false],
        ['no number', 'Content-Length: 2x', '{}', false],
        ['an empty length', 'Content-Length:', '{}', true],
        [
          'a length and chunks',
          'Content-Length: 5\r\nTransfer-Encoding: chunked',
          '0\r\n\r\n',
          false,
        ],
        ['two codings', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: x', '0\r\n\r\n', true],
        ['another last coding', 'Transfer-Encoding: chunked, gzip', '0\r\n\r\n', true],
      ] as const;
      for (const [what, fields, sent, uwsAnswers] of cases) {
        for (const next of ['', hidden]) {
          const connection = await connect();
          const head = `POST /api/sdk/v1/projects HTTP/1.1\r\nHost: a\r\n${fields}\r\n\r\n`;
          connection.send(head + sent + next);
          if (strict || (uwsAnswers && next === '')) {
            const response = await connection.response();
            t.same([response.status, readCode(response)], [400, 'invalid_request'], what);
            t.equal(response.headers.get('connection'), 'close', what);
          }
          // Newer releases of uWebSockets.js respond themselves before they close the connection.
          const more = strict || uwsAnswers ? /^$/ : /^(HTTP\/1\.1 400 ((?!HTTP\/)[\s\S])*)?$/;
          t.match(await connection.rest(), more, `${what}, ${next === '' ? 'alone' : 'and more'}`);
        }
      }
    });

    t.test('requires exactly one Host', async (t) => {
      const targets = ['/api/health', '/openapi.json', '/api/sdk/v1/projects', `${image}&blur=0.7`];
      // With uWebSockets.js, hits skip some header checks, and a missing Host closes the
      // connection.
      if (strict) targets.push(image);
      const heads = ['Host: a\r\nHost: b\r\n', 'Host: a\r\nHost: a\r\n', ...(strict ? [''] : [])];
      for (const target of targets) {
        for (const hosts of heads) {
          const connection = await connect();
          connection.send(`GET ${target} HTTP/1.1\r\n${hosts}\r\n`);
          const response = await connection.response();
          t.same([response.status, readCode(response)], [400, 'invalid_request'], target);
          t.ok(await connection.end(), 'it closes the connection');
        }
      }
      if (strict) {
        const old = await connect();
        old.send(`GET ${image} HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n`);
        t.equal((await old.response()).status, 400, 'HTTP/1.0');
      }
      const withBody = await connect();
      withBody.send('GET /api/health HTTP/1.1\r\nHost: a\r\nHost: b\r\nContent-Length: 5\r\n\r\n');
      const refusal = await withBody.response();
      t.same([refusal.status, readCode(refusal)], [400, 'invalid_request'], 'with a body');
      t.ok(await withBody.end(), 'it closes the connection');
      const connection = await connect();
      connection.send(`GET /api/health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n${get(image)}`);
      t.notMatch(await connection.rest(), / 200 /, 'a further request gets no image');
    });

    t.test('rejects HTTP/1.0 immediately', { skip: strict }, async (t) => {
      const connection = await connect();
      connection.send(`GET ${image} HTTP/1.0\r\nHost: x\r\n\r\n`);
      t.match(await connection.rest(), /^HTTP\/1\.1 505 [\s\S]*\r\nConnection: close\r\n/);
    });

    if (!strict) return;

    t.test('accepts an absolute URL as the request target', async (t) => {
      const connection = await connect();
      for (const base of [service.url, 'https://images.example:8443', 'HTTP://x']) {
        t.equal((await connection.request('GET', base + image)).body.length, bytes, base);
      }
      t.equal((await connection.request('GET', `${service.url}`)).status, 200);
      t.equal((await connection.request('GET', `${service.url}?x`)).status, 200);
      t.ok(connection.clean);
    });

    t.test('responds to OPTIONS *', async (t) => {
      const connection = await connect();
      t.equal((await connection.request('OPTIONS', '*')).status, 204);
      const other = await connection.request('GET', '*');
      t.equal(other.status, 405);
      t.equal(other.headers.get('allow'), 'OPTIONS');
      t.ok(connection.clean);
    });

    t.test('responds to HTTP/1.0 requests', async (t) => {
      const once = await connect();
      once.send(`GET ${image} HTTP/1.0\r\n\r\n`);
      const response = await once.response();
      t.equal(response.body.length, bytes);
      t.equal(response.headers.get('connection'), 'close');
      t.ok(await once.end());
      const kept = await connect();
      for (const method of ['GET', 'HEAD', 'GET']) {
        kept.send(`${method} ${image} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n`);
        const { status, headers } = await kept.response(method);
        t.equal(status, 200);
        t.equal(headers.get('content-length'), String(bytes));
        t.equal(headers.get('connection'), 'keep-alive');
      }
      t.ok(kept.clean);
    });

    t.test('returns 400 for malformed requests', async (t) => {
      for (const sent of [
        'garbage\r\n\r\n',
        'GET / HTTP/2.0\r\nHost: x\r\n\r\n',
        get(image, 'bad header\r\n'),
      ]) {
        const connection = await connect();
        connection.send(sent);
        const response = await connection.response();
        t.equal(response.status, 400, sent.slice(0, 30));
        t.equal(readCode(response), 'invalid_request');
        t.ok(await connection.end());
      }
      const connection = await connect();
      const chunked = `POST /api/sdk/v1/projects HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sk_x\r\nTransfer-Encoding: chunked\r\n\r\n`;
      connection.send(`${chunked}zz\r\n`);
      t.ok([400, 401].includes((await connection.response()).status));
      t.ok(await connection.end(), 'a broken body closes its connection');
    });
  },
);
