import type { Test } from 'tap';
import { until } from '../../until.ts';
import { baseUrl, type Control } from './control.ts';

/** Runs every operation over the life of a project. All succeed. */
export async function operations(
  t: Test,
  { call, issue, service, store, watermarks }: Control,
): Promise<void> {
  t.same((await call('GET', '/projects')).body, { projects: [] }, 'no project yet');

  const created = await call('POST', '/projects', {
    json: {
      name: 'My shop',
      origin: 'https://Shop.Example.com/start',
      allowedOrigins: ['*.CDN.example.com.', 'bücher.example', 'shop.example.com'],
    },
  });
  t.equal(created.status, 201);
  const { project } = created.body;
  const { id } = project;
  t.match(project, {
    id: /^prj_[0-9a-z]{16}$/,
    orgId: /^org_[0-9a-z]{16}$/,
    name: 'My shop',
    origin: 'https://Shop.Example.com/start',
    allowedOrigins: ['shop.example.com', '*.cdn.example.com', 'xn--bcher-kva.example'],
    autoFormat: true,
    defaultQuality: 80,
    defaultDpr: 1,
    defaultFit: 'cover',
    maxWidth: null,
    requireSignedUrls: false,
    signedUrlTtlSeconds: null,
    stripMetadata: true,
    watermarkEnabled: false,
    watermarkUrl: null,
    watermarkPosition: 'southeast',
    watermarkOpacity: 60,
    watermarkScale: 20,
    watermarkMargin: 16,
    createdAt: /^[A-Z][a-z]+ \d{1,2}, 20\d\d$/,
  });

  const on = `/projects/${id}`;
  t.same((await call('GET', on)).body, { project }, 'read');
  t.same((await call('GET', '/projects')).body, { projects: [project] }, 'listed');

  const configuration = await call('GET', `${on}/configuration`);
  t.equal(configuration.status, 200);
  t.match(configuration.body.configuration, {
    projectId: id,
    projectName: 'My shop',
    allowedOrigins: project.allowedOrigins,
    imageBaseUrl: `${baseUrl}/img`,
    transformUrlTemplate: `${baseUrl}/img/{source}?project=${id}{&w,h,q,fmt,fit,dpr,blur}`,
  });

  t.test('changes only the sent fields in settings', async (t) => {
    const settings = {
      autoFormat: false,
      defaultQuality: 30,
      defaultDpr: 3,
      defaultFit: 'outside',
      maxWidth: 10_000,
      stripMetadata: false,
      watermarkEnabled: true,
      watermarkUrl: watermarks[0],
      watermarkPosition: 'north',
      watermarkOpacity: 1,
      watermarkScale: 100,
      watermarkMargin: 0,
    };
    const patch = (json: object) => call('PATCH', `${on}/settings`, { json });
    const changed = await patch(settings);
    t.equal(changed.status, 200);
    t.same(changed.body.project, { ...project, ...settings });
    const cleared = await patch({ maxWidth: 0, watermarkUrl: '' });
    const expected = { ...project, ...settings, maxWidth: null, watermarkUrl: null };
    t.same(cleared.body.project, expected);
    t.same((await call('GET', on)).body.project, expected);
    const { defaults, watermark } = (await call('GET', `${on}/configuration`)).body.configuration;
    t.match(defaults, { autoFormat: false, defaultQuality: 30, stripMetadata: false });
    t.match(watermark, { enabled: true, position: 'north', opacity: 1, margin: 0, url: null });
  });

  t.test('changes only a new name and a new site, and allows the host', async (t) => {
    const before = (await call('GET', on)).body.project;
    const patch = async (json: object) => (await call('PATCH', on, { json })).body.project;
    t.same(await patch({ name: 'My new shop' }), { ...before, name: 'My new shop' });
    const origin = 'https://New.Example.com/start';
    const allowedOrigins = [...before.allowedOrigins, 'new.example.com'];
    const moved = { ...before, name: 'My new shop', origin, allowedOrigins };
    for (let i = 0; i < 2; i += 1) t.same(await patch({ origin }), moved);
    const { configuration } = (await call('GET', `${on}/configuration`)).body;
    t.match(configuration, { projectName: 'My new shop', origin });
    const { name } = before;
    t.same(await patch({ name, origin: before.origin }), { ...before, allowedOrigins });
    t.same((await call('DELETE', `${on}/domains?host=new.example.com`)).body.project, before);
  });

  t.test('adds and removes hosts idempotently', async (t) => {
    const hosts = async (method: string, target: string, host?: string) => {
      const answer = await call(method, `${on}/domains${target}`, host ? { json: { host } } : {});
      t.equal(answer.status, 200, `${method} ${host ?? target}`);
      return answer.body.project.allowedOrigins.slice(3);
    };
    t.same(await hosts('POST', '', 'Static.Example.com.'), ['static.example.com']);
    t.same(await hosts('POST', '', 'static.example.com'), ['static.example.com']);
    t.same(await hosts('POST', '', '*.b.example'), ['static.example.com', '*.b.example']);
    t.same(await hosts('DELETE', '?host=STATIC.example.com', '*.b.example'), ['*.b.example']);
    t.same(await hosts('DELETE', '?host=static.example.com'), ['*.b.example']);
    t.same(await hosts('DELETE', '', '*.B.example'), []);
    t.same(await hosts('DELETE', '?host=%2A.b.example'), []);
  });

  t.test('creates, replaces, lists and deletes presets', async (t) => {
    const presets = `${on}/presets`;
    const put = async (name: string, parameters: object) => {
      const answer = await call('PUT', `${presets}/${name}`, { json: { parameters } });
      t.same([answer.status, answer.body], [200, { preset: { name, parameters } }], name);
      return { name, parameters };
    };
    t.same((await call('GET', presets)).body, { presets: [] });
    const hero = await put('hero', { w: 1200, fallback: 'https://shop.example.com/none.png' });
    await put('card', { w: 400 });
    const card = await put('card', {
      h: 300,
      fmt: 'webp',
      flip: true,
      fp: '0.5,0.25',
      dpr: 'auto',
    });
    const other = await put('constructor', { blur: 2.5 });
    t.same((await call('GET', presets)).body, { presets: [card, other, hero] }, 'by name');
    t.same((await call('GET', `${presets}/c%61rd`)).body, { preset: card });
    t.same((await call('DELETE', `${presets}/constructor`)).body, { presets: [card, hero] });
    t.same(
      (await call('DELETE', `${presets}/constructor`)).body,
      { presets: [card, hero] },
      'twice',
    );
    for (const gone of ['constructor', 'toString', '__proto__', '$a.b', '%00', 'x'.repeat(999)]) {
      const { status, body } = await call('GET', `${presets}/${gone}`);
      t.same([status, body.code], [404, 'preset_not_found'], gone);
      t.ok(body.message.length < 100);
    }
    const { message } = (await call('GET', `${presets}/Crad`)).body;
    t.equal(message, 'The project has no preset Crad. Did you mean card?');
    const { body } = await call('GET', on);
    t.same(
      Object.keys(body.project),
      Object.keys(project),
      'presets are not a field of the project',
    );
  });

  t.test('creates, replaces, lists and deletes layers', async (t) => {
    const layers = `${on}/layers`;
    const put = async (name: string, layer: object) => {
      const answer = await call('PUT', `${layers}/${name}`, { json: layer });
      t.same([answer.status, answer.body], [200, { layer: { name, ...layer } }], name);
      return { name, ...layer };
    };
    t.same((await call('GET', layers)).body, { layers: [] });
    await put('price', { text: {} });
    const price = await put('price', { text: { words: '19,90 €', size: 'fit', width: 40 } });
    const badge = await put('badge', {
      image: { url: 'https://shop.example.com/b.png', offsetX: '10%', offsetY: 5, tiled: true },
    });
    t.same((await call('GET', layers)).body, { layers: [badge, price] }, 'by name');
    const boxes = await call('PUT', `${layers}/price`, { json: { text: { words: 'é 漢字 🎉' } } });
    t.match(boxes.body, {
      layer: {
        name: 'price',
        warnings: [/^text\.words has .* boxes: 漢 字 🎉\. Change the words/],
      },
    });
    const again = await call('GET', `${layers}/price`);
    t.same(again.body, { layer: { name: 'price', text: { words: 'é 漢字 🎉' } } }, 'not stored');
    t.same((await call('GET', `${layers}/badge`)).body, { layer: badge });
    for (let i = 0; i < 2; i += 1) {
      t.same((await call('DELETE', `${layers}/price`)).body, { layers: [badge] });
    }
    const { status, body } = await call('GET', `${layers}/bagde`);
    t.same([status, body.code], [404, 'layer_not_found']);
    t.equal(body.message, 'The project has no layer bagde. Did you mean badge?');
  });

  t.test('creates, replaces, lists and deletes private origins', async (t) => {
    const origins = `${on}/origins`;
    const put = async (host: string, json: object) => {
      const answer = await call('PUT', `${origins}/${host}`, { json });
      t.equal(answer.status, 200, host);
      return answer.body.origin;
    };
    t.same((await call('GET', origins)).body, { origins: [] });
    await put('Shop.Example.com.', { headers: { 'X-Token': 'secret-1' } });
    const headers = { Authorization: 'Bearer secret-2', 'User-Agent': 'shop' };
    const shop = await put('shop.example.com', { headers });
    t.match(shop, {
      host: 'shop.example.com',
      headers: ['authorization', 'user-agent'],
      location: null,
    });
    const location = 's3://media/shop?endpoint=https://s3.example.com';
    const s3 = { location, accessKeyId: 'secret-3', secretAccessKey: 'secret-4' };
    const bucket = await put('b%C3%BCcher.example', { s3 });
    t.match(bucket, { host: 'xn--bcher-kva.example', headers: [], location });
    const listed = await call('GET', origins);
    t.same(listed.body, { origins: [shop, bucket] }, 'by host');
    t.notMatch(JSON.stringify([listed.body, (await call('GET', on)).body]), /secret-/);
    t.same((await call('DELETE', `${origins}/SHOP.example.com`)).body, { origins: [bucket] });
    t.same((await call('DELETE', `${origins}/SHOP.example.com`)).body, { origins: [bucket] });
    t.same((await call('DELETE', `${origins}/b%C3%BCcher.example`)).body, { origins: [] });
    t.same((await call('GET', on)).body.project, (await call('GET', '/projects')).body.projects[0]);
  });

  t.test('creates, replaces, lists and deletes delivery hosts', async (t) => {
    const hosts = `${on}/hosts`;
    const put = (name: string, json: object, path = hosts) =>
      call('PUT', `${path}/${name}`, { json });
    t.same((await call('GET', hosts)).body, { hosts: [] });
    const { host } = (await put('IMG.Shop.example.', {})).body;
    t.match(host, { host: 'img.shop.example', base: null, urls: 'native' });
    const base = 'https://shop.example.com/media';
    const changed = (await put('img.shop.example', { base, urls: 'next' })).body.host;
    t.match(changed, { host: 'img.shop.example', base, urls: 'next' });
    const other = (await put('b%C3%BCcher.img.example', { base: null })).body.host;
    t.equal(other.host, 'xn--bcher-kva.img.example');
    t.same((await call('GET', hosts)).body, { hosts: [changed, other] }, 'by name');
    t.same((await call('GET', `${hosts}/IMG.shop.example`)).body, { host: changed });

    const second = (await call('POST', '/projects', { json: { name: 'x', origin: base } })).body;
    const ofSecond = `/projects/${second.project.id}/hosts`;
    const taken = await put('img.shop.example', {}, ofSecond);
    t.same([taken.status, taken.body.code], [409, 'host_taken']);
    t.notMatch(taken.body.message, id);
    t.same((await call('DELETE', `${ofSecond}/img.shop.example`)).body, { hosts: [] });
    t.equal((await put('img.shop.example', {}, ofSecond)).status, 409, 'still taken');
    for (let i = 0; i < 2; i += 1) {
      t.same((await call('DELETE', `${hosts}/img.shop.example`)).body, { hosts: [other] });
    }
    const gone = await call('GET', `${hosts}/img.shop.example`);
    t.same([gone.status, gone.body.code], [404, 'host_not_found']);
    for (const name of ['constructor', '__proto__']) {
      t.equal((await call('GET', `${hosts}/${name}`)).status, 404, name);
      t.equal((await put(name, {})).status, 200, name);
      t.same((await call('DELETE', `${hosts}/${name}`)).body, { hosts: [other] });
    }
    t.equal((await put('img.shop.example', {}, ofSecond)).status, 200, 'free again');
    t.equal((await call('DELETE', `/projects/${second.project.id}`)).status, 204);
    t.equal((await put('img.shop.example', {})).status, 200, 'free after the deletion');

    const own = new URL(baseUrl).hostname;
    for (const name of ['*.a.example', 'a.example:80', '127.0.0.1', 'localhost', own, 'a..b']) {
      t.match((await put(name, {})).body, { code: 'invalid_request', message: /^host must/ }, name);
    }
    for (const [json, message] of [
      [{ base: 'https://elsewhere.example/' }, /^base must be on an allowed host/],
      [{ base: `${base}?a` }, /^base must not have a query/],
      [{ base: 'ftp://shop.example.com/' }, /^base must be/],
      [{ base: 5 }, /^base must be/],
      [{ urls: 'other' }, /^urls must be one of native, .*next/],
      [{ bse: base }, /^bse is not/],
    ] as const) {
      t.match((await put('c.example', json)).body, { code: 'invalid_request', message });
    }
    const missing = '/projects/prj_0000000000000000/hosts';
    t.equal((await put('c.example', {}, missing)).status, 404);
    t.equal((await put('c.example', {})).status, 200, 'not claimed by the missing project');
    const key = await issue(id, 'write');
    t.equal((await call('GET', hosts, { key })).status, 200);
    const refused = await call('PUT', `${hosts}/d.example`, { key, json: {} });
    t.same([refused.status, refused.body.code], [403, 'root_key_required']);
    for (const { host } of (await call('GET', hosts)).body.hosts) {
      await call('DELETE', `${hosts}/${host}`);
    }
  });

  t.test('accepts a prewarm request and returns its counts', async (t) => {
    const answer = await call('POST', `${on}/prewarm`, {
      json: {
        src: 'https://shop.example.com/a.jpg',
        sources: ['https://x.cdn.example.com/b.jpg'],
        widths: [100, 200, 300],
        formats: ['auto', 'png'],
        quality: 50,
        fit: 'fill',
        dpr: 2,
      },
    });
    t.equal(answer.status, 202);
    t.same(answer.body, { prewarm: { accepted: true, sourceCount: 2, variantCount: 12 } });
  });

  t.test("accepts paths on the project's site as sources", async (t) => {
    const sources = ['/a.jpg?x=1', 'https://shop.example.com/a.jpg?x=1'];
    for (const [path, field] of [
      ['purge', 'purge'],
      ['prewarm', 'prewarm'],
    ] as const) {
      const { status, body } = await call('POST', `${on}/${path}`, { json: { sources } });
      t.match([status, body[field]?.sourceCount], [202, 1], path);
      for (const source of [
        '//b.example/a.jpg',
        '/\\b.example/a.jpg',
        '/\t/b.example/a',
        'a.jpg',
      ]) {
        const refused = await call('POST', `${on}/${path}`, { json: { sources: [source] } });
        t.equal(refused.status, 400, `${path} ${source}`);
      }
    }
  });

  t.test('returns usage as a number per day', async (t) => {
    const { days, total } = (await call('GET', `${on}/usage?from=2026-11-01&to=2026-11-22`)).body
      .usage;
    t.same([days.length, days[21].date, total.requests], [22, '2026-11-22', 0]);
  });

  t.test('refuses a deletion while prewarming waits, and deletes for good', async (t) => {
    const { message, ...refused } = (await call('DELETE', on)).body;
    t.match(message, /^The project's prewarming is in progress: 3 sources are not finished/);
    t.match(refused, { error: 'Conflict', code: 'prewarm_in_progress', resolution_hint: /force/ });
    t.equal((await call('DELETE', `${on}?force=false`)).status, 409);
    t.equal((await call('GET', on)).status, 200);
    for (const query of ['force=1', 'force=', 'force=true&force=true']) {
      const { status, body } = await call('DELETE', `${on}?${query}`);
      t.match([status, body.message], [400, /^force (must be true or false|is given more)/], query);
    }
    const key = await issue(id, 'write');
    t.equal((await call('GET', on, { key })).status, 200);
    t.equal((await call('DELETE', `${on}?force=true`)).status, 204);
    t.same((await call('GET', '/projects')).body, { projects: [] });
    for (const [method, path, json] of [
      ['DELETE', on],
      ['DELETE', `${on}?force=true`],
      ['GET', on],
      ['GET', `${on}/configuration`],
      ['PATCH', on, { name: 'x' }],
      ['PATCH', `${on}/settings`, { maxWidth: 9 }],
      ['GET', `${on}/presets`],
      ['POST', `${on}/purge`, { all: true }],
    ] as const) {
      const { status, body } = await call(method, path, { json });
      t.match([status, body.code], [404, 'project_not_found'], `${method} ${path}`);
    }
    const image = await fetch(`${service.url}/img/https://shop.example.com/a.jpg?project=${id}`);
    t.match([image.status, await image.json()], [404, { code: 'project_not_found' }]);
    await until('its key is gone', async () => (await call('GET', on, { key })).status === 401);
    for (const name of ['keys', 'jobs', 'prewarms', 'purges', 'usage', 'activity']) {
      const documents = await store.db.collection(name).find().toArray();
      t.notMatch(JSON.stringify(documents), id, name);
    }
  });

  t.test('serves the OpenAPI document at both paths', async (t) => {
    const [a, b] = await Promise.all(
      ['/openapi.json', '/api/sdk/v1/openapi.json'].map((path) => fetch(service.url + path)),
    );
    t.equal(a?.headers.get('content-type'), 'application/json');
    const document = await a?.json();
    t.same(await b?.json(), document);
    t.match(document, { openapi: '3.1.0', servers: [{ url: baseUrl }] });
  });
}
