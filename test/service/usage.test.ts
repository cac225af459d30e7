import t, { type Test } from 'tap';
import { backgroundHeader, backgroundToken, consoleMark } from '../../contract/secrets.ts';
import { findDeployment } from '../../store/deployment.ts';
import { advanceDate } from '../clock.ts';
import { startFrontEnd } from './front-end.ts';
import { picture } from './origin.ts';
import { StrictConnection } from './raw-http.ts';
import { json } from './service.ts';

const rootKey = 'sk_root-key-of-the-usage';
const hourMs = 60 * 60 * 1_000;
const today = '2026-11-22';

/**
 * Starts a front end at noon, with a memory cache for small images only, and a control-plane
 * client.
 */
async function start(t: Test) {
  const forward = advanceDate(t);
  forward(Date.parse(`${today}T12:00:00Z`) - Date.now());
  const frontEnd = await startFrontEnd(t, {
    SERVICE_ROOT_API_KEY: rootKey,
    SERVICE_DISK_CACHE_BYTES: '1000000000',
    SERVICE_MEMORY_CACHE_BYTES: '45000',
  });
  const { url, store, project, image, origin } = frontEnd;
  origin.serve('/a.png', await picture(20, 20, 'png'));
  origin.serve('/large.png', await picture(400, 400, 'png'));
  const call = (path: string, of = project, init: RequestInit = {}) =>
    fetch(`${url}/api/sdk/v1/projects/${of}/${path}`, {
      ...init,
      headers: {
        authorization: `Bearer ${rootKey}`,
        'content-type': 'application/json',
        ...init.headers,
      },
    });
  return {
    ...frontEnd,
    call,
    async get(target: string, init: RequestInit = {}) {
      const response = await fetch(url + target, init);
      const body = Buffer.from(await response.arrayBuffer());
      const { status, headers } = response;
      const code = status < 400 ? null : JSON.parse(body.toString()).code;
      return { status, headers, code, tier: headers.get('x-cache'), bytes: body.length };
    },
    async warm(path: string, query: string) {
      const target = image(path, query);
      const { backgroundSecret } = await findDeployment(store.db);
      const token = backgroundToken(backgroundSecret, target, Date.now());
      const response = await fetch(url + target, { headers: { [backgroundHeader]: token } });
      return { status: response.status, body: await response.text() };
    },
    usage: async (query = '', of = project) => json(await call(`usage${query}`, of)),
    async limit(limits: object) {
      const body = JSON.stringify({ rendersPerDay: null, bytesPerDay: null, ...limits });
      const response = await call('limits', project, { method: 'PUT', body });
      t.equal(response.status, 200);
    },
    forward,
  };
}

t.test('counts usage exactly, by tier, and adds it up over restarts', async (t) => {
  let counted = { project: '', total: {} };
  await t.test('counts every kind of request', async (t) => {
    const { get, image, warm, usage, createProject, project } = await start(t);
    const small = image('/a.png', 'fmt=png');
    const first = await get(small);
    t.match(first, { status: 200, tier: 'miss' });
    const etag = first.headers.get('etag') ?? '';
    t.match(await get(small), { status: 200, tier: 'memory' });
    t.match(await get(small, { method: 'HEAD' }), { status: 200, tier: 'memory', bytes: 0 });
    t.match(await get(small, { headers: { 'if-none-match': etag } }), { status: 304 });
    t.equal((await warm('/large.png', 'fmt=png')).status, 204);
    const large = await get(image('/large.png', 'fmt=png'));
    t.match(large, { status: 200, tier: 'disk' });
    t.match(await get(image('/gone.png')), { status: 404 });
    t.match(await get(`${small}&w=0`), { status: 400 }, 'which is not a request of a project');
    const withFallback = image('/gone.png', `fmt=png&fallback=${small.split(/\/img\/|\?/)[1]}`);
    t.match(await get(withFallback), { status: 200, tier: 'memory', bytes: first.bytes });
    for (let i = 0; i < 2; i += 1) t.equal((await warm('/a.png', 'fmt=png&w=10')).status, 204);
    const other = await createProject('127.0.0.1');
    const { renderSeconds, background, ...total } = (await usage()).usage.total;
    t.same(total, {
      requests: 7,
      hits: { memory: 4, disk: 1, shared: 0 },
      misses: 1,
      errors: 1,
      bytes: 3 * first.bytes + large.bytes,
      renders: 1,
    });
    t.ok(renderSeconds > 0 && renderSeconds < 60);
    t.match(background, { requests: 3, renders: 2 });
    t.equal((await usage('', other)).usage.total.requests, 0);
    counted = { project, total: { ...total, renderSeconds, background } };
  });
  await t.test('reads the totals in another process', async (t) => {
    const { usage } = await start(t);
    const { from, to, days, total } = (await usage('', counted.project)).usage;
    t.same(total, counted.total);
    t.same([from, to, days.length], ['2026-10-24', today, 30]);
    t.same(days.at(-1), { date: today, ...counted.total });
    t.equal(days[0].requests, 0);
  });
});

