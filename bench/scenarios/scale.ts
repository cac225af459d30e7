import { spawn } from 'node:child_process';
import { json } from 'node:stream/consumers';
import { peak } from '../load/peak.ts';
import { script } from '../servers/launch.ts';
import { residentMiB } from '../servers/server.ts';
import { type Service, startService } from '../servers/service.ts';
import { rendered } from './rendering.ts';
import { alternate, figure, median, ratios, spread } from './rounds.ts';
import { cacheFolder, entryBytes, fits, writeEntries } from './scale/entries.ts';
import type { IndexFigures } from './scale/index-probe.ts';
import { compareProjects } from './scale/projects.ts';
import { type Bench, scenario, unused } from './scenario.ts';
import { quality } from './sources.ts';
import { temporaryFolder } from './temporary-folder.ts';

type ScaleBench = Bench<'hits' | 'misses' | 'start' | 'index' | 'eviction' | 'projects'>;

const connections = 32;
/** Of each step. */
const mostRounds = 3;
const scanWithinMs = 600_000;
/** A step that would take longer, as the one before it took, is left out. */
const stepWithinMs = 6 * 60_000;

/** What was measured with as many entries. */
interface Step extends IndexFigures {
  readonly count: number;
  readonly healthyS: number;
  /** Until health shows all entries, s. */
  readonly knownS: number;
  /** Per second, one for each round. */
  readonly hits: readonly number[];
  readonly misses: readonly number[];
  /** Of a service without entries, in the same rounds. */
  readonly emptyHits: readonly number[];
  readonly emptyMisses: readonly number[];
  readonly residentMiB: number;
}

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

async function stepOf(bench: ScaleBench, dataDir: string, count: number) {
  const startedAt = performance.now();
  // Its default limit, were it smaller, would evict most of them.
  const settings = { SERVICE_DISK_CACHE_BYTES: String(2 ** 40) };
  const service = await bench.open(startService(settings, { dataDir }));
  await untilKnown(service, count * entryBytes);
  const knownS = (performance.now() - startedAt) / 1_000;
  // As new as the other, whose first images take longer than later ones.
  const empty = await bench.open(startService());
  const { small } = bench.sources;
  const urlOf = ({ imageUrl }: Service) =>
    imageUrl({ source: small.url, width: small.width, format: 'jpeg', quality });
  const missesOf = (one: Service) => async () =>
    (await rendered(bench, one, { url: urlOf(one), first: unused() })).perSecond;
  const hitsOf = (one: Service) => async () => {
    const planned = { name: 'hits', url: urlOf(one), first: 0, count: 1 };
    const { seconds } = bench;
    return (await peak({ seconds, connections, cpus: null, class: planned })).perSecond;
  };
  const rates = await alternate(bench.quick ? 1 : Math.min(mostRounds, bench.rounds), {
    misses: missesOf(service),
    emptyMisses: missesOf(empty),
    hits: hitsOf(service),
    emptyHits: hitsOf(empty),
  });
  const { hits = [], misses = [], emptyHits = [], emptyMisses = [] } = rates;
  const resident = await residentMiB(service.pid ?? 0);
  await service.close();
  await empty.close();
  const healthyS = (service.healthyMs ?? Number.NaN) / 1_000;
  const measured = { healthyS, knownS, hits, misses, emptyHits, emptyMisses };
  return { ...measured, residentMiB: resident };
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
  const last = steps.at(-1);
  if (last === undefined) return;
  const of = `${last.count} entries`;
  const rates = (key: 'hits' | 'misses', other: 'emptyHits' | 'emptyMisses') =>
    `${spread(last[key])}/s, without entries ${spread(last[other])}/s`;
  bench.finding('hits', of, ratios(last.hits, last.emptyHits), rates('hits', 'emptyHits'));
  const misses = ratios(last.misses, last.emptyMisses);
  bench.finding('misses', of, misses, rates('misses', 'emptyMisses'));
  bench.finding('start', of, [last.healthyS], `all entries known after ${figure(last.knownS)} s`);
  const scan = `scan of ${figure(last.scanMs / 1_000)} s`;
  bench.finding('index', of, [last.bytesPerEntry], scan);
  bench.finding('eviction', of, [last.evictionUs / 1_000], '');
  const columns: ReadonlyArray<readonly [string, (step: Step) => number]> = [
    ['healthy, s', ({ healthyS }) => healthyS],
    ['all entries known, s', ({ knownS }) => knownS],
    ['scan alone, s', ({ scanMs }) => scanMs / 1_000],
    ['index, bytes per entry', ({ bytesPerEntry }) => bytesPerEntry],
    ['eviction, µs per entry', ({ evictionUs }) => evictionUs],
    ['RSS of all processes, MiB', (step) => step.residentMiB],
    ['hits/s', ({ hits }) => median(hits)],
    ['of those without entries', ({ hits, emptyHits }) => median(ratios(hits, emptyHits))],
    ['misses/s', (step) => median(step.misses)],
    ['of those without', (step) => median(ratios(step.misses, step.emptyMisses))],
  ];
  bench.table({
    title: 'Entries of the disk cache',
    rows: [
      ['entries', ...columns.map(([head]) => head)],
      ...steps.map((step) => [String(step.count), ...columns.map(([, of]) => figure(of(step)))]),
    ],
  });
  if (steps.length < 2) return;
  const positions = steps.map((step) => step.count);
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
