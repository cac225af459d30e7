import t from 'tap';
import { MemoryCache } from '../../../pool/cache/memory.ts';
import { type CachedResponse, ResponseCache } from '../../../server/image/response-cache.ts';
import { project } from '../../project.ts';

const image = {
  body: Buffer.alloc(10),
  contentType: 'image/png',
  etag: '"x"',
  width: 1,
  height: 1,
};

/** Fresh answers, and what they hang on. */
function answer(expires = Number.POSITIVE_INFINITY) {
  const memory = new MemoryCache(4_096, () => {});
  const entry = memory.set('k', image, 0);
  if (entry === null) throw new Error('the image was not kept');
  const state = { project: project(), stale: false };
  const hot: CachedResponse = {
    project: state,
    entry,
    headers: [['etag', '"x"']],
    download: null,
    expires,
  };
  return { hot, memory, state };
}

t.test('a request that was answered is answered again', async (t) => {
  const answers = new ResponseCache();
  const { hot } = answer();
  t.equal(answers.get('/img/a', 0), undefined);
  answers.set('/img/a', hot);
  t.equal(answers.get('/img/a', 1e15), hot);
  t.equal(answers.get('/img/b', 0), undefined);
});

t.test('an answer ends with the project as it was', async (t) => {
  const answers = new ResponseCache();
  const { hot, state } = answer();
  answers.set('/img/a', hot);
  state.stale = true;
  t.equal(answers.get('/img/a', 0), undefined);
  t.equal(answers.count, 0, 'and is forgotten');
});

t.test('an answer ends when the memory cache lets its image go', async (t) => {
  const answers = new ResponseCache();
  const { hot, memory } = answer();
  answers.set('/img/a', hot);
  for (const key of ['l', 'm', 'n', 'o']) memory.set(key, image, 0);
  t.equal(hot.entry.image, null);
  t.equal(answers.get('/img/a', 0), undefined);
  t.equal(answers.count, 0);
});

t.test('an answer to a signed URL ends when the URL does', async (t) => {
  const answers = new ResponseCache();
  answers.set('/img/a', answer(1_000).hot);
  t.ok(answers.get('/img/a', 999));
  t.equal(answers.get('/img/a', 1_000), undefined);
  t.equal(answers.count, 0);
});

t.test('the number of answers and the length of each request are bounded', async (t) => {
  const answers = new ResponseCache();
  const { hot } = answer();
  answers.set(`/img/${'a'.repeat(3_000)}`, hot);
  t.equal(answers.count, 0);
  for (let i = 0; i < 40_000; i++) answers.set(`/img/${i}`, hot);
  t.ok(answers.count <= 20_000, `${answers.count} answers`);
  t.ok(answers.get('/img/39999', 0), 'the latest is among them');
  t.equal(answers.get('/img/0', 0), undefined);
});

t.test('its entries are bounded in bytes, whatever the length of requests', (t) => {
  for (const length of [50, 2_000]) {
    const answers = new ResponseCache();
    const { hot } = answer();
    for (let i = 0; i < 30_000; i++) answers.set(`${i} `.padEnd(length, 'x'), hot);
    t.ok(answers.count > 5_000 && answers.count < 25_000, `${answers.count} of ${length}`);
    t.ok(answers.bytes <= 24 * 1024 * 1024);
  }
  t.end();
});
