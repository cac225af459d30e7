import { createHash } from 'node:crypto';
import t, { type Test } from 'tap';
import { signature, signedText } from '../../server/image/access.ts';
import { until } from '../until.ts';
import { prefix, rootKey, send } from './control/control.ts';
import { startFrontEnd } from './front-end.ts';
import { picture } from './origin.ts';

/** Computes tags like docs/cdn.md. */
const digest = (text: string, digits: number): string =>
  createHash('sha256').update(text).digest('hex').slice(0, digits);
const projectTag = (id: string): string => `p-${digest(id, 16)}`;
const sourceTag = (id: string, url: string): string => `s-${digest(`${id} ${url}`, 30)}`;

async function start(t: Test, headers = '') {
  const service = await startFrontEnd(t, { SERVICE_CACHE_TAG_HEADERS: headers });
  const { origin, project, image } = service;
  origin.serve('/a.png', await picture(40, 30));
  const load = (target = image('/a.png'), headers: Record<string, string> = {}) =>
    fetch(service.url + target, { headers });
  const expected = [projectTag(project), sourceTag(project, `${origin.url}/a.png`)];
  return { ...service, load, expected };
}

const readTags = ({ status, headers }: Response) => ({
  status,
  cache: headers.get('x-cache'),
  commas: headers.get('cache-tag'),
  spaces: headers.get('surrogate-key'),
});

t.test('names the project, source and watermark in every image response', async (t) => {
  const { origin, project, store, image, load, expected } = await start(t);
  const isTagged = (response: Response, status: number, tags = expected) =>
    t.match(readTags(response), { status, commas: tags.join(','), spaces: tags.join(' ') });

  const first = await load();
  const etag = first.headers.get('etag') ?? '';
  isTagged(first, 200);
  t.equal(readTags(first).cache, 'miss');
  for (const [status, headers] of [
    [200, {}],
    [304, { 'if-none-match': etag }],
  ] as const) {
    const response = await load(undefined, headers);
    isTagged(response, status);
    t.equal(readTags(response).cache, 'memory', `${status} of the response cache`);
  }
  const notation = encodeURIComponent(`${origin.url}/a.png#top`);
  isTagged(await load(`/img/${notation}?project=${project}`), 200);
  const none = await load(image('/none.png'));
  const replaced = image('/none.png', `fallback=${encodeURIComponent(`${origin.url}/a.png`)}`);
  const ofSource = [projectTag(project), sourceTag(project, `${origin.url}/none.png`)];
  isTagged(await load(replaced), 200, ofSource);
  isTagged(none, 404, ofSource);

  const marked = await store.projects.create({
    orgId: (await store.organisations.default())._id,
    name: 'Marked',
    origin: 'http://127.0.0.1/',
    allowedOrigins: ['127.0.0.1'],
  });
  const watermarkUrl = `${origin.url}/mark.png`;
  origin.serve('/mark.png', await picture(10, 10));
  await store.projects.updateSettings(marked._id, { watermarkUrl, watermarkEnabled: true });
  isTagged(await load(`/img/${origin.url}/a.png?project=${marked._id}`), 200, [
    projectTag(marked._id),
    sourceTag(marked._id, `${origin.url}/a.png`),
    sourceTag(marked._id, watermarkUrl),
  ]);
});

t.test('sends tags in other headers, even for signed URLs', async (t) => {
  const { origin, project, store, load, expected } = await start(t, 'CDN-Tag, xkey');
  const { signingSecret } = (await store.projects.requireSignatures(project, null)) ?? {};
  const path = `/img/${origin.url}/a.png`;
  const query = `project=${project}&exp=${Math.floor(Date.now() / 1_000) + 1_000}`;
  const sig = signature(String(signingSecret), signedText(path, query));
  for (const cache of ['miss', 'memory']) {
    const response = await load(`${path}?${query}&sig=${sig}`);
    t.same([response.status, response.headers.get('x-cache')], [200, cache]);
    t.equal(response.headers.get('cdn-tag'), expected.join(','));
    t.equal(response.headers.get('xkey'), expected.join(' '));
    t.match(readTags(response), { commas: null, spaces: null });
  }
});

