import type { Test } from 'tap';
import type { Call, Control } from './control.ts';

/** Sends invalid bodies. They get 400 and change no data. */
export async function bodies(t: Test, control: Control): Promise<void> {
  const { call, store } = control;
  const id = await control.project();
  const on = `/projects/${id}`;
  const before = await call('GET', '/projects');
  const jobs = store.db.collection('jobs');
  const jobsBefore = await jobs.countDocuments();
  const create = (more: string) => `{"name":"x","origin":"https://a.example/"${more}}`;
  const padded = (bytes: number) => {
    const text = create('');
    return `${' '.repeat(bytes - text.length)}${text}`;
  };
  const longHost = `https://${'h'.repeat(1_025)}/`;
  const long = `https://a.example/${'x'.repeat(8_192)}`;
  const of = (fields: object): Call => ({
    json: { name: 'x', origin: 'https://a.example/', ...fields },
  });
  const manyHosts = (count: number) => Array.from({ length: count }, (_, i) => `h${i}.example`);
  const type = (contentType: string): Call => ({
    body: create(''),
    headers: { 'content-type': contentType },
  });

  const refused: ReadonlyArray<readonly [name: string, Call, message: RegExp]> = [
    ['more than 64 KiB', { body: padded(65_537) }, /more than 65536 bytes/],
    ['much more than 64 KiB', { body: padded(3_000_000) }, /more than 65536 bytes/],
    ['no body', {}, /JSON body is required/],
    ['an empty body', { body: '' }, /JSON body is required/],
    ['another content type', type('text/plain'), /application\/json/],
    ['a form', type('application/x-www-form-urlencoded'), /application\/json/],
    ['another charset', type('application/json; charset=latin1'), /application\/json/],
    ['a type that only begins like it', type('application/jsonp'), /application\/json/],
    ['no content type', type(''), /application\/json/],
    ['no JSON', { body: create(',') }, /not valid JSON/],
    ['a name withHost', { body: create(',"name":"y"') }, /name is given more than once/],
    ['__proto__', { body: create(',"__proto__":{"a":1}') }, /__proto__ is not allowed/],
    ['invalid UTF-8', { body: Buffer.from(create(',"a":"é"'), 'latin1') }, /UTF-8/],
    ['NUL', { body: '{"name":"a\\u0000","origin":"https://a.example/"}' }, /NUL/],
    ['all errors', { body: '{"name":"","a":1}' }, /origin is.*; a is not a known.*; name must/],
    ...['ftp://a.example/', 'http:a.example', 'https://u:p@a.example/', long].map(
      (origin) => [`origin ${origin.slice(0, 30)}`, of({ origin }), /^origin must/] as const,
    ),
    ['a long host', of({ origin: longHost }), /^origin must .* at most 253 characters in the host/],
    [
      'an origin for many',
      of({ origin: 'https://*.a.example/' }),
      /^origin must be an absolute http/,
    ],
    ['an origin inside', of({ origin: 'http://10.0.0.1/' }), /host of origin.*public/],
    [
      'invalid hosts',
      of({ allowedOrigins: ['a.b:80', 'intranet'] }),
      /allowedOrigins\[0\] must be a bare host.*; allowedOrigins\[1\] must be a public/,
    ],
    ['1,000 invalid hosts', of({ allowedOrigins: Array(1_000).fill('a') }), /^.{0,2000}$/],
    [
      '1,500 hosts',
      of({ allowedOrigins: Array(1_500).fill('a') }),
      /^allowedOrigins must have at most 1000 items/,
    ],
    ['9,000 hosts', of({ allowedOrigins: Array(9_000).fill('a') }), /more than 4000 JSON tokens/],
    ['a very long host', of({ allowedOrigins: ['中'.repeat(15_000)] }), /\[0\] must be a bare/],
    [
      'another name',
      of({ allowedHosts: [] }),
      /\(did you mean allowedOrigins for allowedHosts\?\)/,
    ],
    ['a setting', of({ maxwidth: 5 }), /\(did you mean PATCH .*\/settings for maxWidth\?\)/],
    ['1,001 hosts', of({ allowedOrigins: manyHosts(1_000) }), /not have more than 1000 hosts/],
    ['a cut emoji', of({ [`${'x'.repeat(79)}😀`]: 1 }), /^x{79}\ufffd is not a known field/],
  ];
  for (const [name, options, message] of refused) {
    const { status, body } = await call('POST', '/projects', options);
    t.same([status, body.code], [400, 'invalid_request'], name);
    t.match(body.message, message, name);
    t.match(body.resolution_hint, /Correct/, name);
  }

  await t.test('enforces the rules of every operation', async (t) => {
    const settings: ReadonlyArray<readonly [body: object, message: RegExp]> = [
      [{ maxWidth: 10_001 }, /^maxWidth must be at most 10000, but is 10001\.$/],
      [{ watermarkUrl: 'http://10.0.0.1/w.png' }, /public host/],
      [{ watermarkUrl: 'file:///etc/passwd' }, /http or https/],
      [{ $set: { orgId: 'x' } }, /\$set is not a known field/],
    ];
    const presets: ReadonlyArray<readonly [parameters: object, message: RegExp]> = [
      [{}, /^parameters must have at least 1 field\.$/],
      [
        { w: 0 },
        /^parameters\.w must be a whole number from 1 to 10000, or a percentage .*, but is 0\.$/,
      ],
      [{ w: '400' }, /^parameters\.w must be a whole number from .*, but is "400"\.$/],
      [{ fmt: 'bmp' }, /^parameters\.fmt must be one of auto, .*, but is "bmp"\.$/],
      [{ blur: 200 }, /^parameters\.blur must be empty, 1 or true .* to 100, but is 200\.$/],
      [{ bg: '#fff' }, /^parameters\.bg must be hex digits without # .*, but is "#fff"\.$/],
      [{ bg: 'nocolour' }, /^parameters\.bg must be hex digits without # /],
      [{ crop: '0,0,0,5' }, /^parameters\.crop must be left,top,width,height: /],
      [{ width: 5 }, /^parameters\.width is not a known field \(did you mean w for width\?\)\.$/],
      [{ animate: 1 }, /^parameters\.animate is not a known field \(did you mean animated\?\)/],
      [{ preset: 'a' }, /^parameters\.preset is not a known field/],
      [{ exp: 5 }, /^parameters\.exp is not a known field/],
      [{ w: { $gt: 1 } }, /^parameters\.w must be a whole number from .* 999p\.$/],
      [{ fallback: 'https://b.example/' }, /^parameters\.fallback must be on an allowed host/],
      [{ fallback: `https://a.example/${'x'.repeat(1_000)}` }, /at most 1024 characters/],
    ];
    const identities: ReadonlyArray<readonly [identity: object, message: RegExp]> = [
      [{}, /^the body must have at least 1 field\.$/],
      [{ name: '' }, /^name must have at least 1 character/],
      [{ name: 'x'.repeat(81) }, /^name must have at most 80 characters/],
      [{ name: null }, /^name must be a string/],
      [{ name: 'y', origin: 'ftp://a.example/' }, /^origin must be an absolute http or https URL/],
      [{ name: 'y', origin: 'http://10.0.0.1/' }, /^the host of origin must be .*public/],
      [{ origin: 'https://*.a.example/' }, /^origin must be an absolute http or https URL/],
      [{ allowedOrigins: ['a.example'] }, /\(did you mean POST .*\/domains for allowedOrigins\?\)/],
      [{ defaultQuality: 70 }, /\(did you mean PATCH .*\/settings for defaultQuality\?\)\.$/],
      [{ maxwidth: 70 }, /\(did you mean PATCH .*\/settings for maxWidth\?\)\.$/],
    ];
    const image = (fields: object) => ({ image: { url: 'https://a.example/b.png', ...fields } });
    const layers: ReadonlyArray<readonly [layer: object, message: RegExp]> = [
      [{}, /^the body must have image or text\.$/],
      [{ ...image({}), text: {} }, /^the body must not have image with text\.$/],
      [{ image: {} }, /^image\.url is required\.$/],
      [image({ url: 'https://b.example/' }), /^image\.url must be on an allowed host\.$/],
      [image({ url: 'file:///etc/passwd' }), /^image\.url must be an absolute http or https URL/],
      [image({ url: 'https://u:p@a.example/' }), /^image\.url must be an absolute http/],
      [image({ words: 'a' }), /^image\.words is not a known field/],
      [image({ scale: 0 }), /^image\.scale must be at least 1, but is 0\.$/],
      [image({ tiled: 1 }), /^image\.tiled must be true or false, but is 1\.$/],
      [
        image({ offsetX: '5em' }),
        /^image\.offsetX must be a whole number from -99999 to 99999.*"5em"\.$/,
      ],
      [image({ blend: 'clear' }), /^image\.blend must be one of over, .*, but is "clear"\.$/],
      [{ text: { words: 'x'.repeat(501) } }, /^text\.words must have at most 500 characters/],
      [{ text: { words: 'a\u0007b' } }, /^text\.words must be a text .* without control/],
      [{ text: { font: 'Comic Sans' } }, /^text\.font must be one of /],
      [{ text: { size: 'big' } }, /^text\.size must be a whole number .* or fit, but is "big"/],
      [{ text: { color: '#fff' } }, /^text\.color must be hex digits without #/],
    ];
    const secret = 'secret-of-the-test';
    const bucket = (location: unknown) => ({
      s3: { location, accessKeyId: 'a', secretAccessKey: secret },
    });
    const origins: ReadonlyArray<readonly [host: string, body: unknown, message: RegExp]> = [
      ['a.example', {}, /must have headers or s3/],
      ['a.example', secret, /^the body must be an object\.$/],
      ['a.example', { headers: secret }, /^headers must be an object\.$/],
      ['a.example', { headers: [secret] }, /^headers must be an object\.$/],
      ['a.example', { headers: { a: 5 } }, /^headers\.a must be a string\.$/],
      ['a.example', { headers: {} }, /^headers must have at least 1 field\.$/],
      [
        'a.example',
        { headers: { Host: secret } },
        /^headers must be 1 to 16 .* Host, .* are not allowed/,
      ],
      ['a.example', { headers: { a: `${secret}\r\nb: c` } }, /^headers must be 1 to 16 /],
      ['a.example', { headers: { a: 'b', A: secret } }, /^headers must be 1 to 16 /],
      [
        'a.example',
        { headers: { a: 'b' }, ...bucket('s3://b1b') },
        /must not have headers with s3/,
      ],
      ['a.example', bucket(5), /^s3\.location must be a string\.$/],
      ['a.example', bucket('s3://media'), /^s3\.location is not valid: it has no region/],
      ['a.example', bucket(`s3://a:${secret}@media?region=a`), /must not contain credentials/],
      ['a.example', bucket('s3://media?endpoint=http://s3.example'), /must be an https URL/],
      ['a.example', bucket('s3://media?endpoint=https://10.0.0.1'), /must be on a public host/],
      ['a.example', bucket('s3://media?endpoint=https://169.254.169.254'), /on a public host/],
      ['a.example', { s3: { location: 's3://media?region=a' } }, /accessKeyId is required/],
      ['a.example', { file: '/srv' }, /file is not a known field/],
      ...['intranet', '10.0.0.1'].map(
        (host) => [host, { headers: { a: 'b' } }, /^host must be on a public host/] as const,
      ),
      ...['*.a.example', 'a..example', 'a.example%2Fb', '%00', '$a', 'a.example:0'].map(
        (host) => [host, { headers: { a: 'b' } }, /^host must be a host name without/] as const,
      ),
    ];
    const malformedNames = 'Card 1 a.b a%2Fb a%00 $a __proto__ %ff %C2%84'.split(' ');
    // The query's host takes precedence, but the body must be valid.
    const withHost = '/domains?host=a.example';
    const presetName = /^the name of a preset must start with a lower-case letter/;
    const bare = ['a.example:80', 'http://a.example', 'a/b', 'u@a.example', 'a..example', ''];
    const local = ['intranet', 'x.local', 'x.internal', '10.0.0.1', '[::1]', '169.254.169.254'];
    const cases: ReadonlyArray<readonly [method: string, path: string, Call, message: RegExp]> = [
      ...identities.map(([json, message]) => ['PATCH', '', { json }, message] as const),
      ...settings.map(([json, message]) => ['PATCH', '/settings', { json }, message] as const),
      ...presets.map(
        ([parameters, message]) =>
          ['PUT', '/presets/card', { json: { parameters } }, message] as const,
      ),
      ...[...malformedNames, 'x'.repeat(41)].flatMap((name) => [
        ['PUT', `/presets/${name}`, { json: { parameters: { w: 1 } } }, presetName] as const,
        ['DELETE', `/presets/${name}`, {}, presetName] as const,
      ]),
      ...layers.map(([json, message]) => ['PUT', '/layers/badge', { json }, message] as const),
      ['PUT', '/layers/Badge', { json: { text: {} } }, /^the name of a layer must start with/],
      ['DELETE', '/layers/a.b', {}, /^the name of a layer must start with/],
      ...origins.map(
        ([host, json, message]) => ['PUT', `/origins/${host}`, { json }, message] as const,
      ),
      ['DELETE', '/origins/*', {}, /^host must be a host name without wildcard/],
      ['POST', '/prewarm', { json: { src: longHost } }, /^src .*must be an absolute http/],
      ['POST', '/prewarm', { json: { widths: [1] } }, /must have src or sources/],
      ['POST', '/prewarm', { json: { src: 'https://b.example/' } }, /^src \(https:.*on an allowed/],
      ...bare.map(
        (host) => ['POST', '/domains', { json: { host } }, /^host must be a bare host/] as const,
      ),
      ['POST', '/domains', { json: { host: '*' } }, /but is "\*"; .*: \*\.example\.com\.$/],
      [
        'POST',
        '/domains',
        { json: { host: 'https://a.example/b' } },
        /but is "https:\/\/a\.example\/b" \(did you mean a\.example\?\)\.$/,
      ],
      ...local.map(
        (host) => ['POST', '/domains', { json: { host } }, /^host must be a public/] as const,
      ),
      ['DELETE', '/domains', {}, /host is required, in the query or in the body/],
      ['DELETE', '/domains?host=', {}, /^host must be/],
      ['DELETE', '/domains?host=a.example&host=b.example', {}, /host is given more than once/],
      ['DELETE', `/domains?host=a.example${'&a'.repeat(100)}`, {}, /more than 100 parameters/],
      ['DELETE', `/domains?host=${'h'.repeat(1_025)}`, {}, /^host must be/],
      ['DELETE', '/domains?host=a%00', {}, /^host must be/],
      ['DELETE', '/domains?host=%ff', {}, /^host must be/],
      ['DELETE', '/domains', { body: '{"host":1}' }, /^host must be a string, but is /],
      ['DELETE', withHost, { json: { host: 'b.example', a: 1 } }, /^a is not a known field\.$/],
      ['DELETE', withHost, { json: { host: 'b.example:80' } }, /^host must be a bare host/],
      ['DELETE', withHost, { body: '{"host":' }, /not valid JSON/],
    ];
    for (const [method, tail, options, message] of cases) {
      const { status, body } = await call(method, on + tail, options);
      t.equal(status, 400, `${method} ${tail} ${message}`);
      t.match(body.message, message);
      t.notMatch(body.message, secret);
    }
  });

  t.same((await call('GET', '/projects')).body, before.body);
  t.equal(await jobs.countDocuments(), jobsBefore);

  for (const [plural, limit, json] of [
    ['presets', 100, { parameters: { w: 1 } }],
    ['layers', 50, { text: {} }],
    ['origins', 20, { headers: { a: 'b' } }],
  ] as const) {
    t.test(`limits a project to ${limit} ${plural}`, async (t) => {
      const to = `/projects/${await control.project()}/${plural}`;
      const name = (index: number) => (plural === 'origins' ? `h${index}.example` : `n${index}`);
      const put = async (index: number) =>
        (await call('PUT', `${to}/${name(index)}`, { json })).status;
      for (let index = 0; index < limit; index += 1) t.equal(await put(index), 200);
      t.same([await put(limit), await put(limit - 1)], [400, 200], 'those that exist are replaced');
      t.equal((await call('DELETE', `${to}/${name(0)}`)).status, 200);
      t.equal(await put(limit), 200);
    });
  }

  t.test('accepts bodies at their limits', async (t) => {
    for (const options of [
      { body: padded(65_536) },
      type('Application/JSON;charset=UTF-8'),
      { json: { name: '😀'.repeat(80), origin: 'http://127.0.0.1:8000/é'.replace('é', '%C3%A9') } },
    ]) {
      t.equal((await call('POST', '/projects', options)).status, 201);
    }
  });

  t.test('limits an allowlist to 1,000 hosts', async (t) => {
    const { body } = await call('POST', '/projects', of({ allowedOrigins: manyHosts(999) }));
    const target = `/projects/${body.project.id}/domains`;
    const add = (host: string) => call('POST', target, { json: { host } });
    const { status, body: refused } = await add('more.example');
    t.same([status, refused.code], [400, 'invalid_request']);
    t.match(refused.message, /not have more than 1000 hosts/);
    t.equal((await add('h1.example')).status, 200, 'a host of the list');
    t.equal((await call('DELETE', `${target}?host=h1.example`)).status, 200);
    const { body: added } = await add('more.example');
    t.equal(added.project.allowedOrigins.length, 1_000);
  });
}