t.test('counts the requests of delivery hosts', async (t) => {
  const { createProject, usage, origin, store, port } = await start(t);
  const id = await createProject('127.0.0.1');
  const get = async (host: string, target: string) => {
    const connection = await StrictConnection.open(port);
    const { status, body } = await connection.request('GET', target, { host });
    connection.close();
    return { status, bytes: body.length };
  };
  await store.db.collection('hosts').deleteMany({});
  for (const urls of ['native', 'iiif']) {
    const host = `${urls}.shop.example`;
    await store.projects.hostClaims.claim(host, id);
    const set = { host, base: `${origin.url}/`, urls, updatedAt: new Date() };
    await store.projects.setItem(id, 'hosts', host, set);
  }
  const first = await get('native.shop.example', '/a.png?fmt=png');
  t.same(await get('native.shop.example', '/a.png?fmt=png'), first);
  t.equal((await get('native.shop.example', '/gone.png')).status, 404);
  t.equal((await get('other.shop.example', '/a.png')).status, 404, 'which is of no project');
  const native = (await usage('', id)).usage.total;
  t.match(native, { requests: 3, hits: { memory: 1 }, misses: 1, errors: 1, renders: 1 });
  t.equal(native.bytes, 2 * first.bytes);

  const info = await get('iiif.shop.example', '/a.png/info.json');
  const tile = await get('iiif.shop.example', '/a.png/0,0,9,9/max/0/default.png');
  t.same([info.status, tile.status], [200, 200]);
  t.match((await usage('', id)).usage.total, {
    requests: 5,
    misses: 3,
    // The source size, and the tile.
    renders: 3,
    bytes: native.bytes + info.bytes + tile.bytes,
  });
});

t.test('shows why it refuses the URLs of a delivery host', async (t) => {
  const { call, origin, store, project, port } = await start(t);
  const host = 'shop.cloudinary.example';
  await store.projects.hostClaims.claim(host, project);
  const set = { host, base: `${origin.url}/`, urls: 'cloudinary', updatedAt: new Date() };
  await store.projects.setItem(project, 'hosts', host, set);
  const ids: (string | undefined)[] = [];
  for (const path of ['cs_cmyk/a.png', 'cs_cmyk/s--SECRET--/b.png', 's--SECRET--/e_tint/a.png']) {
    const connection = await StrictConnection.open(port);
    const target = `/demo/image/upload/${path}`;
    const { status, headers } = await connection.request('GET', target, { host });
    connection.close();
    t.equal(status, 400, path);
    ids.push(headers.get('x-request-id') ?? undefined);
  }
  const { failures } = await json(await call('failures'));
  t.match(failures, [
    {
      url: '/demo/image/upload/s--…/e_tint/a.png',
      message: /^e_tint has no equivalent here; the nearest is tint/,
      count: 1,
      requestId: ids[2],
    },
    { message: /^cs_cmyk has no equivalent here/, count: 2, requestId: ids[1] },
  ]);
  t.equal(failures.length, 2);
});

