import t from 'tap';
import { maxPurgedSources, type Purges, renewBelow, withPurge } from '../../store/purges.ts';

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
