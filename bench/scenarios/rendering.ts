import { loadOne } from '../load/load.ts';
import { alternate, known, median } from '../rounds.ts';
import { type EncodedFormat, encoderOptions } from '../servers/encoder-settings.ts';
import { outputOf, script } from '../servers/launch.ts';
import { processorMs } from '../servers/processes.ts';
import type { ImageServer } from '../servers/server.ts';
import type { SharpJob, SharpResult } from '../servers/sharp-loop.ts';
import { type Bench, unusedNumber } from './bench.ts';
import { imageUrlOf, requestedQuality, type SourcePicture } from './sources.ts';

/** With fewer, a rate depends on where its window ends. */
const minImages = 10;

/** In s. */
const warmupOf = ({ seconds }: Pick<Bench, 'seconds'>): number => Math.min(1, seconds / 4);

/** The figures of one server or of bare sharp in one round. */
export type Rendering = SharpResult;

export const bareName = 'bare sharp';

/** The images of a picture in a format. */
export interface RenderedCase {
  readonly name: string;
  readonly source: SourcePicture;
  readonly format: EncodedFormat;
}

/** The figures of each round of the servers and of bare sharp, by their names. */
export function measureCase(
  bench: Pick<Bench, 'seconds' | 'cores' | 'rounds'>,
  one: RenderedCase,
  [first, ...others]: readonly [ImageServer, ...ImageServer[]],
): Promise<Record<string, Rendering[]>> {
  const at = (server: ImageServer) => () => measureMisses(bench, server, one);
  const contenders: Record<string, () => Promise<Rendering>> = {
    [first.name]: at(first),
    [bareName]: () => runBareSharp(bench, one),
    ...Object.fromEntries(others.map((other) => [other.name, at(other)])),
  };
  return alternate(bench.rounds, contenders);
}

/** A loop of sharp in a process of its own, with as many transforms at a time as there are cores. */
async function runBareSharp(
  bench: Pick<Bench, 'seconds' | 'cores'>,
  { source: { file, width, pixels }, format }: RenderedCase,
): Promise<Rendering> {
  const job: SharpJob = {
    file,
    width,
    format,
    options: encoderOptions(format, requestedQuality, pixels),
    inFlight: bench.cores,
    seconds: bench.seconds,
    warmupS: warmupOf(bench),
    atLeast: minImages,
  };
  const env = { ...process.env, UV_THREADPOOL_SIZE: String(Math.max(4, bench.cores)) };
  const command = [...script('../servers/sharp-loop', import.meta.url), JSON.stringify(job)];
  return JSON.parse(await outputOf(command, null, { env }));
}

/** A closed loop of misses. */
async function measureMisses(
  bench: Pick<Bench, 'seconds' | 'cores'>,
  server: ImageServer,
  { source, format }: RenderedCase,
): Promise<Rendering> {
  const warmupS = warmupOf(bench);
  const url = imageUrlOf(server, source, format);
  const clients = 4 * bench.cores;
  const planned = { url, first: unusedNumber(), clients, atLeast: minImages };
  const usedMs = () => (server.pid === null ? Number.NaN : processorMs(server.pid));
  const before = await usedMs();
  const plan = { seconds: bench.seconds + warmupS, warmupS };
  const { goodput, all, meanBytes } = await loadOne(planned, plan, ['miss', 'refused']);
  const perSecond = goodput === 0 ? Number.NaN : goodput;
  return { perSecond, bytes: meanBytes, processorMs: ((await usedMs()) - before) / all };
}

/** The name with the highest median that is known; undefined when there is none. */
export const fastestOf = (rates: ReadonlyMap<string, readonly number[]>): string | undefined =>
  [...rates]
    .map(([name, values]) => ({ name, rate: median(known(values)) }))
    .filter(({ rate }) => !Number.isNaN(rate))
    .sort((a, b) => b.rate - a.rate)[0]?.name;
