import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import sharp from 'sharp';
import { callApi } from './call-api.ts';
import { deploy } from './deployment.ts';
import { serveBodies } from './origin/bodies.ts';
import { picture } from './origin/pictures.ts';
import { percentile } from './scenarios/rounds.ts';
import { textTable } from './text-table.ts';

/**
 * Measures how much a prewarming slows down other clients: a client requests cold variants, one after
 * the other, in alternating rounds with the worker paused and running. Then checks that all variants
 * are warm.
 */

const widths = [160, 240, 320, 480, 640, 800, 960, 1120, 1280, 1600];
const formats = ['webp', 'avif'];
const sourceCount = 20;
const liveSourceCount = 4;
const variantCount = sourceCount * widths.length * formats.length;
/** The widths of a round; every round adds 1 pixel: its variants are cold and cost the same. */
const liveWidths = [300, 420, 540, 660, 780, 900, 1020, 1140, 1260, 1380];
const goal = 1.5;

const print = (text: string): void => void process.stdout.write(`${text}\n`);

new Command('bench:prewarm')
  .description('Measures a prewarming of 20 sources in 10 widths and 2 formats.')
  .parse();

/** Different pictures that cost the same to transform, by path, with their numbers of fetches. */
const sources = new Map<string, { body: Buffer; fetches: number }>();
const landscape = await picture('landscape.jpg');
const pathsOf = async (name: string, count: number): Promise<string[]> => {
  const paths = Array.from({ length: count }, (_, number) => `/${name}/${number}.jpg`);
  for (const path of paths) {
    const size = { width: 2000, height: 1500, position: 'attention' };
    const image = sharp(landscape)
      .resize(size)
      .modulate({ hue: 7 * (sources.size + 1) });
    sources.set(path, { body: await image.jpeg({ quality: 85 }).toBuffer(), fetches: 0 });
  }
  return paths;
};
const prewarmed = await pathsOf('prewarmed', sourceCount);
const live = await pathsOf('live', liveSourceCount);
const origin = await serveBodies((path) => {
  const source = sources.get(path);
  if (source !== undefined) source.fetches += 1;
  return source?.body;
});
const service = await deploy();

async function request(path: string, width: number, format = ''): Promise<Headers> {
  const source = encodeURIComponent(origin.url + path);
  const query = `project=${service.project}&w=${width}&fmt=${format}`;
  const response = await fetch(`${service.url}/img/${source}?${query}`);
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
  return response.headers;
}

async function prewarm(): Promise<void> {
  const { url, key, project } = service;
  const all = prewarmed.map((path) => origin.url + path);
  await callApi(url, key, 'POST', `/projects/${project}/prewarm`, {
    sources: all,
    widths,
    formats,
  });
}

async function jobsLeft(): Promise<number> {
  const { active, queued } = (await service.health()).checks.prewarmQueue;
  return active + queued;
}

/** The times of a request, ms. */
interface Sample {
  /** Measured by the client. */
  readonly whole: number;
  /** From `Server-Timing`: the wait for a thread, and the transform. */
  readonly queue: number;
  readonly transform: number;
}

/** One round of the client. */
async function runRound(round: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (const [index, width] of liveWidths.entries()) {
    for (const [number, path] of live.entries()) {
      const startedAt = performance.now();
      const headers = await request(path, width + round, formats[(index + number) % 2]);
      const whole = performance.now() - startedAt;
      if (headers.get('x-cache') !== 'miss') throw new Error('a live request is not a miss');
      const timing = (name: string) =>
        Number(new RegExp(`${name};dur=([\\d.]+)`).exec(headers.get('server-timing') ?? '')?.[1]);
      samples.push({ whole, queue: timing('queue'), transform: timing('transform') });
    }
  }
  return samples;
}

/** Alternates rounds without and with the worker, until it has no more jobs. */
async function measure(): Promise<void> {
  const without: Sample[] = [];
  const during: Sample[] = [];
  await runRound(0);
  await service.worker.start();
  await prewarm();
  await sleep(1_000);
  let workedMs = 0;
  for (let round = 1; ; round += 2) {
    await service.worker.pause();
    without.push(...(await runRound(round)));
    service.worker.resume();
    const resumedAt = performance.now();
    await sleep(200);
    const samples = await runRound(round + 1);
    workedMs += performance.now() - resumedAt;
    // The worker may have finished during the last round, so that round does not count.
    if ((await jobsLeft()) === 0) break;
    during.push(...samples);
  }
  const columns: ReadonlyArray<readonly [string, keyof Sample, number]> = [
    ['p50', 'whole', 0.5],
    ['p95', 'whole', 0.95],
    ['max', 'whole', 1],
    ['transform p50', 'transform', 0.5],
    ['p95', 'transform', 0.95],
    ['queue p95', 'queue', 0.95],
  ];
  const figures = (samples: readonly Sample[]) =>
    columns.map(([, key, share]) =>
      percentile(
        samples.map((sample) => sample[key]),
        share,
      ),
    );
  const row = (name: string, samples: readonly Sample[]) => [
    name,
    String(samples.length),
    ...figures(samples).map((value) => value.toFixed(0)),
  ];
  const ratios = figures(during).map((value, index) => value / (figures(without)[index] ?? 0));
  const rows = [
    ['cold live requests, ms', 'count', ...columns.map(([head]) => head)],
    row('without prewarming', without),
    row('with prewarming', during),
    ['ratio', '', ...ratios.slice(0, 5).map((value) => value.toFixed(2)), ''],
  ];
  print(textTable(rows));
  const [, p95 = Number.NaN] = ratios;
  const verdict = p95 <= goal ? 'met' : 'MISSED';
  print(`goal: p95 with prewarming at most ${goal.toFixed(1)} x without: ${verdict}`);
  print(`the prewarming took ${(workedMs / 1_000).toFixed(0)} s beside that client`);
}

/** Whether the first live request for each variant is a hit, and no job failed. */
async function check(): Promise<boolean> {
  let warm = 0;
  for (const path of prewarmed) {
    for (const width of widths) {
      for (const format of formats) {
        const cache = (await request(path, width, format)).get('x-cache');
        if (cache !== 'miss') warm += 1;
      }
    }
  }
  const fetches = prewarmed.map((path) => sources.get(path)?.fetches ?? 0);
  const sum = fetches.reduce((a, b) => a + b, 0);
  const { failed } = (await service.health()).checks.prewarmQueue;
  print(`${warm} of ${variantCount} variants are warm for their first live request`);
  print(`${sum} fetches of ${sourceCount} sources, at most ${Math.max(...fetches)} of one`);
  print(`${failed} jobs failed`);
  return warm === variantCount && failed === 0;
}

try {
  const { concurrency } = (await service.health()).checks.transformQueue;
  print(`${variantCount} variants of ${sourceCount} sources; ${concurrency} transform threads`);
  // Under other load, live and background requests share the rest of the processors.
  const [load = 0] = loadavg();
  print(`${availableParallelism()} cores, load average before the start ${load.toFixed(1)}`);
  await measure();
  if (!(await check())) process.exitCode = 1;
} finally {
  await service.close();
  await origin.close();
}
