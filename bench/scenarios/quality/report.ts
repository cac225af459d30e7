import { mean } from '../../encoders/measure.ts';
import { fastestOf } from '../rendering.ts';
import { figure, known, median, ratios, spread } from '../rounds.ts';
import type { Bench } from '../scenario.ts';
import { type Compared, type Contender, type Equal, middleBytes, type Other } from './compare.ts';
import { aheadOf, paretoFront, type Standing } from './curves.ts';
import type { Meter } from './meter.ts';

export type QualityBench = Bench<'bytes' | 'images' | 'front'>;

type Comparable = Contender & { readonly equal: Equal };
const isComparable = (other: Other): other is Comparable => other.equal !== null;

/** Bytes and images per second at the scores of the service's defaults, itself first. */
export function standings({ service, others }: Compared): Standing[] {
  const bytes = middleBytes(service.points);
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
  byDefault(bench, compared, meter, of);
  const { service } = compared;
  const others = compared.others.filter(isComparable);
  for (const { name } of compared.others.filter((other) => other.equal === null)) {
    bench.note(`${of}: ${name} has no {quality} in its template: only its defaults are compared.`);
  }
  for (const { name, equal } of others) sayWhatIsMissing(bench, of, name, equal, service);
  const measured = others.filter(({ equal }) => equal.bytes.count > 0);
  const [smallest] = [...measured].sort((a, b) => b.equal.bytes.ratio - a.equal.bytes.ratio);
  const rates = new Map(others.map(({ name, equal }) => [name, equal.perSecond]));
  const fastest = fastestOf(rates);
  if (smallest === undefined || fastest === undefined) return;
  const { ratio, least, most, count } = smallest.equal.bytes;
  const parts = `${figure(least)}..${figure(most)} of ${count} photographs`;
  bench.finding('bytes', of, [ratio], `${smallest.name}; ${parts}`);
  const [own, theirs] = [service.perSecond, rates.get(fastest) ?? []];
  const detail = `${spread(own)}/s, ${fastest} ${spread(theirs)}/s`;
  bench.finding('images', of, ratios(own, theirs), detail);
  const all = standings(compared);
  const [ours, ...rest] = all;
  const ahead = ours === undefined ? [] : aheadOf(ours, rest);
  const names = ahead.length === 0 ? 'nobody' : ahead.map(({ name }) => name).join(', ');
  bench.finding('front', of, [ahead.length], `${names} has fewer bytes and more images per second`);
  const front = paretoFront(all);
  bench.table({
    title: `${of}, at the score of the service's defaults`,
    rows: [
      ['', 'quality', 'bytes', 'of the service', 'images/s', 'Pareto front'],
      ...all.map((one, index) => {
        const other = others[index - 1]?.equal;
        return [
          one.name,
          other === undefined ? 'default' : String(other.quality),
          String(Math.round(one.bytes)),
          figure(one.bytes / (ours?.bytes ?? Number.NaN)),
          spread(other?.perSecond ?? own),
          front.includes(one) ? 'yes' : 'no',
        ];
      }),
    ],
  });
}

function byDefault(bench: QualityBench, { service, others }: Compared, meter: Meter, of: string) {
  bench.table({
    title: `${of}, at everyone's defaults`,
    rows: [
      ['', `mean ${meter.name}`, 'least', 'mean bytes', 'images/s'],
      ...[service, ...others].map(({ name, points, perSecond }) => {
        const scores = points.map(({ score }) => score);
        const inWords = [mean(scores), Math.min(...scores)].map((one) => one.toFixed(meter.digits));
        const bytes = Math.round(mean(points.map((point) => point.bytes)));
        return [name, ...inWords, String(bytes), spread(perSecond)];
      }),
    ],
  });
}

function sayWhatIsMissing(
  bench: QualityBench,
  of: string,
  name: string,
  { bytes, reached, quality }: Equal,
  { points }: Contender,
): void {
  const missing = points.length - bytes.count;
  if (missing > 0) {
    const scores = `the score of ${missing} of ${points.length} photographs`;
    bench.note(`${of}: ${name} does not have ${scores} at any quality that was measured.`);
  }
  if (!reached) {
    const nearest = `${quality} is the nearest that was measured`;
    bench.note(`${of}: ${name} does not have the mean score of the service: ${nearest}.`);
  }
}

/** Bytes and images per second, a panel for each format. */
export function draw(bench: QualityBench, all: readonly Compared[], details: string): void {
  const panels = all.map((compared) => {
    const standing = standings(compared);
    const front = paretoFront(standing);
    return {
      title: `${compared.format.toUpperCase()}: images per second`,
      xTitle: 'bytes, geometric mean over the photographs; fewer are better',
      points: standing.map((one) => ({
        name: one.name,
        x: one.bytes,
        y: one.perSecond,
        onFront: front.includes(one),
      })),
    };
  });
  bench.chart({ name: 'quality', title: `Bytes and speed at equal quality, ${details}`, panels });
}
