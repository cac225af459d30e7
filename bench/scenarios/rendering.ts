import sharp from 'sharp';
import { photographs } from '../../demo/origin/photographs.ts';
import { loadOne } from '../load/load.ts';
import {
  alternateServers,
  geometricMean,
  known,
  type Measures,
  median,
  type Results,
  ratios,
  spread,
  valuesOf,
} from '../report.ts';
import { temporaryFolder } from '../resources.ts';
import { processorMs } from '../servers/launch.ts';
import { hasMinimal, minimalName } from '../servers/minimal.ts';
import type { EncodedFormat, ImageServer } from '../servers/server.ts';
import { type Bench, type SourcePicture, toImageUrl, unusedNumber } from './bench.ts';

/** With fewer, a rate depends on where its window ends. */
const minImages = 10;

/** A server's figures in a round. */
export interface Rendering {
  readonly perSecond: number;
  readonly bytes: number;
  /** Per image; NaN if the server's process is unknown. */
  readonly processorMs: number;
}

/** A source's images in a format. */
export interface RenderedCase {
  readonly name: string;
  readonly source: SourcePicture;
  readonly format: EncodedFormat;
  /** By server name; the requested quality for others. */
  readonly qualities?: ReadonlyMap<string, number>;
}

/** Returns each round's figures, by server name. */
export function measureCase(
  bench: Pick<Bench, 'seconds' | 'cores' | 'rounds'>,
  renderedCase: RenderedCase,
  servers: readonly ImageServer[],
): Promise<Record<string, Rendering[]>> {
  return alternateServers(bench.rounds, servers, (server) =>
    measureMisses(bench, server, renderedCase),
  );
}

/** A closed loop of misses. */
async function measureMisses(
  bench: Pick<Bench, 'seconds' | 'cores'>,
  server: ImageServer,
  { source, format, qualities }: RenderedCase,
): Promise<Rendering> {
  const warmupS = Math.min(1, bench.seconds / 4);
  const url = toImageUrl(server, source, format, qualities?.get(server.name));
  const clients = 4 * bench.cores;
  const planned = { url, first: unusedNumber(), clients, atLeast: minImages };
  const usedMs = () => (server.pid === null ? Number.NaN : processorMs(server.pid));
  const before = await usedMs();
  const plan = { seconds: bench.seconds + warmupS, warmupS };
  const { goodput, all, meanBytes } = await loadOne(planned, plan, ['miss', 'refused']);
  const perSecond = goodput === 0 ? Number.NaN : goodput;
  return { perSecond, bytes: meanBytes, processorMs: ((await usedMs()) - before) / all };
}

/** Prefix of a case's measures: photographs have separate goals. */
export type Kind = '' | 'photograph, ';
export type Comparison = 'of minimal' | 'of the fastest other';

/**
 * Reports a case.
 * @param found each round's figures, by server name
 */
export function reportCase<K extends Kind>(
  results: Results<`${K}${Comparison | 'processor time, of minimal'}`>,
  kind: K,
  caseName: string,
  found: Readonly<Record<string, readonly Rendering[]>>,
): void {
  const rates = (name: string) => valuesOf(found, name, 'perSecond');
  const times = (name: string) => valuesOf(found, name, 'processorMs');
  const compareRates = (comparison: Comparison, name: string) => {
    const theirs = { name, values: rates(name) };
    results.ratio(`${kind}${comparison}`, caseName, rates('service'), theirs, '/s');
  };
  if (hasMinimal) {
    compareRates('of minimal', minimalName);
    const theirs = { name: minimalName, values: times(minimalName) };
    const measure = `${kind}processor time, of minimal` as const;
    results.ratio(measure, caseName, times('service'), theirs, ' ms');
  }
  const others = Object.keys(found).filter((name) => !['service', minimalName].includes(name));
  const [fastest] = others
    .map((name) => ({ name, rate: median(known(rates(name))) }))
    .filter(({ rate }) => !Number.isNaN(rate))
    .sort((a, b) => b.rate - a.rate);
  if (fastest !== undefined) compareRates('of the fastest other', fastest.name);
  const ofMinimal = `of ${minimalName}`;
  const rows = Object.keys(found).map((name) => [
    name,
    spread(rates(name)),
    spread(ratios(rates(name), rates(minimalName))),
    spread(times(name)),
    spread(ratios(times(name), times(minimalName))),
    String(Math.round(median(valuesOf(found, name, 'bytes')))),
  ]);
  const heads = ['', 'images/s', ofMinimal, 'processor ms per image', ofMinimal, 'bytes'];
  results.table({ title: caseName, rows: [heads, ...rows] });
}

