import { randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import t, { type Test } from 'tap';
import { startDnsServer } from '../pool/source/dns-server.ts';
import { temporaryFolder } from '../temporary-root.ts';
import { until } from '../until.ts';
import { prefix, rootKey, send } from './control/control.ts';
import { startFrontEnd, type TestFrontEnd } from './front-end.ts';
import { picture, startTestOrigin } from './origin.ts';

const newKey = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;

/** Returns a single-colour image. */
const coloured = (red: number) =>
  sharp({ create: { width: 20, height: 10, channels: 3, background: { r: red, g: 0, b: 0 } } })
    .png()
    .toBuffer();

const readRed = async (response: Response): Promise<number | string | undefined> => {
  const body = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200) return JSON.parse(body.toString()).code;
  return (await sharp(body).raw().toBuffer())[0];
};

/** Functions that request images from a front end. */
function clients(frontEnd: TestFrontEnd) {
  const { url, port } = frontEnd;
  const image = (project: string, source: string, query = '') =>
    fetch(`${url}/img/${source}?project=${project}&fmt=png${query}`);
  const call = async (method: string, path: string, json?: unknown) => {
    const { status, body } = await send(port, method, `${prefix}/projects/${path}`, { json });
    return { status, text: JSON.stringify(body) };
  };
  return { ...frontEnd, image, call };
}

async function start(t: Test, environment: Readonly<Record<string, string>>) {
  return clients(await startFrontEnd(t, { SERVICE_ROOT_API_KEY: rootKey, ...environment }));
}

t.test("delivers images from the operator's folder", async (t) => {
  const folder = await temporaryFolder(t);
  await mkdir(join(folder, 'a'));
  await writeFile(join(folder, 'a', 'red picture.png'), await coloured(200));
  await writeFile(join(folder, 'page.png'), '<html>no picture</html>');
  const { image, call, createProject, store } = await start(t, {
    SERVICE_ORIGINS: `static.example.com=file://${folder}`,
    SERVICE_SOURCE_MIN_AGE_SECONDS: '1',
  });
  const allowed = await createProject('static.example.com');
  const other = await createProject('a.example');
  const source = 'https://static.example.com/a/red%20picture.png';
  const first = await image(allowed, source);
  t.equal(await readRed(first), 200);
  t.match(first.headers.get('cache-control'), /immutable/);
  t.equal(await readRed(await image(other, source)), 'source_not_allowed');
  const codes = {
    'https://static.example.com/missing.png': 'source_not_found',
    'https://static.example.com/..%2f..%2fetc%2fpasswd': 'source_not_found',
    'https://static.example.com/page.png': 'source_unsupported',
  };
  for (const [wanted, code] of Object.entries(codes)) {
    t.equal(await readRed(await image(allowed, wanted)), code, wanted);
  }

  await store.projects.setFreshness(allowed, { sourceAge: 1, browserAge: 0 });
  await until('the picture follows its file', async () => {
    await writeFile(join(folder, 'a', 'red picture.png'), await coloured(100));
    return (await readRed(await image(allowed, source, '&w=15'))) === 100;
  });

  // A watermark's host can be missing from the allowlist, but the operator's folder then does not
  // apply.
  const set = async (of: string) =>
    (await call('PATCH', `${of}/settings`, { watermarkUrl: source })).status;
  t.equal(await set(allowed), 200);
  t.equal(await set(other), 400);
});

t.test("delivers images from the operator's bucket in a private network", async (t) => {
  const variables = { AWS_ACCESS_KEY_ID: 'key-a', AWS_SECRET_ACCESS_KEY: 'secret-of-the-test' };
  Object.assign(process.env, variables);
  t.teardown(() => {
    for (const name of Object.keys(variables)) delete process.env[name];
  });
  const bucket = await startTestOrigin(t);
  const body = await coloured(90);
  bucket.serve('/media/shop/a.png', ({ headers }, response) => {
    const isSigned = /Credential=key-a\/\d{8}\/us-east-1\/s3\//.test(headers.authorization ?? '');
    if (isSigned) response.end(body);
    else response.writeHead(403).end();
  });
  const { image, createProject } = await start(t, {
    SERVICE_ORIGINS: `bucket.example.com=s3://media/shop?endpoint=${bucket.url}`,
    SERVICE_PRIVATE_SOURCES: '10.0.0.1',
  });
  const project = await createProject('bucket.example.com', '127.0.0.1');
  t.equal(await readRed(await image(project, 'https://bucket.example.com/a.png')), 90);
  const missing = await image(project, 'https://bucket.example.com/b.png');
  t.equal(await readRed(missing), 'source_not_found');
  const direct = await image(project, `${bucket.url}/media/shop/a.png`);
  t.equal(await readRed(direct), 'source_blocked');
});

