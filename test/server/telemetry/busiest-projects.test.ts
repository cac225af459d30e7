import t from 'tap';
import { BusiestProjects } from '../../../server/telemetry/busiest-projects.ts';
import { RequestCounts } from '../../../server/usage/request-counts.ts';
import { UsageTotals } from '../../../server/usage/usage-totals.ts';

const counted = (requests: Readonly<Record<string, number>>) => {
  const totals = new UsageTotals(Date.now);
  for (const [project, count] of Object.entries(requests)) {
    const counts = new RequestCounts(project);
    totals.list(counts);
    counts.live.tiers.miss += count;
  }
  return totals.takeReport();
};

/** Returns the misses per series. */
const readSeries = (projects: BusiestProjects): Record<string, number> =>
  Object.fromEntries(projects.series().map(([project, counts]) => [project, counts.miss]));

t.test('gives the busiest projects separate series, and never decreases a series', async (t) => {
  const projects = new BusiestProjects(2);
  projects.add(counted({ a: 5, b: 3, c: 1 }));
  t.same(readSeries(projects), { a: 5, b: 3, other: 1 });
  projects.add(counted({ c: 4 }));
  projects.reassign();
  t.same(
    readSeries(projects),
    { a: 5, b: 3, other: 5 },
    'a slightly busier project does not replace it',
  );
  projects.add(counted({ c: 20 }));
  projects.reassign();
  t.same(readSeries(projects), { a: 5, c: 0, other: 25 }, 'c counts from now on');
  projects.add(counted({ a: 1, b: 2, c: 3 }));
  t.same(readSeries(projects), { a: 6, c: 3, other: 27 });
});

t.test('limits the series, and keeps the series of the busiest projects', async (t) => {
  const projects = new BusiestProjects();
  for (let round = 0; round < 5; round++) {
    const once: Record<string, number> = {};
    for (let i = 0; i < 1_500; i++) once[`r${round}-${i}`] = 1;
    projects.add(counted({ ...once, busy: 40 }));
    projects.reassign();
  }
  const series = readSeries(projects);
  t.equal(Object.keys(series).length, 101);
  t.ok('busy' in series, 'despite 100 earlier projects');
});

t.test('limits the projects in a report', async (t) => {
  const many = Array.from({ length: 5_000 }, (_, i) => [`p${i}`, 1]);
  const counts = counted(Object.fromEntries(many));
  t.equal(counts.size, 2_001);
  t.equal(counts.get('')?.miss, 3_000);
});