export const photographMeasures = {
  'photograph, of minimal': {
    what: 'misses per second of one photograph as cameras and phones write them, divided by those of the minimal server',
    unit: '×',
  },
  'photograph, of the fastest other': {
    what: 'the same, divided by those of the fastest other server',
    unit: '×',
    goal: { atLeast: 0.9 },
  },
  'photograph, processor time, of minimal': {
    what: 'processor time of a miss of one of them, divided by that of the minimal server',
    unit: '×',
  },
  'photographs, of minimal': {
    what: 'the geometric mean over the photographs, of the minimal server',
    unit: '×',
  },
  'photographs, of the fastest other': {
    what: 'the geometric mean over the photographs, of the fastest other server of each',
    unit: '×',
    goal: { atLeast: 1 },
  },
} as const satisfies Measures;

type PhotographsBench = Bench<keyof typeof photographMeasures>;

/** Short, because there are many. */
const most = { rounds: 2, seconds: 2 } as const;

/** The photographs of a quick run. */
const quickNames: readonly string[] = ['Display P3', 'scale 2.0'];

/** Creates the photographs, a photograph per table row. */
export async function makeCases({
  sources,
  quick,
}: Pick<Bench, 'sources' | 'quick'>): Promise<RenderedCase[]> {
  const folder = await temporaryFolder('photographs');
  try {
    const all = await photographs(folder.path);
    const cases: RenderedCase[] = [];
    for (const { name, width = 800, format = 'jpeg', make } of all) {
      if (quick && !quickNames.includes(name)) continue;
      const source = await sources.add(`photograph-${cases.length}`, await make(), width);
      cases.push({ name, format, source });
    }
    return cases;
  } finally {
    await folder.close();
  }
}

/** Measures the photographs next to the servers that deliver them upright. */
export async function comparePhotographs(
  bench: PhotographsBench,
  cases: readonly RenderedCase[],
  [service, ...others]: readonly [ImageServer, ...ImageServer[]],
): Promise<void> {
  const short = {
    ...bench,
    rounds: Math.min(bench.rounds, bench.quick ? 1 : most.rounds),
    seconds: Math.min(bench.seconds, most.seconds),
  };
  for (const renderedCase of cases) {
    const failure = await failureAt(service, renderedCase);
    if (failure !== null) throw new Error(`${service.name}: ${renderedCase.name}: ${failure}`);
    const measured: ImageServer[] = [];
    for (const other of others) {
      const reason = await failureAt(other, renderedCase);
      if (reason === null) measured.push(other);
      else bench.results.note(`${other.name} is not measured for ${renderedCase.name}: ${reason}.`);
    }
    const found = await measureCase(short, renderedCase, [service, ...measured]);
    reportCase(bench.results, 'photograph, ', renderedCase.name, found);
  }
  reportMean(bench, 'of minimal');
  reportMean(bench, 'of the fastest other');
}

/** Why a server's image is not the expected one; null if it is. */
export async function failureAt(
  server: ImageServer,
  { source, format }: RenderedCase,
): Promise<string | null> {
  const url = toImageUrl(server, source, format).replaceAll('{n}', String(unusedNumber()));
  const response = await fetch(url);
  const body = await response.arrayBuffer();
  if (!response.ok) return `its status is ${response.status}`;
  const { width, height } = await sharp(body).metadata();
  // Servers round the height in different ways.
  const isExpected = width === source.width && Math.abs(height - source.pixels / source.width) <= 1;
  return isExpected ? null : `its image has ${width} x ${height} px`;
}

/** Reports a comparison's mean per round, over the photographs that have a value. */
export function reportMean(
  { results }: Pick<PhotographsBench, 'results'>,
  comparison: Comparison,
): void {
  const measure = photographMeasures[`photograph, ${comparison}`];
  const ratios = results.findings
    .filter((finding) => finding.measure === measure)
    .map(({ values }) => values);
  const [first = []] = ratios;
  if (first.length === 0) return;
  const means = first.map((_, round) =>
    geometricMean(ratios.map((ratio) => ratio[round] ?? Number.NaN)),
  );
  results.finding(`photographs, ${comparison}`, `geometric mean of ${ratios.length}`, means);
}
