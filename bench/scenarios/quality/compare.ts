import { geometricMean, mean } from '../../encoders/measure.ts';
import type { EncodedFormat } from '../../servers/encoder-settings.ts';
import type { DefaultServer } from '../../servers/server.ts';
import { leastImages, rendered } from '../rendering.ts';
import { alternate } from '../rounds.ts';
import { type Bench, unused } from '../scenario.ts';
import { type BytesRatio, bytesRatio, type Point, qualityNearest } from './curves.ts';
import type { Meter } from './meter.ts';
import type { Photographs } from './photographs.ts';
import { type Measuring, type Scored, score } from './scores.ts';

/** One format of all servers. */
export interface Compared {
  readonly format: EncodedFormat;
  readonly service: Contender;
  readonly others: readonly Other[];
}

/** A server by its defaults. */
export interface Contender {
  readonly name: string;
  /** One for each photograph. */
  readonly points: readonly Point[];
  /** Images per second, one for each round; empty when they were not measured. */
  readonly perSecond: readonly number[];
}

export interface Other extends Contender {
  /** At the scores of the service; null for a server whose quality cannot be given. */
  readonly equal: Equal | null;
}

export interface Equal {
  /** The one for all photographs whose mean score is nearest, on the encoder's own scale. */
  readonly quality: number;
  /** Whether it was within the qualities that were measured. */
  readonly reached: boolean;
  /** The service's bytes, as parts of the other's. */
  readonly bytes: BytesRatio;
  /** At that quality. */
  readonly perSecond: readonly number[];
}

export interface Setup {
  readonly photographs: Photographs;
  readonly meter: Meter;
  readonly width: number;
  readonly service: DefaultServer;
  readonly others: readonly DefaultServer[];
}

type AnyBench = Omit<Bench, 'finding'>;

export async function compareFormat(
  bench: AnyBench,
  { service, others, ...with_ }: Setup,
  format: EncodedFormat,
): Promise<Compared> {
  const { photographs } = with_;
  const count = photographs.names.length;
  const measuring: Measuring = { ...with_, format, quick: bench.quick, first: numberOf(count) };
  const own = await each(count, bench.cores, (index) => score(measuring, service, index, null));
  const wanted = own.map(({ byDefault }) => byDefault);
  const scored = new Map<DefaultServer, readonly Scored[]>();
  for (const other of others) {
    const measured = await each(count, bench.cores, (index) =>
      score(measuring, other, index, wanted[index]?.score ?? null),
    );
    scored.set(other, measured);
  }
  const meanScore = mean(wanted.map((point) => point.score));
  const nearest = (other: DefaultServer) =>
    other.varies
      ? qualityNearest(
          (scored.get(other) ?? []).map(({ curve }) => curve),
          meanScore,
        )
      : null;
  bench.progress(`${format.toUpperCase()}: ${count} photographs measured`);

  const at = (server: DefaultServer, quality: number | null) => async () => {
    const { width } = measuring;
    const url = server.imageUrl({ source: photographs.url, width, format }, quality);
    const atLeast = Math.max(leastImages, count);
    return (await rendered(bench, server, { url, first: numberOf(count), atLeast })).perSecond;
  };
  const equalOf = ({ name }: DefaultServer) => `${name} at equal quality`;
  const rates = await alternate(bench.quick ? 1 : bench.rounds, {
    [service.name]: at(service, null),
    // A quick run leaves these out.
    ...Object.fromEntries(bench.quick ? [] : others.map((other) => [other.name, at(other, null)])),
    ...Object.fromEntries(
      others.flatMap((other) => {
        const found = nearest(other);
        return found === null ? [] : [[equalOf(other), at(other, found.quality)]];
      }),
    ),
  });
  const contender = ({ name }: DefaultServer, all: readonly Scored[]): Contender => ({
    name,
    points: all.map(({ byDefault }) => byDefault),
    perSecond: rates[name] ?? [],
  });
  return {
    format,
    service: contender(service, own),
    others: others.map((other) => {
      const all = scored.get(other) ?? [];
      const found = nearest(other);
      if (found === null) return { ...contender(other, all), equal: null };
      const curves = all.map(({ curve, further }) => [...curve, ...further]);
      const bytes = bytesRatio(wanted, curves);
      const equal = { ...found, bytes, perSecond: rates[equalOf(other)] ?? [] };
      return { ...contender(other, all), equal };
    }),
  };
}

/** Unused numbers of which the first chooses the first photograph. */
const numberOf = (count: number): number => Math.ceil(unused() / count) * count;

/** The results of all indices in their order, some at a time. */
async function each<T>(
  count: number,
  atATime: number,
  work: (index: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < count; index = next++) results[index] = await work(index);
  };
  await Promise.all(Array.from({ length: atATime }, worker));
  return results;
}

/** The middle of bytes whose ratios are compared. */
export const middleBytes = (points: readonly Point[]): number =>
  geometricMean(points.map(({ bytes }) => bytes));
