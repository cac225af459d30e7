import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { load, ofClass } from '../load/load.ts';
import { peak } from '../load/peak.ts';
import { script } from '../servers/launch.ts';
import { residentMiB } from '../servers/server.ts';
import { type Service, startService } from '../servers/service.ts';
import { figure, ratios, spread } from './rounds.ts';
import { cacheFolder, entryBytes, fits, writeEntries } from './scale/entries.ts';
import type { IndexFigures } from './scale/index-probe.ts';
import { compareProjects } from './scale/projects.ts';
import { type Bench, scenario, unused } from './scenario.ts';
import { quality } from './sources.ts';

type ScaleBench = Bench<'hits' | 'misses' | 'start' | 'index' | 'eviction' | 'projects'>;

const connections = 32;
const scanWithinMs = 600_000;
/** A step that would take longer, as the one before it took, is left out. */
const stepWithinMs = 6 * 60_000;

/** What was measured with as many entries. */
interface Step extends IndexFigures {
  readonly healthyS: number;
  /** Until health shows all entries, s. */
  readonly knownS: number;
  readonly hits: number;
  readonly misses: number;
  readonly primaryMiB: number;
}

export const scale = scenario({
  title: 'Scale',
  about:
    'The cost of a hit and a miss, the start, and the index of the disk cache with many entries on the disk, which are small but intact; and hits of a thousand URLs of one project or of a thousand.',
  measures: {
    hits: {
      name: 'hits',
      what: 'hits per second with the most entries, of those with the fewest',
      unit: '×',
      goal: null,
    },
    misses: {
      name: 'misses',
      what: 'misses per second with the most entries, of those with the fewest',
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
    await entries(bench, bench.quick ? [1_000, 5_000] : [1_000, 10_000, 100_000, 1_000_000]);
    const rates = await compareProjects(bench, bench.quick ? 100 : 1_000, connections);
    const detail = `${spread(rates.many)}/s, one project ${spread(rates.one)}/s`;
    bench.finding('projects', rates.of, ratios(rates.many, rates.one), detail);
  },
});

async function entries(bench: ScaleBench, counts: readonly number[]): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'image-delivery-scale-'));
  const folder = cacheFolder(dataDir);
  const steps: Step[] = [];
  try {
    let written = 0;
    let lastMs = 0;
    for (const count of counts) {
      if (!(await fits(dataDir, count))) {
        bench.note(`The disk has too little room for ${count} entries.`);
        break;
      }
      if (lastMs * (count / written) > stepWithinMs) {
        bench.note(`${count} entries would take too long on this machine.`);
        break;
      }
      const startedAt = performance.now();
      bench.progress(`${count} entries`);
      await writeEntries(folder, written, count);
      written = count;
      const probe = await probeIndex(folder);
      // The rest of a step takes the same time with any number of entries.
      lastMs = performance.now() - startedAt;
      steps.push({ ...probe, ...(await stepOf(bench, dataDir, probe.entries)) });
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
  report(bench, steps);
}

async function stepOf(bench: ScaleBench, dataDir: string, count: number) {
  const startedAt = performance.now();
  // Its default limit, were it smaller, would evict most of them.
  const settings = { SERVICE_DISK_CACHE_BYTES: String(2 ** 40) };
  const service = await bench.open(startService(settings, { dataDir }));
  // The probe has evicted a tenth.
  await untilKnown(service, 0.9 * count * entryBytes);
  const knownS = (performance.now() - startedAt) / 1_000;
  const { small } = bench.sources;
  const url = service.imageUrl({ source: small.url, width: small.width, format: 'jpeg', quality });
  const seconds = bench.seconds;
  const planned = { name: 'misses', url, first: unused(), clients: 4 * bench.cores };
  const result = await load({ seconds: seconds + 0.3, warmupS: 0.3, classes: [planned] });
  const misses = ofClass(result, 'misses').goodput;
  const { perSecond: hits } = await peak({
    ...{ seconds, connections, cpus: null },
    class: { name: 'hits', url, first: 0, count: 1 },
  });
  const primaryMiB = await residentMiB(service.pid ?? 0);
  await service.close();
  const healthyS = (service.healthyMs ?? Number.NaN) / 1_000;
  return { healthyS, knownS, hits, misses, primaryMiB };
}

async function untilKnown({ deployment }: Service, bytes: number): Promise<void> {
  const deadline = Date.now() + scanWithinMs;
  while ((await deployment.health()).checks.cache.diskSizeBytes < bytes) {
    if (Date.now() > deadline) throw new Error('the service does not find its disk cache');
    await new Promise((waited) => setTimeout(waited, 20));
  }
}

async function probeIndex(folder: string): Promise<IndexFigures> {
  const [program = '', ...args] = script('./scale/index-probe', import.meta.url);
  const child = spawn(program, [...args, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  return (await json(child.stdout)) as IndexFigures;
}

function report(bench: ScaleBench, steps: readonly Step[]): void {
  const [first, last] = [steps[0], steps.at(-1)];
  if (first === undefined || last === undefined) return;
  const of = `${last.entries} entries`;
  const rates = (key: 'hits' | 'misses') =>
    `${figure(last[key])}/s, with ${first.entries} ${figure(first[key])}/s`;
  bench.finding('hits', of, [last.hits / first.hits], rates('hits'));
  bench.finding('misses', of, [last.misses / first.misses], rates('misses'));
  bench.finding('start', of, [last.healthyS], `all entries known after ${figure(last.knownS)} s`);
  bench.finding('index', of, [last.bytesPerEntry], `scan of ${figure(last.scanMs)} ms`);
  bench.finding('eviction', of, [last.evictionUs / 1_000], '');
  const columns: ReadonlyArray<readonly [string, (step: Step) => number]> = [
    ['healthy, s', ({ healthyS }) => healthyS],
    ['all entries known, s', ({ knownS }) => knownS],
    ['scan alone, ms', ({ scanMs }) => scanMs],
    ['index, bytes per entry', ({ bytesPerEntry }) => bytesPerEntry],
    ['eviction, µs per entry', ({ evictionUs }) => evictionUs],
    ['RSS of all processes, MiB', ({ primaryMiB }) => primaryMiB],
    ['hits/s', ({ hits }) => hits],
    ['misses/s', ({ misses }) => misses],
  ];
  bench.table({
    title: 'Entries of the disk cache',
    rows: [
      ['entries', ...columns.map(([head]) => head)],
      ...steps.map((step) => [String(step.entries), ...columns.map(([, of]) => figure(of(step)))]),
    ],
  });
  const positions = steps.map((step) => step.entries);
  bench.chart({
    name: 'scale',
    title: 'Scale, by entries of the disk cache',
    axis: {
      positions,
      logarithmic: true,
      ticks: positions.map((at) => ({ at, label: String(at) })),
    },
    panels: columns.map(([title, of]) => ({
      title,
      series: [{ name: '', values: steps.map(of) }],
    })),
  });
}
