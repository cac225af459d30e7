import t from 'tap';
import {
  joinPurges,
  maxPurgedSources,
  type Purges,
  renewBelow,
  withPurge,
} from '../../store/purges.ts';

t.test('a number never repeats, even when the clock is set back', async (t) => {
  const first = withPurge(undefined, ['a'], 1_000);
  t.same(first, { last: 1_000, all: 0, sources: { a: 1_000 } });
  t.equal(withPurge(first, ['a'], 1_000).last, 1_001, 'in the same millisecond');
  t.equal(withPurge(first, ['a'], 5).last, 1_001, 'after a step back');
  // The purges after the backup are unknown; the clock has gone on.
  t.equal(withPurge(undefined, ['a'], 2_000).last, 2_000, 'after a restored backup');
});

t.test('a purge of all images makes those of sources superfluous', async (t) => {
  const purges = withPurge(withPurge(undefined, ['a', 'b'], 10), null, 20);
  t.same(purges, { last: 20, all: 20, sources: {} });
  t.same(withPurge(purges, ['a'], 30), { last: 30, all: 20, sources: { a: 30 } });
});

t.test('old purges of sources become a purge of all images, and none is lost', async (t) => {
  let purges: Purges | undefined;
  const numbers = new Map<string, number>();
  for (let at = 1; at <= 50; at += 1) {
    const tags = Array.from({ length: 100 }, (_, index) => `${at}-${index}`);
    purges = withPurge(purges, tags, at * 10);
    for (const tag of tags) numbers.set(tag, at * 10);
    t.ok(Object.keys(purges.sources).length <= maxPurgedSources);
    const { all, sources } = purges;
    const missing = [...numbers].filter(
      ([tag, number]) => number > Math.max(all, sources[tag] ?? 0),
    );
    t.same(missing, [], 'every purge is in effect');
    if (at > 10) t.ok(renewBelow(purges) > all, 'images are stamped anew before');
  }
  t.equal(purges?.all, 400, 'the others are remembered by source');
});

t.test('the purges of two stores are joined so that none is undone', async (t) => {
  const a = withPurge(undefined, ['a'], 100);
  t.equal(joinPurges(undefined, a, 500), a);
  t.equal(joinPurges(a, undefined, 500), a);
  const more = withPurge(a, ['b'], 200);
  t.equal(joinPurges(a, more, 500), more, 'those of a store that was not purged meanwhile');
  t.equal(joinPurges(more, a, 500), more);

  // An image of b that was fetched with the number 300 may be from before the purge of b.
  const own = withPurge(a, ['c'], 300);
  const joined = joinPurges(own, more, 500);
  t.same(joined, { last: 500, all: 0, sources: { a: 100, b: 500, c: 300 } });
  t.equal(joinPurges(joined, more, 600), joined, 'once');
  const all = withPurge(a, null, 200);
  t.same(joinPurges(own, all, 500), { last: 500, all: 500, sources: {} });
  t.equal(joinPurges(all, a, 500), all, 'a purge of all images concerns those of each source');
  t.same(joinPurges(own, more, 7), { last: 301, all: 0, sources: { a: 100, b: 301, c: 300 } });
});
