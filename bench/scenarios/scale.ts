import { ratios, spread } from './rounds.ts';
import { cacheFolder, fits, writeEntries } from './scale/entries.ts';
import { compareProjects } from './scale/projects.ts';
import { report, type ScaleBench } from './scale/report.ts';
import { connections, probeIndex, type Step, stepOf } from './scale/step.ts';
import { scenario } from './scenario.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** A step that would take longer, as the one before it took, is left out. */
const stepWithinMs = 6 * 60_000;

export const scale = scenario({
  title: 'Scale',
  about:
    'The cost of a hit and a miss, the start, and the index of the disk cache with many entries on the disk, which are small but intact, beside a service without any in the same rounds; and hits of a thousand URLs of one project or of a thousand.',
  measures: {
    hits: {
      name: 'hits',
      what: 'hits per second with the most entries, of those of a service without entries',
      unit: '×',
      goal: null,
    },
    misses: {
      name: 'misses',
      what: 'misses per second with the most entries, of those of a service without entries',
      unit: '×',
      goal: null,
    },
    start: {
      name: 'first healthy answer',
      what: 'to the first healthy answer with the most entries',
      unit: 's',
      goal: null,
    },
    index: {
      name: 'index per entry',
      what: 'memory of the index for each entry',
      unit: 'bytes',
      goal: null,
    },
    eviction: {
      name: 'eviction of an entry',
      what: 'time to evict an entry',
      unit: 'ms',
      goal: null,
    },
    projects: {
      name: 'hits of many projects',
      what: 'hits per second of many projects, of those of one',
      unit: '×',
      goal: null,
    },
  },
  async run(bench) {
    await entries(bench, bench.quick ? [3_000] : [1_000, 10_000, 100_000, 1_000_000]);
    const rates = await compareProjects(bench, bench.quick ? 100 : 1_000, connections);
    const detail = `${spread(rates.many)}/s, one project ${spread(rates.one)}/s`;
    bench.finding('projects', rates.of, ratios(rates.many, rates.one), detail);
  },
});

async function entries(bench: ScaleBench, counts: readonly number[]): Promise<void> {
  const data = await bench.open(temporaryFolder('scale'));
  const folder = cacheFolder(data.path);
  const steps: Step[] = [];
  let [written, present, lastMs] = [0, 0, 0];
  for (const count of counts) {
    if (!(await fits(data.path, count))) {
      bench.note(`The disk has too little room for ${count} entries.`);
      break;
    }
    if (lastMs * (count / Math.max(1, present)) > stepWithinMs) {
      bench.note(`${count} entries would take too long on this machine.`);
      break;
    }
    bench.progress(`${count} entries`);
    const startedAt = performance.now();
    const until = written + count - present;
    await writeEntries(folder, written, until, data.signal);
    written = until;
    const writtenAt = performance.now();
    const measured = await stepOf(bench, data.path, count);
    const measuredAt = performance.now();
    const probe = await probeIndex(folder);
    present = probe.left;
    steps.push({ ...probe, ...measured, count });
    // The service's part takes about the same time with any number of entries.
    lastMs = performance.now() - measuredAt + (writtenAt - startedAt);
  }
  report(bench, steps);
  await data.close();
}
