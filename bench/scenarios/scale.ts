import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { postProject } from '../call-api.ts';
import { loadOne } from '../load/load.ts';
import { peak } from '../load/peak.ts';
import type { ClosedClass } from '../load/plan.ts';
import { outputOf, script } from '../servers/launch.ts';
import { residentMiB } from '../servers/processes.ts';
import { type DeployedService, deployService } from '../servers/service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { measureMisses } from './rendering.ts';
import { alternate, figure, median, ratios } from './rounds.ts';
import { entryBytes, hasRoom, writeEntries } from './scale/entries.ts';
import type { IndexFigures } from './scale/index-probe.ts';
import { type Bench, type Measures, type Scenario, unusedNumber } from './scenario.ts';
import { imageUrlOf } from './sources.ts';

const measures = {
  hits: {
    what: 'hits per second with the most entries, divided by those of a service without entries',
    unit: '×',
  },
  misses: {
    what: 'misses per second with the most entries, divided by those of a service without entries',
    unit: '×',
  },
  'first healthy answer': {
    what: 'to the first healthy response with the most entries',
    unit: 's',
  },
  'index per entry': { what: 'memory of the index for each entry', unit: 'bytes' },
  'eviction of an entry': { what: 'time to evict an entry', unit: 'ms' },
  'hits of many projects': {
    what: 'hits per second of many projects, divided by those of one',
    unit: '×',
  },
} as const satisfies Measures;

type ScaleBench = Bench<keyof typeof measures>;

/** A step is skipped if it would take longer, as estimated from the one before. */
const stepWithinMs = 6 * 60_000;
const scanWithinMs = 600_000;
const connections = 32;

export const scale: Scenario = {
  title: 'Scale',
  method:
    'The cost of a hit and a miss, the start, and the index of the disk cache with many small but intact entries on the disk, beside a service without entries in the same rounds; and hits of a thousand URLs of one project or of a thousand.',
  measures,
  async run(bench) {
    await compareEntries(bench, bench.quick ? [3_000] : [1_000, 10_000, 100_000, 1_000_000]);
    await compareProjects(bench, bench.quick ? 100 : 1_000);
  },
};

/** The figures of one number of entries. */
interface Step extends IndexFigures {
  readonly count: number;
  readonly healthyS: number;
  /** Until health shows all entries, s. */
  readonly knownS: number;
  readonly residentMiB: number;
  /** Per second, one for each round. */
  readonly hits: readonly number[];
  readonly misses: readonly number[];
  /** Of a service without entries, in the same rounds. */
  readonly emptyHits: readonly number[];
  readonly emptyMisses: readonly number[];
}

