import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
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
  /** Threads of one transform (`sharp.concurrency`). */
  readonly concurrency: number;
  readonly seconds: number;
  readonly warmupS: number;
  /** The loop continues until this number of transforms is done, for at most five times its length. */
  readonly atLeast: number;
}

/** The transforms after the warm-up. */
export interface SharpResult {
  readonly perSecond: number;
  readonly durationsMs: readonly number[];
  readonly bytes: number;
  /** Processor time for each transform, those of the warm-up included. */
  readonly processorMs: number;
}

const job: SharpJob = JSON.parse(process.argv[2] ?? '{}');
sharp.concurrency(job.concurrency);
sharp.cache(false);
const source = await readFile(job.file);
const durationsMs: number[] = [];
let bytes = 0;
let completed = 0;
let all = 0;
const before = process.cpuUsage();
const startedAt = performance.now();
const countedAt = startedAt + job.warmupS * 1_000;
const endAt = countedAt + job.seconds * 1_000;
const latestAt = countedAt + 5 * job.seconds * 1_000;
/** When the last transform of the warm-up ended, and the last of all. */
let [fromAt, untilAt] = [countedAt, countedAt];
let ended = false;

const continues = (): boolean => {
  const now = performance.now();
  ended ||= now >= latestAt || (now >= endAt && completed >= job.atLeast);
  return !ended;
};

async function client(): Promise<void> {
  while (continues()) {
    const begunAt = performance.now();
    const image = sharp(source, { autoOrient: true }).resize(job.width);
    const encoded = await image.toFormat(job.format, job.options).toBuffer();
    bytes = encoded.length;
    all += 1;
    const now = performance.now();
    if (now < countedAt) fromAt = now;
    else if (!ended) {
      completed += 1;
      untilAt = now;
    }
    if (begunAt >= countedAt) durationsMs.push(now - begunAt);
  }
}

await Promise.all(Array.from({ length: job.inFlight }, client));
const { user, system } = process.cpuUsage(before);
const result: SharpResult = {
  processorMs: (user + system) / 1_000 / all,
  perSecond: (1_000 * completed) / Math.max(1, untilAt - fromAt),
  durationsMs,
  bytes,
};
process.stdout.write(JSON.stringify(result));
