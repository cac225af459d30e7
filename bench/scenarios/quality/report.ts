import { geometricMean, mean } from '../../encoders/measure.ts';
import type { Meter } from '../../encoders/meter.ts';
import { fastestOf } from '../rendering.ts';
import { figure, known, median, ratios, spread } from '../rounds.ts';
import type { Bench } from '../scenario.ts';
import type { Compared, Contender, Equal, Other } from './compare.ts';
import { aheadOf, paretoFront, type Standing } from './curves.ts';

export type QualityBench = Bench<
  'bytes at equal quality' | 'images at equal quality' | 'ahead in both'
>;

type Comparable = Contender & { readonly equal: Equal };
const isComparable = (other: Other): other is Comparable => other.equal !== null;

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
export function report(bench: QualityBench, compared: Compared, meter: Meter, of: string): void {
  const { service } = compared;
  bench.table({
    title: `${of}, at everyone's defaults`,
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
  noteGaps(bench, compared, of);
  const others = compared.others.filter(isComparable);
  const measured = others.filter(({ equal }) => equal.bytes.count > 0);
  const [smallest] = [...measured].sort((a, b) => b.equal.bytes.ratio - a.equal.bytes.ratio);
  const rates = new Map(others.map(({ name, equal }) => [name, equal.perSecond]));
  const fastest = fastestOf(rates);
  if (smallest === undefined || fastest === undefined) return;
  const { ratio, least, most, count } = smallest.equal.bytes;
  const range = `${figure(least)}..${figure(most)} of ${count} photographs`;
  bench.finding('bytes at equal quality', of, [ratio], `${smallest.name}; ${range}`);
  const [own, theirs] = [service.perSecond, rates.get(fastest) ?? []];
  const detail = `${spread(own)}/s, ${fastest} ${spread(theirs)}/s`;
  bench.finding('images at equal quality', of, ratios(own, theirs), detail);
  const all = standings(compared);
  const [ours, ...rest] = all;
  const ahead = ours === undefined ? [] : aheadOf(ours, rest);
  const names = ahead.map(({ name }) => name).join(', ') || 'no server';
  bench.finding(
    'ahead in both',
    of,
    [ahead.length],
    `${names} has fewer bytes and more images per second`,
  );
  const front = paretoFront(all);
  bench.table({
    title: `${of}, at the score of the service's defaults`,
    rows: [
      ['', 'quality', 'bytes', 'of the service', 'images/s', 'Pareto front'],
      ...all.map((one, index) => {
        const other = others[index - 1]?.equal;
        return [
          one.name,
          String(other?.quality ?? 'default'),
          String(Math.round(one.bytes)),
          figure(one.bytes / (ours?.bytes ?? Number.NaN)),
          spread(other?.perSecond ?? own),
          front.includes(one) ? 'yes' : 'no',
        ];
      }),
    ],
  });
}

function noteGaps(bench: QualityBench, { service, others }: Compared, of: string): void {
  const count = service.points.length;
  for (const { name, equal } of others) {
    const note = (text: string) => bench.note(`${of}: ${name} ${text}.`);
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