t.test(
  'counts a failed source or transform as an error, and a failed transform as a render',
  async (t) => {
    const { get, image, usage, origin } = await start(t);
    origin.serve('/broken.png', (await picture(300, 300, 'png')).subarray(0, 9_000));
    t.equal((await get(image('/broken.png'))).status, 422);
    t.match((await usage()).usage.total, {
      requests: 1,
      errors: 1,
      misses: 0,
      renders: 1,
      bytes: 0,
    });
  },
);

t.test('returns the requested days of usage', async (t) => {
  const { call, usage, get, image, forward } = await start(t);
  await get(image('/a.png', 'fmt=png'));
  // Counts belong to the day of their collection, within a second.
  await usage();
  forward(13 * hourMs);
  await get(image('/a.png', 'fmt=png'));
  const { days, total } = (await usage('?from=2026-11-21&to=2026-11-23')).usage;
  t.same(
    days.map(({ date, requests }: { date: string; requests: number }) => [date, requests]),
    [
      ['2026-11-21', 0],
      ['2026-11-22', 1],
      ['2026-11-23', 1],
    ],
  );
  t.equal(total.requests, 2);
  t.match(await usage('?to=2026-11-22'), { usage: { from: '2026-10-24', total: { requests: 1 } } });
  t.equal((await usage('?from=2025-10-20')).usage.days.length, 400);
  t.match(await usage('?to=1960-01-05'), { usage: { from: '1959-12-07', to: '1960-01-05' } });
  t.match(await usage('?to=0000-01-02'), { usage: { from: '0000-01-01', to: '0000-01-02' } });

  const csv = await call('usage?from=2026-11-22&to=2026-11-23&format=csv');
  t.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8; header=present');
  t.equal(csv.headers.get('cache-control'), 'no-store');
  const text = await csv.text();
  const [header, first, ...rest] = text.split('\r\n');
  t.equal(
    header,
    'date,requests,hits.memory,hits.disk,hits.shared,misses,errors,bytes,renders,renderSeconds,background.requests,background.bytes,background.renders,background.renderSeconds',
  );
  t.match(first, /^2026-11-22,1,0,0,0,1,0,\d+,1,[\d.]+,0,0,0,0$/);
  t.match(rest, [/^2026-11-23,1,1,0,0,0,0,\d+,0,0,0,0,0,0$/, /^$/]);
  const accept = { headers: { accept: 'text/csv, application/json;q=0.5' } };
  t.equal(
    await (await call('usage?from=2026-11-22&to=2026-11-23', undefined, accept)).text(),
    text,
  );
  t.match(await json(await call('usage?format=json', undefined, accept)), { usage: {} });

  const refused = {
    'from=22.11.2026': /^from must be a date, such as 2026-11-23\.$/,
    'from=2026-02-30': /^from must be a date/,
    'to=%00': /^to must be a date/,
    'from[$gt]=1&to=': /^to must be a date/,
    [`from=${'9'.repeat(5_000)}`]: /^from must be a date/,
    'from=2026-11-23&to=2026-11-22': /^from must not be after to\.$/,
    'from=2027-01-01': /^from must not be after today, without to\.$/,
    'from=2025-10-19&to=2026-11-23': /^from and to must not span more than 400 days\.$/,
    'from=0000-01-01&to=9999-12-31': /^from and to must not span more than 400 days\.$/,
    'from=2026-11-22&from=2026-11-21': /^from is given more than once\.$/,
    'format=xml&to=x': /^to must be .*; format must be json or csv\.$/,
    [`a=1${'&a'.repeat(100)}`]: /more than 100 parameters/,
  };
  for (const [query, message] of Object.entries(refused)) {
    const response = await call(`usage?${query}`);
    t.match([response.status, await json(response)], [400, { code: 'invalid_request', message }]);
  }
  t.equal((await usage('', 'prj_0000000000000000')).code, 'project_not_found');
});

