import t from 'tap';
import { MemoryCache } from '../../../pool/cache/image-caches.ts';
import type { Image } from '../../../pool/image.ts';
import { ResponseCache } from '../../../server/image/response-cache.ts';
import { RequestCounter, RequestCounts } from '../../../server/usage/request-counts.ts';
import { project } from '../../project.ts';

const body = Buffer.alloc(10);
const image: Image = {
  body,
  contentType: 'image/png',
  etag: '"x"',
  width: 1,
  height: 1,
  fetchedAt: [1],
};

/** Returns a response with the state that determines its validity. */
function cachedResponse(expires = Number.POSITIVE_INFINITY) {
  const memory = new MemoryCache(40_960, () => {});
  const entry = memory.set('k', image, 0);
  if (entry === null) throw new Error('the image was not stored');
  const counts = new RequestCounts('p');
  const state = { readAt: 0, project: project(), stale: false, comparison: null, counts };
  const lifetime = { expires, freshness: undefined, report: undefined };
  const urlHeaders = { file: null, tags: [], vary: '', warnings: '' };
  const about = { project: 'p', source: 's', variant: 'v', isSigned: true };
  const subject = new RequestCounter(about, image);
  const response = { project: state, subject, entry, headers: null, urlHeaders, lifetime };
  return { response, memory, state };
}

t.test('keeps a response until its project, image or URL changes', async (t) => {
  const endings = {
    project: ({ state }: ReturnType<typeof cachedResponse>) => {
      state.stale = true;
    },
    image: ({ memory }: ReturnType<typeof cachedResponse>) => {
      for (const key of ['l', 'm', 'n', 'o']) memory.set(key, image, 0);
    },
  };
  for (const [name, end] of Object.entries(endings)) {
    const responses = new ResponseCache();
    const cached = cachedResponse();
    t.equal(responses.get('/img/a', 0), undefined);
    responses.set('/img/a', cached.response);
    t.equal(responses.get('/img/a', 1e15), cached.response);
    t.equal(responses.get('/img/b', 0), undefined);
    end(cached);
    t.equal(responses.get('/img/a', 0), undefined, name);
    t.equal(responses.count, 0, 'the entry is deleted');
  }
  const responses = new ResponseCache();
  responses.set('/img/a', cachedResponse(1_000).response);
  t.ok(responses.get('/img/a', 999));
  t.equal(responses.get('/img/a', 1_000), undefined, 'the signed URL has expired');
  t.equal(responses.count, 0);
});

t.test('limits entries, their bytes and their keys', async (t) => {
  const { response } = cachedResponse();
  const long = new ResponseCache();
  long.set(`/img/${'a'.repeat(3_000)}`, response);
  t.equal(long.count, 0);
  for (const length of [50, 2_000]) {
    const responses = new ResponseCache();
    const key = (index: number) => `${index} `.padEnd(length, 'x');
    for (let i = 0; i < 40_000; i++) responses.set(key(i), response);
    t.ok(responses.count > 5_000 && responses.count <= 20_000, `${responses.count} of ${length}`);
    t.ok(responses.bytes <= 24 * 1024 * 1024);
    t.ok(responses.get(key(39_999), 0), 'the latest entry remains');
    t.equal(responses.get(key(0), 0), undefined);
  }
});
