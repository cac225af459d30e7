import sharp from 'sharp';
import { photographs } from '../../demo/origin/photographs.ts';
import type { Measures } from '../report.ts';
import { figure, geometricMean, median, ratios, spread } from '../rounds.ts';
import { hasMinimal, minimalName } from '../servers/minimal.ts';
import type { ImageServer } from '../servers/server.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type Bench, unusedNumber } from './bench.ts';
import {
  bareName,
  fastestOf,
  measureCase,
  type RenderedCase,
  type Rendering,
} from './rendering.ts';
import { imageUrlOf } from './sources.ts';

export const photographMeasures = {
  'photograph, of the fastest other': {
    what: 'the same for one photograph as cameras and phones write them',
    unit: '×',
    goal: { atLeast: 0.9 },
  },
  'photographs, of the fastest other': {
    what: 'its geometric mean over these photographs',
    unit: '×',
    goal: { atLeast: 1 },
  },
  'photographs, of minimal': {
    what: 'misses per second of these photographs, divided by those of the minimal server: the geometric mean',
    unit: '×',
  },
} as const satisfies Measures;

type PhotographsBench = Bench<keyof typeof photographMeasures>;

/** Short, because there are many. */
const most = { rounds: 2, seconds: 2 } as const;

/** The photographs of a quick run. */
const quickNames: readonly string[] = ['Display P3', 'scale 2.0'];

/** Makes the photographs, one for each row of the table. */
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

/** Measures the photographs beside the servers that deliver them upright. */
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
  const found = new Map<string, Record<string, Rendering[]>>();
  for (const one of cases) {
    const failure = await failureAt(service, one);
    if (failure !== null) throw new Error(`${service.name}: ${one.name}: ${failure}`);
    const measured: ImageServer[] = [];
    for (const other of others) {
      const reason = await failureAt(other, one);
      if (reason === null) measured.push(other);
      else bench.results.note(`${other.name} is not measured for ${one.name}: ${reason}.`);
    }
    found.set(one.name, await measureCase(short, one, [service, ...measured]));
    bench.results.progress(`${one.name}: measured`);
  }
  reportPhotographs(bench, found);
}

/** Why a server's image is not the expected one; null if it is. */
async function failureAt(
  server: ImageServer,
  { source, format }: RenderedCase,
): Promise<string | null> {
  const url = imageUrlOf(server, source, format).replaceAll('{n}', String(unusedNumber()));
  const response = await fetch(url);
  const body = await response.arrayBuffer();
  if (!response.ok) return `its status is ${response.status}`;
  const { width, height } = await sharp(body).metadata();
  // Servers round the height in different ways.
  const isExpected = width === source.width && Math.abs(height - source.pixels / source.width) <= 1;
  return isExpected ? null : `its image has ${width} x ${height} px`;
}

/** @param found the figures of each round by the names of the servers, and of bare sharp, by photograph */
export function reportPhotographs(
  { results }: Pick<PhotographsBench, 'results'>,
  found: ReadonlyMap<string, Readonly<Record<string, Rendering[]>>>,
): void {
  const yardsticks = [bareName, ...(hasMinimal ? [minimalName] : [])];
  const names = [...new Set([...found.values()].flatMap(Object.keys))];
  const others = names.filter((name) => ![...yardsticks, 'service'].includes(name));
  const columns = ['service', ...yardsticks, ...others];
  const rows = [
    [
      '',
      ...columns,
      ...yardsticks.map((name) => `of ${name}`),
      'of the fastest other',
      'processor ms per image',
      `of ${minimalName}`,
    ],
  ];
  const ofMinimal: number[][] = [];
  const ofFastest: number[][] = [];
  for (const [name, servers] of found) {
    const rates = (of: string) => (servers[of] ?? []).map(({ perSecond }) => perSecond);
    const times = (of: string) => (servers[of] ?? []).map(({ processorMs }) => processorMs);
    const against = (of: string) => ratios(rates('service'), rates(of));
    const fastest = fastestOf(new Map(others.map((other) => [other, rates(other)])));
    if (fastest !== undefined) {
      ofFastest.push(against(fastest));
      const values = rates(fastest);
      const measure = 'photograph, of the fastest other';
      results.ratio(measure, name, rates('service'), { name: fastest, values }, '/s');
    }
    ofMinimal.push(against(minimalName));
    rows.push([
      name,
      ...columns.map((column) => figure(median(rates(column)))),
      ...yardsticks.map((yardstick) => figure(median(against(yardstick)))),
      fastest === undefined ? '-' : spread(against(fastest)),
      figure(median(times('service'))),
      figure(median(ratios(times('service'), times(minimalName)))),
    ]);
  }
  results.table({ title: 'Photographs as they come, images/s', rows });
  const mean = (measure: keyof typeof photographMeasures, byCase: readonly number[][]) => {
    if (byCase.length === 0) return;
    const values = (byCase[0] ?? []).map((_, round) =>
      geometricMean(byCase.map((one) => one[round] ?? Number.NaN)),
    );
    results.finding(measure, `geometric mean of ${byCase.length}`, values);
  };
  if (hasMinimal) mean('photographs, of minimal', ofMinimal);
  mean('photographs, of the fastest other', ofFastest);
}
