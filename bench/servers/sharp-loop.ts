import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import type { EncodedFormat, EncoderOptions } from './encoder-settings.ts';

/**
 * The least that a miss can cost: sharp alone, from a file in memory to a buffer, without HTTP, sources
 * and caches. Its argument is the job as JSON; its answer is the ends and durations of the transforms.
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
}

/** The transforms after the warm-up. */
export interface SharpResult {
  readonly perSecond: number;
  readonly durationsMs: readonly number[];
  readonly bytes: number;
}

const job: SharpJob = JSON.parse(process.argv[2] ?? '{}');
sharp.concurrency(job.concurrency);
sharp.cache(false);
const source = await readFile(job.file);
const durationsMs: number[] = [];
let bytes = 0;
let completed = 0;
const startedAt = performance.now();
const countedAt = startedAt + job.warmupS * 1_000;
const endAt = countedAt + job.seconds * 1_000;

async function client(): Promise<void> {
  while (performance.now() < endAt) {
    const begunAt = performance.now();
    const image = sharp(source, { autoOrient: true }).resize(job.width);
    const encoded = await image.toFormat(job.format, job.options).toBuffer();
    bytes = encoded.length;
    const now = performance.now();
    if (now >= countedAt && now <= endAt) completed += 1;
    if (begunAt >= countedAt) durationsMs.push(now - begunAt);
  }
}

await Promise.all(Array.from({ length: job.inFlight }, client));
const result: SharpResult = { perSecond: completed / job.seconds, durationsMs, bytes };
process.stdout.write(JSON.stringify(result));
