import { geometricMean, mean } from '../../encoders/measure.ts';
import type { Meter } from '../../encoders/meter.ts';
import { fastestOf } from '../rendering.ts';
import { figure, known, median, spread } from '../rounds.ts';
import type { Bench, Measures } from '../scenario.ts';
import type { Compared, Contender, EqualQuality, OtherServer } from './compare.ts';
import { aheadOf, paretoFront, type Standing } from './curves.ts';

export const measures = {
  'bytes at equal quality': {
    what: 'bytes at the score of the service’s defaults, divided by those of the smallest other (geometric mean over the photographs)',
    unit: '×',
    goal: { atMost: 1 },
  },
  'images at equal quality': {
    what: 'images per second at the mean score of the service’s defaults, divided by those of the fastest other',
    unit: '×',
    goal: { atLeast: 1 },
  },
  'ahead in both': {
    what: 'servers with both fewer bytes and more images per second at equal quality',
    unit: 'servers',
    goal: { atMost: 0 },
  },
} as const satisfies Measures;

export type QualityBench = Bench<keyof typeof measures>;

type Comparable = Contender & { readonly equal: EqualQuality };
const isComparable = (other: OtherServer): other is Comparable => other.equal !== null;

/** Bytes and images per second at the scores of the service's defaults, the service first. */
function standings({ service, others }: Compared): Standing[] {
  const bytes = geometricMean(service.points.map((point) => point.bytes));
  return [
    { name: service.name, bytes, perSecond: median(known(service.perSecond)) },
    ...others.filter(isComparable).map(({ name, equal }) => ({
      name,
      bytes: bytes / equal.bytes.ratio,
      perSecond: median(known(equal.perSecond)),
    })),
  ];
}

/** The findings and tables of one format. */
export function report(
  bench: QualityBench,
  compared: Compared,
  meter: Meter,
  caseName: string,
): void {
  const { service } = compared;
  bench.table({
    title: `${caseName}, with the defaults of each server`,
    rows: [
      ['', `mean ${meter.name}`, 'least', 'mean bytes', 'images/s'],
      ...[service, ...compared.others].map(({ name, points, perSecond }) => {
        const scores = points.map(({ score }) => score);
        const bytes = Math.round(mean(points.map((point) => point.bytes)));
        const [average, least] = [mean(scores), Math.min(...scores)].map((score) =>
          score.toFixed(meter.digits),
        );
        return [name, average ?? '', least ?? '', String(bytes), spread(perSecond)];
      }),
    ],
  });
  noteGaps(bench, compared, caseName);
  const others = compared.others.filter(isComparable);
  const measured = others.filter(({ equal }) => equal.bytes.count > 0);
  const [smallest] = [...measured].sort((a, b) => b.equal.bytes.ratio - a.equal.bytes.ratio);
  const rates = new Map(others.map(({ name, equal }) => [name, equal.perSecond]));
  const fastest = fastestOf(rates);
  if (smallest === undefined || fastest === undefined) return;
  const { ratio, least, most, count } = smallest.equal.bytes;
  const range = `${figure(least)}..${figure(most)} of ${count} photographs`;
  bench.finding('bytes at equal quality', caseName, [ratio], `${smallest.name}; ${range}`);
  const theirs = { name: fastest, values: rates.get(fastest) ?? [] };
  bench.ratio('images at equal quality', caseName, service.perSecond, theirs, '/s');
  const all = standings(compared);
  const [ours, ...rest] = all;
  const ahead = ours === undefined ? [] : aheadOf(ours, rest);
  const names = ahead.map(({ name }) => name).join(', ') || 'no server';
  bench.finding(
    'ahead in both',
    caseName,
    [ahead.length],
    `${names} has fewer bytes and more images per second`,
  );
  const front = paretoFront(all);
  bench.table({
    title: `${caseName}, at the score of the service's defaults`,
    rows: [
      ['', 'quality', 'bytes', 'of the service', 'images/s', 'Pareto front'],
      ...all.map((one, index) => {
        const other = others[index - 1]?.equal;
        return [
          one.name,
          String(other?.quality ?? 'default'),
          String(Math.round(one.bytes)),
          figure(one.bytes / (ours?.bytes ?? Number.NaN)),
          spread(other?.perSecond ?? service.perSecond),
          front.includes(one) ? 'yes' : 'no',
        ];
      }),
    ],
  });
}

function noteGaps(bench: QualityBench, { service, others }: Compared, caseName: string): void {
  const count = service.points.length;
  for (const { name, equal } of others) {
    const note = (text: string) => bench.note(`${caseName}: ${name} ${text}.`);
    if (equal === null) {
      note('has no {quality} in its template: only its defaults are compared');
      continue;
    }
    const missing = count - equal.bytes.count;
    if (missing > 0) {
      note(`never has the score of ${missing} of ${count} photographs at the measured qualities`);
    }
    if (!equal.reached) {
      note(`does not have the mean score of the service: ${equal.quality} is the nearest quality`);
    }
  }
}

/** Bytes and images per second, a panel for each format. */
export function draw(bench: QualityBench, all: readonly Compared[], details: string): void {
  const panels = all.map((compared) => {
    const standing = standings(compared);
    const pointOf = ({ bytes, perSecond }: Standing) => [bytes, perSecond] as const;
    const front = paretoFront(standing).sort((a, b) => a.bytes - b.bytes);
    return {
      title: `${compared.format.toUpperCase()}: images per second`,
      series: [
        ...standing.map((one) => ({ name: one.name, points: [pointOf(one)] })),
        { name: 'Pareto front', points: front.map(pointOf) },
      ],
    };
  });
  bench.chart({
    name: 'quality',
    title: `Bytes and speed at equal quality, ${details}`,
    xTitle: 'bytes, geometric mean over the photographs; fewer are better',
    panels,
  });
}