t.test('sends no tags if they are off', async (t) => {
  const { load, expected } = await start(t, 'none');
  const { status, headers } = await load();
  t.equal(status, 200);
  for (const value of headers.values()) t.notOk(value.includes(expected[0] ?? ''));
});

t.test('delivers one image for all signatures of a source, if the project says so', async (t) => {
  const { url, port, origin, project, store } = await startFrontEnd(t, {
    SERVICE_ROOT_API_KEY: rootKey,
  });
  const of = `${prefix}/projects/${project}`;
  const body = await picture(40, 30);
  const asked: string[] = [];
  let refusing: Promise<void> = Promise.resolve();
  origin.serve('/a.png', async (request, response) => {
    const query = new URL(request.url ?? '', origin.url).searchParams;
    asked.push(String(query.get('X-Amz-Signature')));
    if (query.get('X-Amz-Signature') !== 'bad') return void response.end(body);
    await refusing;
    response.writeHead(403).end();
  });
  const toSource = (signature: string, more = '') =>
    `${origin.url}/a.png?X-Amz-Date=1${more}&X-Amz-Signature=${signature}`;
  const get = async (signature: string, more = '', w = 20) => {
    const source = encodeURIComponent(toSource(signature, more));
    const response = await fetch(`${url}/img/${source}?project=${project}&w=${w}&fmt=png`);
    await response.arrayBuffer();
    return { ...readTags(response), tag: response.headers.get('cache-tag')?.split(',')[1] };
  };
  t.match(await get('one'), { status: 200, cache: 'miss' });
  t.match(await get('two'), { status: 200, cache: 'miss' }, 'by default, each is a source');
  t.match(await get('bad'), { status: 403 });
  const set = (ignoredParameters: unknown) =>
    send(port, 'PUT', `${of}/freshness`, {
      json: { sourceAge: null, browserAge: null, ignoredParameters },
    });
  for (const invalid of [[], ['a b'], 'aws', ['&']]) t.equal((await set(invalid)).status, 400);
  t.match(await set(['aws', 'visitor']), {
    status: 200,
    body: { freshness: { ignoredParameters: ['aws', 'visitor'] } },
  });

  asked.length = 0;
  const first = await get('three');
  t.match(first, {
    status: 200,
    cache: 'miss',
    tag: sourceTag(project, `${origin.url}/a.png`),
  });
  t.match(await get('four', '&visitor=7'), { ...first, cache: 'memory' });
  t.match(await get('four', '&size=7'), { status: 200, cache: 'miss' }, 'another parameter');
  t.match(await get('bad'), { status: 200 }, 'a cached image needs no valid signature');
  t.same(asked, ['three', 'four'], 'the origin gets the signature of the request');

  // The error of one signature is not that of another one.
  let refuse = () => {};
  refusing = new Promise((resolve) => {
    refuse = resolve;
  });
  const isAsked = (count: number) =>
    until('the origin is asked', async () => asked.length >= count);
  const bad = get('bad', '', 11);
  await isAsked(3);
  const good = get('five', '', 11);
  await until('it waits for the same image', async () => {
    const { body } = await send(port, 'GET', '/api/health', { key: null });
    return body.checks !== undefined;
  });
  refuse();
  t.match(await Promise.all([bad, good]), [{ status: 403 }, { status: 200 }]);

  const purged = { json: { sources: [toSource('six')] } };
  t.equal((await send(port, 'POST', `${of}/purge`, purged)).status, 202);
  t.match(await get('seven'), { status: 200, cache: 'miss' });
  t.equal(asked.at(-1), 'seven', 'the newest signature');
  // An earlier list finds no image from before.
  await set(null);
  t.match(await get('one'), { status: 200, cache: 'miss' });
  const before = await store.projects.find(project);
  await set(null);
  const after = await store.projects.find(project);
  t.same(after?.generations, before?.generations, 'the same list purges nothing');
});
