import { loadOne } from '../load/load.ts';
import { type Arrangement, type BareJob, runBareSharp } from '../servers/bare-sharp.ts';
import { type EncodedFormat, encoderOptions } from '../servers/encoder-settings.ts';
import { processorMs } from '../servers/processes.ts';
import type { ImageServer, Server } from '../servers/server.ts';
import type { SharpResult } from '../servers/sharp-loop.ts';
import { alternate, known, median } from './rounds.ts';
import { type Bench, unusedNumber } from './scenario.ts';
import { imageUrlOf, requestedQuality, type SourcePicture } from './sources.ts';

/** With fewer, a rate depends on where its window ends. */
export const minImages = 10;

/** In s. */
export const warmupOf = ({ seconds }: Pick<Bench, 'seconds'>): number => Math.min(1, seconds / 4);

/** The figures of one server or of bare sharp in one round. */
export type Rendering = Pick<SharpResult, 'perSecond' | 'bytes' | 'processorMs'>;

/**
 * A closed loop of misses.
 * @param url with `{n}`, which is another number for each request
 * @param first the first unused number
 */
export async function measureMisses(
  bench: Pick<Bench, 'seconds' | 'cores'>,
  server: Server,
  { url, first, atLeast = minImages }: { url: string; first: number; atLeast?: number },
): Promise<Rendering> {
  const { seconds, cores } = bench;
  const warmupS = warmupOf(bench);
  const planned = { name: 'misses', url, first, clients: 4 * cores, atLeast };
  const usedMs = () => (server.pid === null ? Number.NaN : processorMs(server.pid));
  const before = await usedMs();
  const result = await loadOne(planned, { seconds: seconds + warmupS, warmupS });
  const { goodput, counts, all, meanBytes, statuses } = result;
  if (counts.failed + counts.hit > 0) {
    throw new Error(`${server.name}: ${JSON.stringify(statuses)}`);
  }
  const perSecond = goodput === 0 ? Number.NaN : goodput;
  return { perSecond, bytes: meanBytes, processorMs: ((await usedMs()) - before) / all };
}

export const bareName = 'bare sharp';

/** The images of a picture in a format. */
export interface RenderedCase {
  readonly name: string;
  readonly source: SourcePicture;
  readonly format: EncodedFormat;
}

/** The same images as a job of bare sharp. */
export function jobOf(
  { source: { file, width, pixels }, format }: RenderedCase,
  seconds: number,
  warmupS: number,
  atLeast = 0,
): BareJob {
  const options = encoderOptions(format, requestedQuality, pixels);
  return { file, width, format, seconds, warmupS, atLeast, options };
}

/** The figures of each round of the servers and of bare sharp, by their names. */
export function measureCase(
  bench: Pick<Bench, 'seconds' | 'cores' | 'rounds'>,
  one: RenderedCase,
  arrangement: Arrangement,
  [first, ...others]: readonly [ImageServer, ...ImageServer[]],
): Promise<Record<string, Rendering[]>> {
  const at = (server: ImageServer) => () =>
    measureMisses(bench, server, {
      url: imageUrlOf(server, one.source, one.format),
      first: unusedNumber(),
    });
  const job = jobOf(one, bench.seconds, warmupOf(bench), minImages);
  const contenders: Record<string, () => Promise<Rendering>> = {
    [first.name]: at(first),
    [bareName]: () => runBareSharp(job, arrangement),
    ...Object.fromEntries(others.map((other) => [other.name, at(other)])),
  };
  return alternate(bench.rounds, contenders);
}

/** The name with the highest median that is known; undefined when there is none. */
export const fastestOf = (rates: ReadonlyMap<string, readonly number[]>): string | undefined =>
  [...rates]
    .map(([name, values]) => ({ name, rate: median(known(values)) }))
    .filter(({ rate }) => !Number.isNaN(rate))
    .sort((a, b) => b.rate - a.rate)[0]?.name;