t.test('refuses a port that is allowed only where the host is not', async (t) => {
  const addresses = new Map([
    ['shop.example', '192.0.43.7'],
    ['nas.example', '10.0.0.5'],
  ]);
  const dns = await startDnsServer(t, (name, family) => {
    const address = addresses.get(name);
    if (address === undefined) return 'no such name';
    return { addresses: family === 4 ? [address] : [] };
  });
  const { project, call } = await start(t, {
    SERVICE_ENCRYPTION_KEYS: newKey('first'),
    SERVICE_PRIVATE_SOURCES: '10.0.0.0/8:9000',
    SERVICE_DNS_SERVERS: dns.address,
  });
  const put = (host: string) =>
    call('PUT', `${project}/origins/${host}`, { headers: { 'x-token': 'a' } });
  t.match(await put('shop.example:9000'), {
    status: 400,
    text: /host cannot be used: Sources may not use port 9000 of shop\.example/,
  });
  for (const host of ['nas.example:9000', 'shop.example', 'later.example:9000']) {
    t.equal((await put(host)).status, 200, host);
  }
});

t.test("sends a project's headers to a host", async (t) => {
  const keys = [newKey('first'), newKey('second')] as const;
  const frontEnd = await start(t, {
    SERVICE_ENCRYPTION_KEYS: keys[0],
    SERVICE_LOG_LEVEL: 'trace',
    SERVICE_SOURCE_TIMEOUT_MS: '10000',
  });
  const { origin, project, createProject, image, call, store, log } = frontEnd;
  const host = `127.0.0.1:${origin.port}`;
  const other = await createProject('127.0.0.1');
  const images = new Map<string, Buffer>();
  for (const [token, red] of Object.entries({ 'token-a': 10, 'token-b': 20, 'token-c': 30 })) {
    images.set(`Bearer ${token}`, await coloured(red));
  }
  const seen: (string | undefined)[] = [];
  origin.serve('/a.png', ({ headers }, response) => {
    seen.push(headers.authorization);
    const body = images.get(headers.authorization ?? '');
    if (body === undefined) response.writeHead(401).end(headers.authorization);
    else setTimeout(() => response.end(body), 20);
  });
  origin.serve('/broken.png', (_, response) => void response.writeHead(500).end());
  const put = (of: string, token: string) =>
    call('PUT', `${of}/origins/${host}`, { headers: { Authorization: `Bearer ${token}` } });
  const get = async (of: string, query = '') =>
    readRed(await image(of, `${origin.url}/a.png`, query));

  t.equal(await get(project), 'source_unauthorized');
  const stored = await put(project, 'token-a');
  t.equal(stored.status, 200);
  t.match(JSON.parse(stored.text), {
    origin: { host, headers: ['authorization'], location: null },
  });
  t.equal((await put(other, 'token-b')).status, 200);
  t.same(await Promise.all([get(project), get(other)]), [10, 20], 'at once, each its own');
  t.same(await Promise.all([get(project, '&w=9'), get(other, '&w=9')]), [10, 20]);
  t.equal((await put(project, 'token-c')).status, 200);
  t.equal(await get(project, '&w=8'), 30, 'a changed header is used at once');
  t.equal(await get(project, '&w=9'), 10, 'cached images do not change');
  t.same(seen, [undefined, 'Bearer token-a', 'Bearer token-b', 'Bearer token-c']);

  const document = await store.projects.find(project);
  t.match(JSON.stringify(document), /"sealed":"first\.[\w-]{60,}"/, 'encrypted in the store');
  await image(project, `${origin.url}/broken.png`);
  const answers = [
    stored.text,
    (await call('GET', `${project}/origins`)).text,
    (await call('GET', project)).text,
    (await call('GET', `${project}/configuration`)).text,
    (await call('PUT', `${project}/origins/${host}`, { headers: 'Bearer token-a' })).text,
    (await call('PUT', `${project}/origins/${host}`, { headers: { a: ['token-a'] } })).text,
    (await call('PUT', `${project}/origins/${host}`, 'token-a')).text,
    (await call('PUT', `${project}/origins/${host}`, { headers: { a: 'token-a\n' } })).text,
    await (await image(project, `${origin.url}/missing.png`)).text(),
    await (await fetch(`${frontEnd.url}/api/health`)).text(),
    JSON.stringify(document),
    JSON.stringify(log),
  ];
  for (const text of answers) t.notMatch(text, /token-[abc]/);
  t.ok(log.length > 5, 'the log has debug lines');

  t.test('replaces keys one after the other', async (t) => {
    const rotated = await start(t, {
      SERVICE_ENCRYPTION_KEYS: `${keys[1]},${keys[0]}`,
      SERVICE_SOURCE_TIMEOUT_MS: '10000',
    });
    const read = async (query: string) =>
      readRed(await rotated.image(project, `${origin.url}/a.png`, query));
    t.equal(await read('&w=7'), 30);
    const lost = await start(t, { SERVICE_ENCRYPTION_KEYS: keys[1] });
    for (const path of ['/a.png', '/c.png']) {
      t.equal(await readRed(await lost.image(project, origin.url + path)), 'source_unreachable');
    }
    const lines = lost.log.filter(({ msg }) => /^decrypting origin failed/.test(String(msg)));
    t.match(lines[0], { project, host, level: 50 });
    t.equal(lines.length, 1);
    lost.origin.serve('/b.png', await picture(9, 9, 'png'));
    const elsewhere = await lost.image(project, `${lost.origin.url}/b.png`);
    t.equal(elsewhere.status, 200, 'other hosts work');
  });

  t.test("delivers images from a project's bucket", async (t) => {
    const body = await coloured(70);
    origin.serve('/media/shop/a.png', ({ headers }, response) => {
      const isSigned = /^AWS4-HMAC-SHA256 Credential=key-a\//.test(headers.authorization ?? '');
      if (isSigned) response.end(body);
      else response.writeHead(403).end();
    });
    const location = `s3://media/shop?endpoint=${origin.url}`;
    const s3 = { location, accessKeyId: 'key-a', secretAccessKey: 'token-a' };
    const of = await createProject('photos.example.com');
    t.equal((await call('PUT', `${of}/origins/photos.example.com`, { s3 })).status, 200);
    t.equal(await readRed(await image(of, 'https://photos.example.com/a.png')), 70);
    const missing = await image(of, 'https://photos.example.com/b.png');
    t.equal(await readRed(missing), 'source_not_found');
    t.equal(origin.requests.get('/media/shop/b.png'), 1);
    t.notMatch(JSON.stringify(log), /token-a|key-a/);
  });

  t.test('deletes an origin', async (t) => {
    t.same(JSON.parse((await call('DELETE', `${project}/origins/${host}`)).text), { origins: [] });
    t.equal(await get(project, '&w=4'), 'source_unauthorized');
    t.equal(await get(other, '&w=4'), 20);
  });
});