t.test('delivers cached images beyond a render limit', async (t) => {
  const { get, image, limit, warm, call, createProject, origin, forward } = await start(t);
  const none = {
    rendersPerDay: null,
    bytesPerDay: null,
    onlyPresets: false,
    widths: null,
    qualities: null,
    unlisted: 'nearest',
  };
  t.same(await json(await call('limits')), { limits: none });
  await limit({ rendersPerDay: 2 });
  t.same(await json(await call('limits')), { limits: { ...none, rendersPerDay: 2 } });
  const [small, large] = [image('/a.png', 'fmt=png'), image('/large.png', 'fmt=png')];
  t.equal((await warm('/a.png', 'fmt=png')).status, 204);
  t.equal((await warm('/large.png', 'fmt=png')).status, 204);
  const fetches = origin.requests.get('/a.png');
  const refused = await get(`${small}&w=10`);
  t.match(refused, { status: 429, code: 'usage_limit_reached' });
  const wait = Number(refused.headers.get('retry-after'));
  t.ok(wait > 42_000 && wait <= 43_200, `${wait} s until midnight`);
  t.equal(refused.headers.get('cache-control'), 'no-store');
  t.equal(origin.requests.get('/a.png'), fetches, 'nothing was fetched');
  t.match(await warm('/a.png', 'fmt=png&w=11'), { status: 429, body: /limit of 2 renders/ });
  const hit = await get(small);
  t.match(hit, { status: 200, tier: 'memory' });
  t.match(await get(large), { status: 200, tier: 'disk' });
  const etag = hit.headers.get('etag') ?? '';
  t.equal((await get(small, { headers: { 'if-none-match': etag } })).status, 304);
  const other = await createProject('127.0.0.1');
  const ofOther = image('/a.png', 'fmt=png').replace(/project=\w+/, `project=${other}`);
  t.equal((await get(ofOther)).status, 200);
  forward(12 * hourMs);
  t.equal((await get(`${small}&w=10`)).status, 200, 'the next day');
});

t.test('renders only what the project allows', async (t) => {
  const { get, image, limit, warm, call, store, project, origin, port } = await start(t);
  await store.projects.setItem(project, 'presets', 'card', { w: 20, fmt: 'png' });
  const host = `${project.slice(4)}.example`;
  await store.projects.hostClaims.claim(host, project);
  const item = { host, base: `${origin.url}/`, urls: 'imgproxy', updatedAt: new Date() };
  await store.projects.setItem(project, 'hosts', host, item);
  const ofImgproxy = async (options: string) => {
    const connection = await StrictConnection.open(port);
    const target = `/insecure/${options}/plain/a.png@png`;
    const response = await connection.request('GET', target, { host });
    connection.close();
    return response;
  };
  const prewarm = async (body: object) => {
    const sent = JSON.stringify({ src: `${origin.url}/a.png`, ...body });
    const response = await call('prewarm', project, { method: 'POST', body: sent });
    return { status: response.status, message: (await json(response)).message };
  };
  const widths = [10, 20];
  await limit({ widths });
  const first = await get(image('/a.png', 'fmt=png&w=11'));
  const same = await get(image('/a.png', 'fmt=png&w=12'));
  t.equal(same.tier, 'memory', 'one image for both');
  t.equal(same.headers.get('etag'), first.headers.get('etag'));

  await limit({ widths, unlisted: 'refuse' });
  const invalid = { status: 400, code: 'parameter_invalid' };
  t.match(await get(image('/a.png', 'fmt=png&w=11')), invalid);
  t.match(await get(image('/a.png', 'fmt=png&w=20')), { status: 200 });
  t.equal((await warm('/a.png', 'fmt=png&w=11')).status, 400);
  t.match(await prewarm({ widths: [10, 11] }), { status: 400, message: /one of 10, 20/ });
  t.match(await prewarm({ widths, formats: ['png'] }), { status: 202 });
  t.equal((await ofImgproxy('w:11')).status, 400);
  t.equal((await ofImgproxy('w:10')).status, 200);

  await limit({ onlyPresets: true });
  t.match(await get(image('/a.png', 'fmt=png&w=20')), invalid);
  t.match(await get(image('/a.png', 'preset=card')), { status: 200 });
  t.match(await prewarm({ widths }), { status: 400, message: /allows only preset/ });
  t.match(await prewarm({ variants: [{ preset: 'card' }] }), { status: 202 });
  t.equal((await ofImgproxy('w:10')).status, 400);
  t.equal((await ofImgproxy('pr:card')).status, 400, 'the extension is a format');
  t.match(await call('limits', project, { method: 'PUT', body: '{"widths":[]}' }), { status: 400 });
});

