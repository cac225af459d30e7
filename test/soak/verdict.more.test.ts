import t from 'tap';
import { sampleProcesses } from './processes.ts';
import { growths, replacedFrontEnds, type Sample } from './verdict.ts';

const figures = { requests: 1, hitRate: 1, overloaded: 0 };
const times = { hitP50Ms: 1, hitP99Ms: 1, missP50Ms: 1, missP99Ms: 1 };
const caches = { memoryCacheBytes: 0, diskCacheBytes: 0 };

/** Returns one sample per second, with a single process of the given bytes. */
const samples = (bytes: readonly number[], pid = (_second: number) => 1): Sample[] =>
  bytes.map((rssBytes, index) => ({
    atS: index + 1,
    processes: [{ pid: pid(index), role: 'front end', rssBytes, descriptors: 1 } as const],
    ...figures,
    ...times,
    ...caches,
  }));

t.test('compares the last two thirds', async (t) => {
  const flat = (bytes: readonly number[]) => growths(samples(bytes)).map((growth) => growth.flat);
  t.same(flat([1, 50, 100, 100, 100, 100, 100, 104, 104]), [true, true]);
  t.same(flat([1, 50, 100, 100, 100, 110, 110, 110, 110]), [false, false]);
  t.same(flat([100, 100, 100, 100, 100, 90, 90, 90, 90]), [false, false]);
});

t.test('counts a transform process only in the sum', async (t) => {
  const drawn = samples([100, 100, 100, 100, 100, 200, 200, 200, 200]).map((sample) => ({
    ...sample,
    processes: sample.processes.map((member) => ({
      ...member,
      role: 'transform process' as const,
    })),
  }));
  t.match(growths(drawn), [{ what: 'all', flat: false }]);
  t.equal(growths(drawn).length, 1);
});

t.test('counts replaced front ends', async (t) => {
  const bytes = new Array<number>(9).fill(100);
  const replaced = samples(bytes, (second) => (second < 5 ? 1 : 2));
  t.equal(replacedFrontEnds(replaced), 1);
  t.equal(replacedFrontEnds(samples(bytes)), 0);
  t.same(
    growths(samples(bytes, (second) => (second < 3 ? 1 : 2))).map(({ what }) => what),
    ['all', 'front end 2'],
    'without one that ended in the first third',
  );
});

t.test('reads processes from /proc', { skip: process.platform !== 'linux' }, async (t) => {
  const [own] = await sampleProcesses(process.pid, null);
  t.match(own, { pid: process.pid, role: 'primary' });
  t.ok((own?.rssBytes ?? 0) > 10e6 && (own?.descriptors ?? 0) > 2);
});
