import fc from 'fast-check';
import { LRUCache } from 'lru-cache';
import t from 'tap';
import { FairLru } from '../../../pool/cache/fair-lru.ts';

/**
 * Maps a number from 0 to 1 to the index of an item, so that random numbers request items as often
 * as Zipf's law says.
 */
function zipf(count: number, exponent: number): (random: number) => number {
  const sums: number[] = [];
  for (let i = 1; i <= count; i += 1) sums.push((sums.at(-1) ?? 0) + i ** -exponent);
  return (random) => {
    const wanted = random * (sums.at(-1) ?? 0);
    let [low, high] = [0, count - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

/** Returns a project's cache key in the service's form. */
const toKey = (project: string, name: string | number) => `${project.padStart(16, '0')}-${name}`;

t.test('gives a lone project the whole cache, in the order of use', async (t) => {
  const cache = new FairLru<number>((bytes) => bytes);
  for (let i = 0; i < 100; i += 1) cache.set(toKey('a', i), 1);
  cache.use(toKey('a', 0));
  t.same(cache.evictTo(98), [toKey('a', 1), toKey('a', 2)]);
  t.same([cache.bytes, cache.count], [98, 98]);
  t.equal(cache.evictTo(0).length, 98);
});

t.test(
  'protects the guaranteed share of a project from requests for another project',
  async (t) => {
    const cache = new FairLru<number>((bytes) => bytes);
    for (let i = 0; i < 20; i += 1) cache.set(toKey('a', i), 1);
    for (let i = 0; i < 10_000; i += 1) {
      cache.set(toKey('b', i), 1);
      cache.evictTo(100);
    }
    const left = [...cache.keys()].filter((key) => key.startsWith(toKey('a', '')));
    t.equal(left.length, 12, 'an eighth of the cache, of two projects');
    t.same(
      left.sort(),
      Array.from({ length: 12 }, (_, i) => toKey('a', i + 8)).sort(),
      'those that were used last',
    );
    t.equal(cache.bytes, 100);
  },
);

t.test('evicts an entry larger than the cache', async (t) => {
  const cache = new FairLru<number>((bytes) => bytes);
  cache.set(toKey('a', 1), 10);
  cache.set(toKey('b', 1), 101);
  t.same(cache.evictTo(100), [toKey('b', 1)]);
  t.equal(cache.count, 1);
});

t.test('counts bytes and shares correctly after any changes', async () => {
  const project = fc.constantFrom('a', 'b', 'c');
  const name = fc.integer({ min: 0, max: 8 });
  const bytes = fc.option(fc.integer({ min: 1, max: 30 }), { nil: 0 });
  fc.assert(
    fc.property(fc.array(fc.tuple(project, name, bytes), { maxLength: 200 }), (changes) => {
      const removed: number[] = [];
      const cache = new FairLru<number>(
        (bytes) => bytes,
        (bytes) => removed.push(bytes),
      );
      const held = () => {
        const sums = new Map<string, number>();
        for (const key of cache.keys()) {
          const id = key.slice(0, 16);
          sums.set(id, (sums.get(id) ?? 0) + (cache.peek(key) ?? 0));
        }
        return sums;
      };
      return changes.every(([project, name, bytes]) => {
        if (bytes === 0) cache.delete(toKey(project, name));
        else cache.set(toKey(project, name), bytes);
        const before = held();
        const evicted = new Set(cache.evictTo(60).map((key) => key.slice(0, 16)));
        const after = held();
        const sum = [...after.values()].reduce((all, projectBytes) => all + projectBytes, 0);
        // During evictions the number of projects only falls, so the share only rises.
        const isKept = [...before].every(
          ([id, was]) => was > 60 / 4 / before.size || !evicted.has(id),
        );
        return isKept && sum === cache.bytes && cache.bytes <= 60;
      });
    }),
  );
});

t.test('loses few hits to shares', async (t) => {
  let state = 7;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  for (const [projects, exponent, images, capacity] of [
    [1_000, 1, 2_000, 100_000],
    [100, 1, 5_000, 20_000],
    [10, 2, 20_000, 500_000],
  ] as const) {
    const [project, image] = [zipf(projects, exponent), zipf(images, 0.9)];
    const fair = new FairLru<number>((bytes) => bytes);
    const plain = new LRUCache<string, number>({
      maxSize: capacity,
      sizeCalculation: (bytes) => bytes,
    });
    const hits = { fair: 0, plain: 0 };
    for (let request = 0; request < 200_000; request += 1) {
      const [owner, name] = [project(random()), image(random())];
      const key = toKey(String(owner), name);
      const bytes = 10 + ((name * 7_919 + owner * 104_729) % 90);
      if (plain.get(key) === undefined) plain.set(key, bytes);
      else hits.plain += 1;
      if (fair.has(key)) {
        hits.fair += 1;
        fair.use(key);
      } else {
        fair.set(key, bytes);
        fair.evictTo(capacity);
      }
    }
    const ratio = hits.fair / hits.plain;
    t.ok(ratio > 0.94, `${projects} projects: ${ratio.toFixed(3)} x the hits without shares`);
  }
});