t.test('lets only a root key change limits', async (t) => {
  const { call, limit, project, store } = await start(t);
  await limit({ rendersPerDay: 2 });
  const { _id: orgId } = await store.organisations.default();
  const body = JSON.stringify({ rendersPerDay: null, bytesPerDay: null });
  for (const projectId of [project, null]) {
    const key = { name: 'test', orgId, projectId, access: 'write' } as const;
    const { secret } = await store.keys.issue(key);
    const headers = { authorization: `Bearer ${secret}` };
    const refused = await call('limits', project, { method: 'PUT', body, headers });
    t.match([refused.status, await json(refused)], [403, { code: 'root_key_required' }]);
    const read = await json(await call('limits', project, { headers }));
    t.match(read, { limits: { rendersPerDay: 2, bytesPerDay: null } });
  }
});

t.test('shows refused URLs of each delivery host, without secrets', async (t) => {
  const { call, createProject, store, port } = await start(t);
  const project = await createProject('127.0.0.1');
  for (const urls of ['cloudinary', 'imgproxy'] as const) {
    const host = `${urls}.shop.example`;
    await store.projects.hostClaims.claim(host, project);
    const item = { host, base: null, urls, updatedAt: new Date() };
    await store.projects.setItem(project, 'hosts', host, item);
  }
  const refuse = async (host: string, target: string) => {
    const connection = await StrictConnection.open(port);
    const { status, body } = await connection.request('GET', target, { host });
    connection.close();
    t.equal(status, 400);
    return JSON.parse(body.toString());
  };
  await refuse('imgproxy.shop.example', '/SECRET/w:x/plain/a.jpg');
  const refused = await refuse('cloudinary.shop.example', '/demo/image/upload/u_x/a.jpg');
  t.match(refused.resolution_hint, 'explain --urls cloudinary');
  const { failures } = await json(await call('failures', project));
  t.match(
    failures.map(({ url, message }: Record<string, string>) => [url, message]),
    [
      ['/demo/image/upload/u_x/a.jpg', /^u_x has no equivalent here/],
      ['/…/w:x/plain/a.jpg', /^width must be/],
    ],
  );
});

t.test('delivers cached images beyond a byte limit', async (t) => {
  const { get, image, limit } = await start(t);
  const small = image('/a.png', 'fmt=png');
  const { bytes } = await get(small);
  await limit({ bytesPerDay: 2 * bytes });
  t.equal((await get(`${small}&w=1`)).status, 200);
  t.match(await get(small), { status: 200, tier: 'memory' });
  t.match(await get(`${small}&w=10`), { status: 429, code: 'usage_limit_reached' });
  t.match(await get(small), { status: 200, tier: 'memory' });
  await limit({ bytesPerDay: null });
  t.equal((await get(`${small}&w=10`)).status, 200, 'a changed limit applies at once');
});