async function compareEntries(bench: ScaleBench, counts: readonly number[]): Promise<void> {
  const data = await bench.open(temporaryFolder('scale'));
  const folder = join(data.path, 'cache');
  const steps: Step[] = [];
  let [written, present, lastMs] = [0, 0, 0];
  for (const count of counts) {
    if (!(await hasRoom(data.path, count))) {
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
    const writtenMs = performance.now() - startedAt;
    const measured = await measureEntries(bench, data.path, count);
    const probedAt = performance.now();
    const probe: IndexFigures = JSON.parse(
      await outputOf([...script('./scale/index-probe', import.meta.url), folder]),
    );
    present = probe.left;
    steps.push({ ...probe, ...measured });
    // Without the time of the service, which hardly depends on the number of entries.
    lastMs = writtenMs + performance.now() - probedAt;
  }
  report(bench, steps);
  await data.close();
}

/** Measures a service with this number of entries, and another one without entries. */
async function measureEntries(
  bench: ScaleBench,
  dataDir: string,
  count: number,
): Promise<Omit<Step, keyof IndexFigures>> {
  const startedAt = performance.now();
  // The default limit may be smaller, and would evict most of them.
  const settings = { SERVICE_DISK_CACHE_BYTES: String(2 ** 40) };
  const service = await bench.open(deployService(settings, { dataDir }));
  await untilKnown(service, count * entryBytes);
  const knownS = (performance.now() - startedAt) / 1_000;
  const empty = await bench.open(deployService());
  const misses = (one: DeployedService) => async () => {
    const url = imageUrlOf(one, bench.sources.small);
    return (await measureMisses(bench, one, { url, first: unusedNumber() })).perSecond;
  };
  const hits = (one: DeployedService) => () =>
    hitsPerSecond(bench, { url: imageUrlOf(one, bench.sources.small), count: 1 });
  const rates = await alternate(bench.quick ? 1 : Math.min(3, bench.rounds), {
    misses: misses(service),
    emptyMisses: misses(empty),
    hits: hits(service),
    emptyHits: hits(empty),
  });
  const resident = await residentMiB(service.pid ?? 0);
  await service.close();
  await empty.close();
  const healthyS = (service.healthyMs ?? Number.NaN) / 1_000;
  return { count, healthyS, knownS, residentMiB: resident, ...rates };
}

async function hitsPerSecond(
  { seconds }: ScaleBench,
  requests: Pick<ClosedClass, 'url' | 'count' | 'words'>,
): Promise<number> {
  const planned = { name: 'hits', first: 0, ...requests };
  return (await peak({ seconds, connections, cpus: null, class: planned })).perSecond;
}

async function untilKnown({ deployment }: DeployedService, bytes: number): Promise<void> {
  const deadline = Date.now() + scanWithinMs;
  while ((await deployment.health()).checks.cache.diskSizeBytes < bytes) {
    if (Date.now() > deadline) throw new Error('the service does not find its disk cache');
    await sleep(20);
  }
}

/** The findings are those of the most entries. */
function report(bench: ScaleBench, steps: readonly Step[]): void {
  const last = steps.at(-1);
  if (last === undefined) return;
  const caseName = `${last.count} entries`;
  const withoutEntries = (values: readonly number[]) => ({ name: 'without entries', values });
  bench.ratio('hits', caseName, last.hits, withoutEntries(last.emptyHits), '/s');
  bench.ratio('misses', caseName, last.misses, withoutEntries(last.emptyMisses), '/s');
  const known = `all entries known after ${figure(last.knownS)} s`;
  bench.finding('first healthy answer', caseName, [last.healthyS], known);
  const scan = `scan of ${figure(last.scanMs / 1_000)} s`;
  bench.finding('index per entry', caseName, [last.bytesPerEntry], scan);
  bench.finding('eviction of an entry', caseName, [last.evictionUs / 1_000], '');
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
  bench.chart({
    name: 'scale',
    title: 'Scale, by entries of the disk cache',
    logarithmic: true,
    ticks: steps.map(({ count }) => ({ at: count, label: String(count) })),
    panels: columns.map(([title, of]) => {
      const points = steps.map((step) => [step.count, of(step)] as const);
      return { title, series: [{ name: '', points }] };
    }),
  });
}

/** Compares hits of the same number of URLs of one project and of many. */
async function compareProjects(bench: ScaleBench, count: number): Promise<void> {
  const urls = bench.quick ? 100 : 1_000;
  const service = await bench.open(deployService({ SERVICE_API_RATE_LIMIT: '1000000' }));
  const { project, key } = service.deployment;
  const ids = [project];
  while (ids.length < count) ids.push(await postProject(service.url, key, `Bench ${ids.length}`));
  const template = imageUrlOf(service, bench.sources.small);
  const url = template.replace(`{n}?project=${project}`, '{n}');
  const wordsOf = (projects: readonly string[]) =>
    Array.from({ length: urls }, (_, n) => `${n}?project=${projects[n % projects.length]}`);
  const [ofOne, ofMany] = [wordsOf([project]), wordsOf(ids)];
  for (const words of [ofOne, ofMany]) {
    const planned = { name: 'warm', url, first: 0, count: urls, words, clients: 8, requests: urls };
    await loadOne(planned, { seconds: 120 });
  }
  const { one, many } = await alternate(bench.quick ? 1 : bench.rounds, {
    one: () => hitsPerSecond(bench, { url, count: urls, words: ofOne }),
    many: () => hitsPerSecond(bench, { url, count: urls, words: ofMany }),
  });
  const caseName = `${count} projects, ${urls} URLs`;
  bench.ratio('hits of many projects', caseName, many, { name: 'one project', values: one }, '/s');
}
