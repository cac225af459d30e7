import sharp from 'sharp';
import { photographs } from '../../demo/origin/photographs.ts';
import type { Measures } from '../report.ts';
import { geometricMean } from '../rounds.ts';
import type { ImageServer } from '../servers/server.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type Bench, unusedNumber } from './bench.ts';
import { type Comparison, measureCase, type RenderedCase, reportCase } from './rendering.ts';
import { toImageUrl } from './sources.ts';

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
async function failureAt(
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
