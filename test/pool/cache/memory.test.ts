import fc from 'fast-check';
import t from 'tap';
import { MemoryCache } from '../../../pool/cache/image-caches.ts';
import { picture, toKey } from './pictures.ts';

/** Returns a cache and its reported hits. */
function recorded(maxBytes: number) {
  const hits: string[] = [];
  return { cache: new MemoryCache(maxBytes, (key) => hits.push(key)), hits };
}

t.test('evicts the least recently used entries at the byte limit', async (t) => {
  const { cache } = recorded(108 * 1_024);
  for (const key of ['a', 'b', 'c']) cache.set(key, picture(15_000), 0);
  t.ok(cache.get('a', 10_000), 'a is used again');
  for (const key of ['d', 'e']) cache.set(key, picture(15_000), 20_000);
  t.equal(cache.set('large', picture(108 * 1_024), 20_000), null, 'an image that is too large');
  const found = ['a', 'b', 'c', 'd', 'e', 'large'].filter((key) => cache.get(key, 30_000));
  t.same(found, ['a', 'c', 'd', 'e']);
});

t.test('keeps some images of a project when another project fills the cache', async (t) => {
  const { cache } = recorded(64 * 26_624);
  const keys = (project: string, count: number) =>
    Array.from({ length: count }, (_, i) => toKey(project).slice(0, 16) + toKey(`${i}`).slice(16));
  const own = keys('own', 6);
  for (const key of own) cache.set(key, picture(15_000), 0);
  for (const key of keys('other', 500)) cache.set(key, picture(15_000), 0);
  t.same(
    own.filter((key) => cache.get(key, 0)),
    own,
  );
  t.ok(cache.count >= 64);
});

t.test('counts the overhead of small images', async (t) => {
  const { cache } = recorded(1_024 * 1_024);
  for (let i = 0; i < 5_000; i++) cache.set(String(i), picture(1), 0);
  t.ok(cache.count < 100, `${cache.count} images`);
  t.ok(cache.bytes >= cache.count * 10_000);
});

t.test('disables a zero-byte cache', async (t) => {
  const { cache, hits } = recorded(0);
  t.equal(cache.set('a', picture(1), 0), null);
  t.equal(cache.get('a', 0), null);
  t.same([cache.bytes, cache.count, cache.maxBytes], [0, 0, 0]);
  t.same(hits, []);
});

t.test('reports hits once a second per key', async (t) => {
  const { cache, hits } = recorded(100_000);
  cache.set('a', picture(1), 1_000);
  cache.set('b', picture(1), 1_000);
  for (const now of [1_000, 1_500, 1_999]) cache.get('a', now);
  t.same(hits, []);
  for (const now of [2_000, 2_001, 2_999]) cache.get('a', now);
  cache.get('b', 2_500);
  t.same(hits, ['a', 'b']);
  cache.get('a', 3_000);
  t.same(hits, ['a', 'b', 'a']);
});

t.test('counts a hit and updates the recency on touch', async (t) => {
  const { cache, hits } = recorded(32_768);
  const entry = cache.set('a', picture(3_000), 0);
  cache.set('b', picture(3_000), 0);
  if (entry === null) throw new Error('the image was not stored');
  cache.touch(entry, 500);
  t.same(hits, []);
  cache.touch(entry, 1_500);
  t.same(hits, ['a']);
  cache.set('c', picture(3_000), 1_600);
  t.ok(entry.image, 'b was evicted instead');
  t.equal(cache.get('b', 1_600), null);
});

t.test('respects the limit, and returns images only for stored entries', async () => {
  const action = fc.record({
    key: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    bytes: fc.option(fc.integer({ min: 0, max: 25_000 })),
    elapsed: fc.integer({ min: 0, max: 2_000 }),
  });
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
      const { cache } = recorded(20_000);
      const entries = new Map<string, ReturnType<typeof cache.set>[]>();
      let now = 0;
      for (const { key, bytes, elapsed } of actions) {
        now += elapsed;
        if (bytes === null) cache.get(key, now);
        else {
          const entry = cache.set(key, picture(bytes), now);
          entries.set(key, [...(entries.get(key) ?? []), entry]);
        }
      }
      return (
        [...entries].every(([key, made]) => {
          const found = cache.get(key, now);
          const holding = made.filter((entry) => entry?.image != null);
          return found === null
            ? holding.length === 0
            : holding.length === 1 && holding[0] === found;
        }) && cache.bytes <= 20_000
      );
    }),
  );
});
