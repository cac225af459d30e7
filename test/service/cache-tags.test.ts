import { createHash } from 'node:crypto';
import t, { type Test } from 'tap';
import { signature, signedText } from '../../server/image/access.ts';
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
