import { concurrently } from '../../concurrently.ts';
import { mean } from '../../encoders/measure.ts';
import type { Meter } from '../../encoders/meter.ts';
import type { EncodedFormat } from '../../servers/encoder-settings.ts';
import type { DefaultServer } from '../../servers/server.ts';
import { measureMisses, minImages } from '../rendering.ts';
import { alternate } from '../rounds.ts';
import { type Bench, unusedNumber } from '../scenario.ts';
import { type BytesRatio, bytesRatio, type Point, qualityNearest } from './curves.ts';
import type { Photographs } from './photographs.ts';
import { type Scored, type ScoreOptions, score } from './scores.ts';

/** The results of all servers in one format. */
export interface Compared {
  readonly format: EncodedFormat;
  readonly service: Contender;
  readonly others: readonly OtherServer[];
}

/** A server with its default settings. */
export interface Contender {
  readonly name: string;
  /** One for each photograph. */
  readonly points: readonly Point[];
  /** Images per second, one for each round; empty when not measured. */
  readonly perSecond: readonly number[];
}

export interface OtherServer extends Contender {
  /** At the scores of the service's images; null for a server without a quality parameter. */
  readonly equal: EqualQuality | null;
}

export interface EqualQuality {
  /** The quality for all photographs whose mean score is nearest, on the encoder's own scale. */
  readonly quality: number;
  /** Whether it was within the measured qualities. */
  readonly reached: boolean;
  /** The service's bytes divided by the other's. */
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

export async function compareFormat(
  bench: Omit<Bench, 'finding' | 'ratio'>,
  { photographs, meter, width, service, others }: Setup,
  format: EncodedFormat,
): Promise<Compared> {
  const count = photographs.names.length;
  const { quick } = bench;
  const options: ScoreOptions = { photographs, meter, width, format, quick, first: first(count) };
  const scoreAll = (server: DefaultServer, wanted: (index: number) => number | null) =>
    concurrently(bench.cores, photographs.names.keys(), (index) =>
      score(options, server, index, wanted(index)),
    );
  const own = await scoreAll(service, () => null);
  const points = own.map(({ byDefault }) => byDefault);
  const meanScore = mean(points.map((point) => point.score));
  const measured: { server: DefaultServer; all: Scored[]; nearest: Nearest | null }[] = [];
  for (const server of others) {
    const all = await scoreAll(server, (index) => points[index]?.score ?? null);
    const curves = all.map(({ curve }) => curve);
    const nearest = server.acceptsQuality ? qualityNearest(curves, meanScore) : null;
    measured.push({ server, all, nearest });
  }
  bench.progress(`${format.toUpperCase()}: ${count} photographs measured`);

  const at = (server: DefaultServer, quality: number | null) => async () => {
    const url = server.imageUrl({ source: photographs.url, width, format }, quality);
    const atLeast = Math.max(minImages, count);
    return (await measureMisses(bench, server, { url, first: first(count), atLeast })).perSecond;
  };
  const equalOf = ({ name }: DefaultServer) => `${name} at equal quality`;
  const contenders = new Map([[service.name, at(service, null)]]);
  for (const { server, nearest } of measured) {
    if (!quick) contenders.set(server.name, at(server, null));
    if (nearest !== null) contenders.set(equalOf(server), at(server, nearest.quality));
  }
  const rates = await alternate(quick ? 1 : bench.rounds, Object.fromEntries(contenders));
  return {
    format,
    service: { name: service.name, points, perSecond: rates[service.name] ?? [] },
    others: measured.map(({ server, all, nearest }) => {
      const curves = all.map(({ curve, extra }) => [...curve, ...extra]);
      const perSecond = rates[equalOf(server)] ?? [];
      return {
        name: server.name,
        points: all.map(({ byDefault }) => byDefault),
        perSecond: rates[server.name] ?? [],
        equal: nearest && { ...nearest, bytes: bytesRatio(points, curves), perSecond },
      };
    }),
  };
}

type Nearest = ReturnType<typeof qualityNearest>;

/** The first of unused numbers; it selects the first photograph. */
const first = (count: number): number => Math.ceil(unusedNumber() / count) * count;