t.test('reports requests and failures of the last hour and day, and no secrets', async (t) => {
  const { get, image, call, origin, createProject, project, warm, usage } = await start(t);
  const query = '?X-Amz-Signature=SECRET&id=SECRET';
  origin.serve(`/a.png${query}`, await picture(20, 20, 'png'));
  const png = image('/a.png', 'fmt=png&w=20');
  for (let i = 0; i < 3; i += 1) t.equal((await get(png)).status, 200);
  const presigned = encodeURIComponent(`${origin.url}/a.png${query}`);
  const more = 'fmt=png&sig=SECRET&exp=1&token=SECRET';
  t.equal((await get(`/img/${presigned}?project=${project}&${more}`)).status, 200);
  t.equal((await warm('/a.png', 'fmt=png&w=5')).status, 204);
  const gone: { readonly status: number; readonly headers: Headers }[] = [];
  for (let i = 0; i < 2; i += 1) {
    gone.push(await get(image('/gone.png', 'w=30&sig=SECRET&token=SECRET')));
  }
  t.same(
    gone.map(({ status }) => status),
    [404, 404],
  );
  t.equal((await get(image('/a.png', 'w=abc'))).code, 'parameter_invalid');
  const withUser = encodeURIComponent('https://user:SECRET@shop.example/a.png?token=SECRET');
  t.equal((await get(`/img/${withUser}?project=${project}`)).code, 'source_invalid');
  t.equal((await get(`/img/https://a.example/?project=prj_0000000000000000`)).status, 404);

  const { top } = await json(await call('top'));
  const { failures } = await json(await call('failures'));
  const { total } = (await usage()).usage;
  const source = origin.url;
  for (const window of [top.hour, top.day]) {
    t.match(window, {
      requests: 6,
      hits: { memory: 2, disk: 0, shared: 0 },
      misses: 2,
      errors: 2,
      hitRatio: { memory: 0.5, disk: 0, shared: 0 },
      unsigned: 6,
      bytes: total.bytes,
      sources: [
        { source: `${source}/a.png`, requests: 3 },
        { source: `${source}/a.png?X-Amz-Signature=…&id=…`, requests: 1 },
      ],
      variants: [
        { variant: 'fmt=png&w=20', requests: 3 },
        { variant: 'fmt=png', requests: 1 },
      ],
    });
    const original = (await picture(20, 20, 'png')).length;
    t.equal(window.originalBytes, 4 * original);
    t.equal(window.bytesSaved, 4 * original - total.bytes);
    t.ok(window.missMs.p50 > 0 && window.missMs.p50 <= window.missMs.p95);
  }
  t.match(
    failures.map(({ code, status, source, url, count }: Record<string, unknown>) => [
      code,
      status,
      source,
      url,
      count,
    ]),
    [
      ['source_invalid', 400, '', '/img/https://shop.example/a.png?token=…', 1],
      ['parameter_invalid', 400, `${source}/a.png`, `/img/${source}/a.png?w=abc`, 1],
      ['source_not_found', 404, `${source}/gone.png`, `/img/${source}/gone.png?w=30`, 2],
    ],
  );
  t.equal(failures[2].requestId, gone.at(-1)?.headers.get('x-request-id'), 'of the last request');
  t.match(
    failures[2].message,
    /^The source was not found: 127\.0\.0\.1 returned 404\. .* without …;/,
  );
  t.equal(failures[2].hint, 'Check that the source URL opens in a browser.');
  t.match(failures[1].message, /^w must be/);
  t.notMatch(JSON.stringify([top, failures]), /SECRET|sig=|exp=|user:/);

  const fromConsole = { headers: { [backgroundHeader]: consoleMark } };
  for (const [target, status, tier] of [
    [png, 200, 'memory'],
    [image('/a.png', 'fmt=png&w=7'), 200, 'miss'],
    [image('/gone.png', 'w=31'), 404, null],
    [image('/a.png', 'w=0'), 400, null],
  ] as const) {
    t.match(await get(target, fromConsole), { status, tier });
  }
  t.same((await json(await call('top'))).top, top, 'the console is left out of the activity');
  t.same((await json(await call('failures'))).failures, failures);
  const { background, ...clients } = (await usage()).usage.total;
  const { background: earlier, ...before } = total;
  t.same(clients, before, 'and of the usage');
  t.match(background, { requests: earlier.requests + 3, renders: earlier.renders + 1 });
  t.ok(background.bytes > earlier.bytes);
  t.equal((await get(image('/a.png', 'fmt=png&w=7'))).tier, 'memory');
  const after = (await json(await call('top'))).top.day;
  t.equal(after.requests, top.day.requests + 1, 'the same image for a client counts');

  const other = await createProject('127.0.0.1');
  t.same(await json(await call('failures', other)), { failures: [] });
  t.match((await json(await call('top', other))).top.day, {
    requests: 0,
    hitRatio: { memory: null },
  });
  t.equal((await call('top', 'prj_0000000000000000')).status, 404);
});
