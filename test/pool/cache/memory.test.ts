import fc from 'fast-check';
import t from 'tap';
import { MemoryCache } from '../../../pool/cache/memory.ts';
import { picture } from './pictures.ts';

/** A cache and its reported hits. */
function recorded(maxBytes: number) {
  const hits: string[] = [];
  return { cache: new MemoryCache(maxBytes, (key) => hits.push(key)), hits };
}

t.test('only stored keys are found', async (t) => {
  const { cache } = recorded(100_000);
  const image = picture(10);
  const entry = cache.set('a', image, 0);
  t.equal(entry?.image, image);
  t.equal(cache.get('a', 0), entry);
  t.equal(cache.get('b', 0), null);
  t.equal(cache.count, 1);
});

t.test('the least recently used entries are evicted at the byte limit', async (t) => {
  const { cache } = recorded(64 * 1_024);
  for (const key of ['a', 'b', 'c']) cache.set(key, picture(15_000), 0);
  t.ok(cache.get('a', 10_000), 'a is used again');
  for (const key of ['d', 'e']) cache.set(key, picture(15_000), 20_000);
  t.ok(cache.bytes <= 64 * 1_024);
  t.ok(cache.get('a', 30_000));
  t.equal(cache.get('b', 30_000), null);
  t.ok(cache.get('e', 30_000));
});

t.test('the overhead of small images counts', async (t) => {
  const { cache } = recorded(1_024 * 1_024);
  for (let i = 0; i < 5_000; i++) cache.set(String(i), picture(1), 0);
  t.ok(cache.count < 2_000, `${cache.count} images`);
  t.ok(cache.bytes >= cache.count * 200);
});

t.test('an evicted or replaced entry releases its bytes', async (t) => {
  const { cache } = recorded(10_000);
  const first = cache.set('a', picture(5_000), 0);
  const second = cache.set('b', picture(5_000), 0);
  t.equal(first?.image, null, 'evicted');
  t.ok(second?.image);
  const third = cache.set('b', picture(4_000, 'other'), 0);
  t.equal(second?.image, null, 'replaced');
  t.equal(cache.get('b', 0), third);
  t.equal(third?.image?.body.byteLength, 4_000);
});

t.test('an image that is too large is not stored and evicts nothing', async (t) => {
  const { cache } = recorded(10_000);
  cache.set('a', picture(2_000), 0);
  t.equal(cache.set('b', picture(10_001), 0), null);
  t.equal(cache.get('b', 0), null);
  t.ok(cache.get('a', 0));
});

t.test('a cache of 0 bytes is disabled', async (t) => {
  const { cache, hits } = recorded(0);
  t.equal(cache.set('a', picture(1), 0), null);
  t.equal(cache.get('a', 0), null);
  t.same([cache.bytes, cache.count, cache.maxBytes], [0, 0, 0]);
  t.same(hits, []);
});

t.test('hits are reported once a second for each key', async (t) => {
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

t.test('touch counts a hit and updates the recency', async (t) => {
  const { cache, hits } = recorded(10_000);
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

t.test('the limit holds, and only stored entries have images', async () => {
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
