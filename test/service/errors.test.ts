import { join } from 'node:path';
import sharp from 'sharp';
import t from 'tap';
import { signature, signedText } from '../../server/image/access.ts';
import { more } from '../extended.ts';
import { pixels } from '../pool/rendering/pictures.ts';
import { until } from '../until.ts';
import { startFrontEnd } from './front-end.ts';
import { defaultHttpServer, eachHttpServer, httpServers } from './http-servers.ts';
import { picture } from './origin.ts';
import { StrictConnection } from './raw-http.ts';
import { json, startService } from './service.ts';
import { startTlsOrigins, type TlsOrigins } from './tls.ts';

/** Error message per problem of a TLS source. */
const untrusted: ReadonlyArray<readonly [origin: keyof TlsOrigins['origins'], words: RegExp]> = [
  ['self-signed', /\(TLS\): 127\.0\.0\.1's certificate is self-signed/],
  ['expired', /127\.0\.0\.1's certificate has expired/],
  ['not yet valid', /is not yet valid/],
  ['another name', /127\.0\.0\.1's certificate is for other names/],
  ['unknown authority', /unknown authority.* does not send the intermediate/],
  ['unknown chain', /authority that this service does not trust/],
  ['old protocol', /no TLS version above 1\.1/],
  ['no common cipher', /no common TLS version and cipher/],
  ['plain HTTP', /does not speak TLS on this port/],
  ['closed in the handshake', /closed the connection during the TLS handshake/],
];

t.test('names the cause in the error of an untrusted TLS source', async (t) => {
  const { authority, origins } = await startTlsOrigins(t, await picture(40, 30));
  const file = join(t.testdir({ 'authority.pem': authority }), 'authority.pem');
  // Node reads this variable when a process starts.
  const service = await startService(t, { environment: { NODE_EXTRA_CA_CERTS: file } });
  const project = await service.project();
  const load = (origin: keyof typeof origins) =>
    fetch(`${service.url}/img/${origins[origin]}/?project=${project}`);
  t.equal((await load('good')).status, 200, 'a trusted authority of the operator');
  for (const [origin, message] of untrusted) {
    const response = await load(origin);
    t.equal(response.status, 502, origin);
    t.match(await response.json(), { code: 'source_unreachable', message }, origin);
  }
});

eachHttpServer(
  'names the cause in every error of the image endpoint',
  async (t, { environment }) => {
    const service = await startFrontEnd(t, {
      ...environment,
      SERVICE_SOURCE_MAX_BYTES: '1000000',
      SERVICE_SOURCE_MAX_PIXELS: '1000000',
      SERVICE_SOURCE_TIMEOUT_MS: '3000',
    });
    const { origin, project, store } = service;
    const image = await picture(400, 300);
    origin.serve('/ok.jpg', image);
    const png = await picture(400, 300, 'png');
    origin.serve('/cut.png', png.subarray(0, png.length / 2));
    const serve = (path: string, contentType: string | null, body: string) =>
      origin.serve(path, (_, response) => {
        if (contentType !== null) response.setHeader('content-type', contentType);
        response.end(body);
      });
    serve('/page.jpg', 'text/html; charset=utf-8', '<p>not found, says 200');
    serve('/mislabelled.jpg', 'image/jpeg', '\ufeff\n<!DOCTYPE html><p>not found, says 200');
    serve('/data.jpg', 'application/json', '{}');
    serve('/untyped.jpg', null, 'not found, says 200');
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text>&';
    const entity = '<!ENTITY ns "http://www.w3.org/"><!ENTITY ns_svg "&ns;2000/svg">';
    serve('/entity.svg', 'image/svg+xml', `<!DOCTYPE svg[${entity}]>${svg}ns_svg;</text></svg>`);
    serve('/nbsp.svg', 'image/svg+xml', `${svg}nbsp;</text></svg>`);
    for (const status of [401, 403, 429]) {
      origin.serve(`/${status}`, (_, response) => {
        const headers = { 'www-authenticate': 'Basic', 'retry-after': '70' };
        response.writeHead(status, headers).end();
      });
    }
    origin.serve('/big.jpg', Buffer.alloc(1_200_000, 1));
    origin.serve('/wide.webp', await picture(1500, 1000, 'webp'));
    origin.serve('/broken', (_, response) => void response.writeHead(500).end());
    origin.serve('/slow', () => {});
    origin.serve(
      '/away',
      (_, response) =>
        void response.writeHead(302, { location: 'http://elsewhere.example/x.jpg' }).end(),
    );
    origin.serve(
      '/inside',
      (_, response) => void response.writeHead(302, { location: 'http://10.0.0.1/x.jpg' }).end(),
    );
    const green = { r: 0, g: 255, b: 0 };
    const spare = sharp({ create: { width: 60, height: 40, channels: 3, background: green } });
    origin.serve('/spare.png', await spare.png().toBuffer());
    const fallback = (path: string) => `&fallback=${encodeURIComponent(`${origin.url}${path}`)}`;
    const signed = await service.createProject('127.0.0.1');
    const { signingSecret } = (await store.projects.requireSignatures(signed, null)) ?? {};
    const of = (path: string, more = '') => `/img/${origin.url}${path}?project=${project}${more}`;

    const cases: ReadonlyArray<
      readonly [target: string, status: number, code: string, names: RegExp]
    > = [
      [`/img/?project=${project}`, 400, 'source_missing', /source/],
      [`/img/${origin.url}/ok.jpg`, 400, 'project_missing', /project/],
      [`/img/ftp://x.example/a.jpg?project=${project}`, 400, 'source_invalid', /http/],
      [`/img/%zz?project=${project}`, 400, 'source_invalid', /encoded/],
      [`/img/picture.jpg?project=${project}`, 400, 'source_invalid', /absolute/],
      [`/img/http://a:b@127.0.0.1/x?project=${project}`, 400, 'source_invalid', /password/],
      [of('/ok.jpg', '&w=0'), 400, 'parameter_invalid', /^w must be .* 1 to 10000/],
      [of('/ok.jpg', '&width=9.5'), 400, 'parameter_invalid', /^width must be/],
      [of('/ok.jpg', '&fit=squeeze'), 400, 'parameter_invalid', /contain, cover/],
      [of('/ok.jpg', '&w=1&w=2'), 400, 'parameter_invalid', /more than once/],
      [of('/ok.jpg', '&w=1&width=1'), 400, 'parameter_invalid', /more than once/],
      [of('/ok.jpg', '&dpr=1e0'), 400, 'parameter_invalid', /^dpr/],
      [of('/ok.jpg').replace(project, 'prj_0000000000000000'), 404, 'project_not_found', /prj_0/],
      [of('/ok.jpg').replace(project, signed), 403, 'signature_invalid', /signed/],
      [`/img/http://other.example/a.jpg?project=${project}`, 403, 'source_not_allowed', /other/],
      [of('/away'), 403, 'source_not_allowed', /elsewhere/],
      [of('/inside'), 403, 'source_blocked', /10\.0\.0\.1 \(private\)/],
      [of('/missing.jpg'), 404, 'source_not_found', /./],
      [of('/big.jpg'), 413, 'source_too_large', /1000000 bytes/],
      [of('/wide.webp'), 413, 'source_too_large', /pixels/],
      [of('/page.jpg'), 415, 'source_unsupported', /its content type is text\/html\.$/],
      [
        of('/mislabelled.jpg'),
        415,
        'source_unsupported',
        /an HTML page; its content type is image\/jpeg\.$/,
      ],
      [
        of('/data.jpg'),
        415,
        'source_unsupported',
        /a JSON document.* content type is application\/json\. To use it/,
      ],
      [of('/untyped.jpg'), 415, 'source_unsupported', /not a JPEG.*; it has no content type\.$/],
      [of('/entity.svg'), 415, 'source_unsupported', /XML entity ns_svg/],
      [of('/nbsp.svg'), 422, 'source_corrupt', /undeclared XML entity/],
      [of('/401'), 403, 'source_unauthorized', /127\.0\.0\.1 returned 401/],
      [of('/403'), 403, 'source_forbidden', /127\.0\.0\.1 returned 403/],
      [of('/429'), 429, 'source_rate_limited', /127\.0\.0\.1 returned 429/],
      [of('/cut.png'), 422, 'source_corrupt', /./],
      [of('/broken'), 502, 'source_unreachable', /500/],
      [of('/slow'), 504, 'source_timeout', /3000/],
      [
        `/img/http://localhost:1/x?project=${project}`,
        502,
        'source_unreachable',
        /refuses connections/,
      ],
      ['/nothing', 404, 'endpoint_not_found', /^GET \/nothing does not exist\.$/],
    ];
    for (const [target, status, code, names] of cases) {
      const response = await fetch(service.url + target);
      const body = await json(response);
      t.equal(response.status, status, target);
      t.same(Object.keys(body).sort(), ['code', 'error', 'message', 'resolution_hint'], target);
      t.equal(body.code, code, target);
      t.match(body.message, names, target);
      const isMissing = code === 'source_not_found';
      const caching = isMissing ? 'public, max-age=10' : 'no-store';
      t.equal(response.headers.get('cache-control'), caching, target);
      t.equal(response.headers.has('etag'), isMissing, target);
      t.equal(response.headers.get('content-type'), 'application/json', target);
      t.match(response.headers.get('x-request-id'), /./, target);
      const isImage = target.startsWith('/img');
      const text = String(body.message)
        .replace(/[^\x20-\x7e]/g, '?')
        .replace(/["\\]/g, '\\$&');
      const header = isImage ? `${code}; message="${text}"` : null;
      t.equal(response.headers.get('x-image-error'), header, target);
      const wait = response.headers.get('retry-after');
      t.equal(wait, status === 429 ? '70' : null, 'Retry-After of the source');
      t.equal(
        response.headers.get('www-authenticate'),
        null,
        'the challenge of the source is not forwarded',
      );
    }

    t.test('says that a private host needs the operator', async (t) => {
      for (const [host, hint] of [
        ['192.168.0.9', / if the operator has allowed it in SERVICE_PRIVATE_SOURCES\.$/],
        ['[fd00::1]', /SERVICE_PRIVATE_SOURCES/],
        ['nas.local', /SERVICE_PRIVATE_SOURCES/],
        ['other.example.', /^Add the host to the project's allowlist, or/],
      ] as const) {
        const target = `${service.url}/img/http://${host}/a.jpg?project=${project}`;
        const body = await json(await fetch(target));
        t.match(body, { code: 'source_not_allowed', resolution_hint: hint }, host);
      }
    });

    t.test('suggests the likely path for a missing path', async (t) => {
      const meant = {
        '/health': '/api/health',
        '/healthz': '/api/health',
        '/api/healthz/': '/api/health',
        '/api/health/': '/api/health',
        '/livez': '/api/health/live',
        '/readyz': '/api/ready',
        '/api/v1': '/api/sdk/v1/projects',
        '/v1/projects': '/api/sdk/v1/projects',
        '/api/projects/prj_1/presets': '/api/sdk/v1/projects/prj_1/presets',
        '/api/sdk/v1/projects/': '/api/sdk/v1/projects',
        '/api/sdk/v1/projects/prj_1/': '/api/sdk/v1/projects/prj_1',
        '/openapi.json/': '/openapi.json',
        '/api/sdk/v1/purges': '/api/sdk/v1/projects/{projectId}/purge',
        '/api/sdk/v1/prewarms': '/api/sdk/v1/projects/{projectId}/prewarm',
        '/v1/projects/prj_1/prewarms': '/api/sdk/v1/projects/prj_1/prewarm',
        '/image/https://a.example/A.jpg': '/img/https://a.example/A.jpg',
        '/images/': '/img/',
      };
      for (const [path, other] of Object.entries(meant)) {
        const { code, message } = await json(await fetch(service.url + path));
        t.match([code, message], ['endpoint_not_found', ` does not exist. Did you mean ${other}?`]);
      }
      const long = await json(await fetch(`${service.url}/health${'/'.repeat(6_000)}`));
      t.match(long.message, /^GET \/health\/{193} does not exist\.$/);
    });

    t.test('names a query that an unencoded source lost', async (t) => {
      origin.serve('/asset', (request, response) => {
        const isWhole = request.url === '/asset?id=42&token=s3cret';
        response.writeHead(isWhole ? 200 : 403, { 'content-type': 'image/jpeg' });
        response.end(isWhole ? image : '');
      });
      // Respond like Firebase.
      origin.serve('/o', (request, response) => {
        const isMedia = request.url?.includes('alt=media&token=s3cret') ?? false;
        response.setHeader('content-type', isMedia ? 'image/jpeg' : 'application/json');
        response.end(isMedia ? image : '{}');
      });
      const readMessage = async (target: string) => {
        const response = await fetch(service.url + target);
        const header = response.headers.get('x-image-error') ?? '';
        if (response.status === 200) return null;
        const { message } = await json(response);
        t.ok(header.endsWith(`message="${message}"`), 'the header has it too');
        t.notMatch(header, 's3cret', 'no values, which may be secrets');
        return String(message);
      };
      const asset = `${origin.url}/asset?id=42&token=s3cret`;
      const media = `${origin.url}/o?alt=media&token=s3cret`;
      const lost = (names: string) =>
        new RegExp(` The source was requested without ${names}; encode the source URL\\.$`);
      const both = lost('`id`, `token`');
      t.match(await readMessage(`/img/${asset}&project=${project}`), both);
      t.match(await readMessage(`/img/${asset}&w=30&project=${project}&utm_source=a`), both);
      t.match(await readMessage(`/img/${media}&project=${project}`), lost('`alt`, `token`'));
      t.match(await readMessage(`/img/?url=${media}&project=${project}`), lost('`token`'));
      const many = `${asset}${[1, 2, 3, 4].map((index) => `&x%22${index}${'y'.repeat(99)}=1`).join('')}`;
      const cut = `\`x\\?1y{37}\``;
      t.match(
        await readMessage(`/img/${many}&project=${project}`),
        lost(
          ['`id`, `token`', cut, cut.replace('1', '2'), cut.replace('1', '3'), '1 more'].join(', '),
        ),
      );
      for (const source of [asset, media]) {
        const encoded = encodeURIComponent(source);
        t.equal(await readMessage(`/img/${encoded}?project=${project}`), null);
        t.equal(await readMessage(`/img/?url=${encoded}&project=${project}`), null);
      }
      const refused = encodeURIComponent(`${origin.url}/asset?id=1`);
      const own = await readMessage(`/img/${refused}?project=${project}&magnify=1`);
      t.match(own, /returned 403\.$/, 'not for an encoded source');
      t.match(
        await readMessage(of('/asset', '&w=30')),
        /returned 403\.$/,
        'nor for known parameters',
      );

      const second = await readMessage(`/img/${origin.url}/ok.jpg?page=0?project=${project}`);
      t.match(second, /project parameter is missing\. The URL has a second \?: encode the source/);
      const inSource = encodeURIComponent(`${origin.url}/ok.jpg?project=${project}`);
      t.match(await readMessage(`/img/${inSource}`), /It is a part of the source URL/);
    });

    t.test('suggests specific next steps for error responses of a source server', async (t) => {
      origin.serve('/loop', (_, response) => {
        response.writeHead(302, { location: '/loop' }).end();
      });
      origin.serve('/truncated', (_, response) => {
        response.writeHead(200, { 'content-length': '5000' });
        response.write(Buffer.alloc(99));
        setTimeout(() => response.destroy(), 50);
      });
      origin.serve('/teapot', (_, response) => void response.writeHead(418).end());
      const hints = await Promise.all(
        ['/broken', '/loop', '/truncated', '/teapot'].map(async (path) => {
          const { code, resolution_hint: hint } = await json(await fetch(service.url + of(path)));
          t.equal(code, 'source_unreachable', path);
          return String(hint);
        }),
      );
      t.equal(new Set(hints).size, 4);
      for (const [index, words] of [
        /^The source server failed\. Check its log/,
        /loop/,
        /early/,
        /query/,
      ].entries()) {
        t.match(hints[index], words);
      }
    });

    t.test('refuses the service as a source, even at an allowed address', async (t) => {
      const loop = `/img/${service.url}/api/health?project=${project}`;
      const response = await fetch(service.url + loop);
      t.equal(response.status, 403);
      t.match(await response.json(), { code: 'source_blocked' });

      // Through a proxy.
      origin.serve('/proxy', async (request, response) => {
        const headers = { 'cdn-loop': String(request.headers['cdn-loop']) };
        const onward = await fetch(service.url + of('/proxy'), { headers });
        t.match(await onward.json(), { code: 'source_blocked' });
        response.writeHead(onward.status).end();
      });
      t.equal((await fetch(service.url + of('/proxy'))).status, 403);
      t.equal(origin.requests.get('/proxy'), 1);
    });

    t.test('waits some seconds before it fetches from a broken origin again', async (t) => {
      origin.serve('/unstable.jpg', (_, response) => void response.writeHead(503).end());
      for (const w of [10, 20, 30])
        t.equal((await fetch(service.url + of('/unstable.jpg', `&w=${w}`))).status, 502);
      const slow = fetch(service.url + of('/slow', fallback('/spare.png')));
      const replaced = () =>
        fetch(service.url + of('/unstable.jpg', `&w=10${fallback('/spare.png')}`));
      t.equal((await replaced()).headers.get('x-fallback'), 'source_unreachable');
      t.equal(origin.requests.get('/unstable.jpg'), 1);
      origin.serve('/unstable.jpg', image);
      await until('it is fetched again', async () => {
        const response = await fetch(service.url + of('/unstable.jpg', '&w=10'));
        await response.arrayBuffer();
        return response.status === 200;
      });
      t.equal(origin.requests.get('/unstable.jpg'), 2);
      const { headers } = await replaced();
      t.same([headers.get('x-fallback'), headers.get('x-cache')], [null, 'memory']);
      t.match(
        headers.get('cache-control'),
        /immutable/,
        'the fallback was not cached for this URL',
      );
      t.equal((await slow).headers.get('x-fallback'), 'source_timeout');
    });

    t.test('replaces a failing source with a fallback', async (t) => {
      const load = (path: string, more = fallback('/spare.png'), init: RequestInit = {}) =>
        fetch(service.url + of(path, `&w=30&fmt=png${more}`), init);
      const replaced = [
        ['/missing.jpg', 'source_not_found'],
        ['/401', 'source_unauthorized'],
        ['/403', 'source_forbidden'],
        ['/wide.webp', 'source_too_large'],
        ['/page.jpg', 'source_unsupported'],
        ['/cut.png', 'source_corrupt'],
        ['/broken', 'source_unreachable'],
      ] as const;
      for (const [path, code] of replaced) {
        let etag = '';
        // A client can hold the URL's own image.
        for (const headers of [{}, { 'if-none-match': '"own"' }]) {
          const response = await load(path, undefined, { headers });
          t.equal(response.status, 200, path);
          const { width, at } = await pixels(new Uint8Array(await response.arrayBuffer()));
          t.same([width, at(5, 5)], [30, [0, 255, 0, 255]]);
          const sent = (name: string) => response.headers.get(name);
          t.same([sent('x-fallback'), sent('cache-control')], [code, 'public, max-age=10'], path);
          t.equal(sent('access-control-allow-origin'), '*');
          etag = sent('etag') ?? '';
        }
        const again = await load(path, undefined, { headers: { 'if-none-match': etag } });
        t.same([again.status, again.headers.get('x-fallback')], [304, code]);
      }
      t.equal(
        origin.requests.get('/spare.png'),
        1,
        'the fallback is cached as an image of its own',
      );
      const itself = await load('/spare.png', '');
      t.same([itself.headers.get('x-cache'), itself.headers.get('x-fallback')], ['memory', null]);
      const head = await load('/missing.jpg', undefined, { method: 'HEAD' });
      t.same([head.status, head.headers.get('x-fallback')], [200, 'source_not_found']);
      const placed = await load(
        '/missing.jpg',
        `${fallback('/spare.png')}&crop=900,0,9,9&page=3&download=a`,
      );
      t.equal(
        placed.headers.get('x-fallback'),
        'source_not_found',
        'the crop and page of the source do not apply',
      );
      t.match(placed.headers.get('content-disposition'), /a\.png/);

      const failed = async (response: Response, code: string, words = /./) => {
        t.match(await response.json(), { code, message: words }, code);
        t.equal(response.headers.get('x-fallback'), null);
      };
      await failed(await load('/429'), 'source_rate_limited');
      await failed(await load('/away'), 'source_not_allowed');
      await failed(await load('/inside'), 'source_blocked');
      await failed(
        await load('/ok.jpg', `&crop=900,0,9,9${fallback('/spare.png')}`),
        'parameter_invalid',
      );
      await failed(
        await load('/missing.jpg', '&fallback=/spare.png'),
        'parameter_invalid',
        /^fallback/,
      );
      const elsewhere = '&fallback=http://elsewhere.example/a.png';
      await failed(await load('/ok.jpg', elsewhere), 'source_not_allowed', /elsewhere/);
      const both = /127\.0\.0\.1 returned 404\. The fallback cannot be used either\. .*login/;
      await failed(await load('/missing.jpg', fallback('/401')), 'source_not_found', both);
      await failed(
        await load('/missing.jpg', fallback('/inside')),
        'source_not_found',
        /10\.0\.0\.1/,
      );

      const path = `/img/${origin.url}/late.jpg`;
      const exp = Math.floor(Date.now() / 1_000) + 100;
      const query = `project=${signed}&fmt=png${fallback('/spare.png')}&exp=${exp}`;
      const sig = signature(String(signingSecret), signedText(path, query));
      const url = `${service.url}${path}?${query}&sig=${sig}`;
      t.equal((await fetch(url)).headers.get('x-fallback'), 'source_not_found', 'signed');
      await failed(await fetch(url.replace('spare', 'spore')), 'signature_invalid');
    });

    t.test('lets caches keep a missing source as long as the project says', async (t) => {
      const freshness = { sourceAge: null, browserAge: null };
      await store.projects.setFreshness(signed, { ...freshness, missingAge: 60 });
      const path = `/img/${origin.url}/missing.jpg`;
      const load = async (seconds: number, more = '', init: RequestInit = {}) => {
        const exp = Math.floor(Date.now() / 1_000) + seconds;
        const query = `project=${signed}${more}&exp=${exp}`;
        const sig = signature(String(signingSecret), signedText(path, query));
        return fetch(`${service.url}${path}?${query}&sig=${sig}`, init);
      };
      const maxAge = async (seconds: number, more?: string) =>
        Number(
          /^public, max-age=(\d+)$/.exec(
            (await load(seconds, more)).headers.get('cache-control') ?? '',
          )?.[1],
        );
      await until('the change', async () => (await maxAge(1_000)) === 60);
      t.ok((await maxAge(40)) <= 40, 'not after the signature expires');
      t.equal(await maxAge(1_000, fallback('/spare.png')), 60);
      t.ok((await maxAge(40, fallback('/spare.png'))) <= 40);
      const accept = 'text/html,*/*;q=0.8';
      const page = await load(1_000, '', { headers: { accept } });
      t.match(page.headers.get('content-type'), /html/);
      t.equal(page.headers.get('vary'), 'Accept');
      t.not(page.headers.get('etag'), (await load(1_000)).headers.get('etag'));

      await store.projects.setFreshness(signed, { ...freshness, missingAge: 0 });
      await until('the change', async () => {
        const { headers } = await load(1_000);
        return headers.get('cache-control') === 'no-store';
      });
      const replaced = await load(1_000, fallback('/spare.png'));
      t.equal(replaced.headers.get('cache-control'), 'no-store');
    });

    t.test('sends error pages to browser navigations, and JSON to other requests', async (t) => {
      const navigation = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
      const load = (path: string, accept: string) =>
        fetch(service.url + path, { headers: { accept } });
      const hostile = `/img/http://other.example/<b>"&'?project=${project}`;
      // Some fail synchronously.
      for (const path of ['/nothing', `/img/${'/'.repeat(200)}`, hostile, of('/missing.jpg')]) {
        const page = await load(path, navigation);
        const program = await json(await load(path, '*/*'));
        const text = await page.text();
        t.equal(page.headers.get('content-type'), 'text/html; charset=utf-8', path);
        t.match(page.headers.get('cache-control'), /^no-store$|^public, max-age=10$/, path);
        t.equal(page.headers.get('vary'), 'Accept', path);
        t.match(
          page.headers.get('content-security-policy'),
          /^default-src 'none'; style-src 'self'/,
        );
        t.match(text, `<h1>${program.error}</h1>`);
        t.match(text, `<code>${program.code}</code>`);
        t.match(text, `<code>${page.headers.get('x-request-id')}</code>`);
        t.ok(text.length < 3_000, path);
        t.notMatch(text, '<b>');
      }
      const image = await load(of('/missing.jpg'), 'image/avif,image/webp,image/*,*/*;q=0.8');
      t.match(await json(image), { code: 'source_not_found' });
      const api = await load('/api/sdk/v1/projects', navigation);
      t.match(await json(api), { code: 'api_key_missing' }, 'errors below /api are JSON');
      t.match(await json(await load('/api/nothing', navigation)), { code: 'endpoint_not_found' });
    });

    t.test("serves the console's files", async (t) => {
      const index = await fetch(`${service.url}/`);
      t.equal(index.headers.get('cache-control'), 'no-cache');
      const files = [...(await index.text()).matchAll(/(?:href|src)="(console\/[^"]+)"/g)].map(
        ([, file]) => `/${file}`,
      );
      const names = ['icon.svg', 'base.css', 'console.css', 'viewer.css', 'main.js'];
      t.same(
        files.map((file) => file.split('/').at(-1)),
        names,
      );
      for (const file of ['/', '/docs', ...files]) {
        const whole = await fetch(service.url + file);
        const { length } = Buffer.from(await whole.arrayBuffer());
        const etag = whole.headers.get('etag') ?? '';
        t.equal(whole.status, 200, file);
        t.equal(whole.headers.get('x-content-type-options'), 'nosniff', file);
        if (file.startsWith('/console/')) {
          t.equal(whole.headers.get('cache-control'), 'public, max-age=31536000, immutable', file);
        }
        const head = await fetch(service.url + file, { method: 'HEAD' });
        t.equal(head.headers.get('content-length'), String(length), file);
        const known = await fetch(service.url + file, { headers: { 'if-none-match': etag } });
        t.equal(known.status, 304, file);
        t.equal(known.headers.get('etag'), etag, file);
      }
      const [some = ''] = files;
      for (const other of [some.replace(/[0-9a-f]{16}/, '0'), `${some}/../../x`, '/console/']) {
        t.equal((await fetch(service.url + other)).status, 404, other);
      }
      t.equal((await fetch(`${service.url}/`, { method: 'POST' })).status, 405);
    });
  },
  more ? httpServers : defaultHttpServer,
);

eachHttpServer('tells browsers why an image failed', async (t, { name, environment }) => {
  const service = await startFrontEnd(t, environment);
  const { origin, project } = service;
  origin.serve('/a.jpg', await picture(40, 30));
  const missing = `/img/${origin.url}/missing.jpg?project=${project}`;
  const found = missing.replace('missing', 'a');
  const code = (headers: ReadonlyMap<string, string> | Headers) =>
    /^[a-z_]+(?=; message="[ !#-[\]-~]+"$)/.exec(headers.get('x-image-error') ?? '')?.[0];
  const isReadable = (headers: ReadonlyMap<string, string> | Headers, target: string) => {
    t.equal(headers.get('access-control-allow-origin'), '*', target);
    t.match(headers.get('access-control-expose-headers'), '*', target);
  };
  const cases = [
    ['GET', missing, {}, 404, 'source_not_found'],
    ['HEAD', missing, {}, 404, 'source_not_found'],
    ['GET', missing, { accept: 'text/html' }, 404, 'source_not_found'],
    ['POST', found, {}, 405, 'method_not_allowed'],
    ['GET', '/img/', {}, 400, 'source_missing'],
    ['HEAD', '/img', {}, 400, 'source_missing'],
  ] as const;
  for (const [method, target, headers, status, expected] of cases) {
    const response = await fetch(service.url + target, { method, headers });
    const label = `${method} ${target} ${JSON.stringify(headers)}`;
    t.same([response.status, code(response.headers)], [status, expected], label);
    const caching = expected === 'source_not_found' ? 'public, max-age=10' : 'no-store';
    t.equal(response.headers.get('cache-control'), caching, label);
    isReadable(response.headers, label);
  }
  const raw = async (text: string) => {
    const connection = await StrictConnection.open(service.port);
    t.teardown(async () => connection.close());
    connection.send(text);
    return connection.response();
  };
  const twoHosts = await raw(`GET ${missing} HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n`);
  t.same([twoHosts.status, code(twoHosts.headers)], [400, 'invalid_request']);
  isReadable(twoHosts.headers, 'two hosts');
  if (name === 'node') {
    const long = await raw(`GET ${found}&a=${'a'.repeat(99_000)} HTTP/1.1\r\nhost: a\r\n\r\n`);
    t.same([long.status, code(long.headers)], [431, 'headers_too_large']);
    isReadable(long.headers, 'a long URL');
  }
  for (const target of ['/nothing', '/api/sdk/v1/projects']) {
    t.notOk((await fetch(service.url + target)).headers.has('x-image-error'), target);
  }
});
