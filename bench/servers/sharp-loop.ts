import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { avifThreads } from '../../pool/execution/encoder-threads.ts';
import type { EncodedFormat, EncoderOptions } from './encoder-settings.ts';

/**
 * The minimum cost of a miss: sharp alone, from a file in memory to a buffer, without HTTP, sources and
 * caches. Its argument is the job as JSON, its output the result as JSON.
 */
export interface SharpJob {
  readonly file: string;
  readonly width: number;
  readonly format: EncodedFormat;
  readonly options: EncoderOptions;
  /** Transforms at a time. */
  readonly inFlight: number;
  readonly seconds: number;
  readonly warmupS: number;
  /** The loop continues until this number of transforms is done, for at most five times its length. */
  readonly atLeast: number;
}

export interface SharpResult {
  /** From the last transform of the warm-up to the last one. */
  readonly perSecond: number;
  readonly bytes: number;
  /** Processor time for each transform, those of the warm-up included. */
  readonly processorMs: number;
}

const job: SharpJob = JSON.parse(process.argv[2] ?? '{}');
sharp.concurrency(job.format === 'avif' ? avifThreads : 1);
sharp.cache(false);
const source = await readFile(job.file);
const countedAt = performance.now() + 1_000 * job.warmupS;
const [endAt, latestAt] = [countedAt + 1_000 * job.seconds, countedAt + 5_000 * job.seconds];
/** When the transforms of the warm-up ended, and the others. */
const [warmups, ends]: [number[], number[]] = [[], []];
let [all, bytes, stopped] = [0, 0, false];
const continues = (now: number): boolean =>
  now < endAt || (now < latestAt && ends.length < job.atLeast);

async function client(): Promise<void> {
  for (let now = performance.now(); continues(now); now = performance.now()) {
    const image = sharp(source, { autoOrient: true }).resize(job.width);
    bytes = (await image.toFormat(job.format, job.options).toBuffer()).length;
    all += 1;
    // The remaining transforms run with less beside them.
    if (!stopped) (performance.now() < countedAt ? warmups : ends).push(performance.now());
  }
  stopped = true;
}

const before = process.cpuUsage();
await Promise.all(Array.from({ length: job.inFlight }, client));
const { user, system } = process.cpuUsage(before);
const lengthMs = (ends.at(-1) ?? countedAt) - (warmups.at(-1) ?? countedAt);
const result: SharpResult = {
  perSecond: (1_000 * ends.length) / Math.max(1, lengthMs),
  bytes,
  processorMs: (user + system) / 1_000 / all,
};
process.stdout.write(JSON.stringify(result));