t.test("limits an operator's host to its project", async (t) => {
  const headers = 'headers:Authorization=Bearer%20operators-token';
  const folder = await temporaryFolder(t);
  const first = await start(t, {});
  const json = { headers: { a: 'b' } };
  const refused = await first.call('PUT', `${first.project}/origins/a.example`, json);
  t.equal(refused.status, 400);
  t.match(refused.text, /Ask the operator to set SERVICE_ENCRYPTION_KEYS/);

  const host = `127.0.0.1:${first.origin.port}`;
  const { project, createProject, image, call } = await start(t, {
    SERVICE_ENCRYPTION_KEYS: newKey('a'),
    SERVICE_ORIGINS: `${host}@${first.project}=${headers},static.example=file://${folder}`,
  });
  const body = await coloured(50);
  first.origin.serve('/a.png', ({ headers }, response) => {
    if (headers.authorization === 'Bearer operators-token') response.end(body);
    else response.writeHead(401).end();
  });
  const read = async (of: string) => readRed(await image(of, `${first.origin.url}/a.png`));
  t.equal(await read(first.project), 50);
  t.equal(await read(project), 'source_unauthorized', 'another project');
  const put = async (of: string, name: string) =>
    (await call('PUT', `${of}/origins/${name}`, { headers: { 'x-token': 'a' } })).status;
  t.equal(await put(first.project, host), 400, 'a project cannot replace it');
  t.equal(await put(project, 'static.example'), 400);
  t.equal(await put(project, host), 200);
  t.ok(await createProject('a.example'));
  await rm(folder, { recursive: true });
});
