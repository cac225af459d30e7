import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { type Deployment, deploy } from './deployment.ts';
import { percentile, table } from './prewarm/figures.ts';
import { type Sources, startSources } from './prewarm/sources.ts';

/**
 * Measures how much a prewarming slows down other clients: a client requests cold variants, one after
 * the other, in alternating rounds with the worker paused and running. Then checks that all variants
 * are warm.
 */

const widths = [160, 240, 320, 480, 640, 800, 960, 1120, 1280, 1600];
const formats = ['webp', 'avif'];
const sourceCount = 20;
const liveSources = 4;
const variantCount = sourceCount * widths.length * formats.length;
/** The widths of a round; every round adds 1 pixel, so that the variants are cold and cost the same. */
const liveWidths = [300, 420, 540, 660, 780, 900, 1020, 1140, 1260, 1380];
const goal = 1.5;
const settleWithinMs = 5 * 60_000;

const print = (text: string): void => void process.stdout.write(`${text}\n`);
const count = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new InvalidArgumentError('a whole number');
  return value;
};

async function prewarm({ url, key, project }: Deployment, sources: Sources): Promise<void> {
  const all = Array.from({ length: sourceCount }, (_, i) => sources.url('prewarmed', i));
  const response = await fetch(`${url}/api/sdk/v1/projects/${project}/prewarm`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ sources: all, widths, formats }),
  });
  if (response.status !== 202) throw new Error(`prewarm: ${await response.text()}`);
}

/** The times of a request, measured by the client and by the service, ms. */
interface Sample {
  readonly whole: number;
  /** From `Server-Timing`: the wait for a thread, and the transform. */
  readonly queue: number;
  readonly transform: number;
}

const timing = (header: string | null, name: string): number =>
  Number(new RegExp(`${name};dur=([\\d.]+)`).exec(header ?? '')?.[1] ?? 0);

/** One round of the client. */
async function runRound(service: Deployment, sources: Sources, round: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (const [index, width] of liveWidths.entries()) {
    for (let number = 0; number < liveSources; number++) {
      const format = formats[(index + number) % formats.length];
      const source = encodeURIComponent(sources.url('live', number));
      const query = `project=${service.project}&w=${width + round}&fmt=${format}`;
      const startedAt = performance.now();
      const response = await fetch(`${service.url}/img/${source}?${query}`);
      await response.arrayBuffer();
      const whole = performance.now() - startedAt;
      const header = response.headers.get('server-timing');
      const [queue, transform] = [timing(header, 'queue'), timing(header, 'transform')];
      samples.push({ whole, queue, transform });
      const cache = response.headers.get('x-cache');
      if (response.status !== 200 || cache !== 'miss') {
        throw new Error(`a live request: ${response.status} ${cache}`);
      }
    }
  }
  return samples;
}

async function jobsLeft(service: Deployment): Promise<number> {
  const { active, queued } = (await service.health()).checks.prewarmQueue;
  return active + queued;
}

/** Alternates rounds without and with the worker, as long as it has jobs. */
async function measure(service: Deployment, sources: Sources): Promise<void> {
  const without: Sample[] = [];
  const during: Sample[] = [];
  await runRound(service, sources, 0);
  await service.worker.start();
  await prewarm(service, sources);
  await sleep(1_000);
  let round = 0;
  let workedMs = 0;
  for (;;) {
    await service.worker.pause();
    round += 1;
    without.push(...(await runRound(service, sources, round)));
    service.worker.resume();
    const resumedAt = performance.now();
    await sleep(200);
    round += 1;
    const samples = await runRound(service, sources, round);
    workedMs += performance.now() - resumedAt;
    // The worker may have finished during the last round, so that round does not count.
    if ((await jobsLeft(service)) === 0) break;
    during.push(...samples);
  }
  const figures = (samples: readonly Sample[]) => [
    ...[0.5, 0.95, 1].map((share) =>
      percentile(
        samples.map(({ whole }) => whole),
        share,
      ),
    ),
    ...[0.5, 0.95].map((share) =>
      percentile(
        samples.map(({ transform }) => transform),
        share,
      ),
    ),
    percentile(
      samples.map(({ queue }) => queue),
      0.95,
    ),
  ];
  const row = (name: string, samples: readonly Sample[]) => [
    name,
    String(samples.length),
    ...figures(samples).map((value) => value.toFixed(0)),
  ];
  const ratios = figures(during).map((value, index) => value / (figures(without)[index] ?? 0));
  const heads = ['p50', 'p95', 'max', 'transform p50', 'p95', 'queue p95'];
  print(
    table([
      ['cold live requests, ms', 'count', ...heads],
      row('without prewarming', without),
      row('with prewarming', during),
      ['ratio', '', ...ratios.slice(0, 5).map((value) => value.toFixed(2)), ''],
    ]),
  );
  const [, p95 = Number.NaN] = ratios;
  const verdict = p95 <= goal ? 'met' : 'MISSED';
  print(`goal: p95 with prewarming at most ${goal.toFixed(1)} x without: ${verdict}`);
  print(`the prewarming took ${(workedMs / 1_000).toFixed(0)} s beside that client`);
}

/** Kills the worker repeatedly while it runs jobs. */
async function kill(service: Deployment, sources: Sources, times: number): Promise<void> {
  const startedAt = performance.now();
  await service.worker.start();
  await prewarm(service, sources);
  for (let killed = 0; killed < times; killed++) {
    await sleep(500 + Math.random() * 1_500);
    let figures = (await service.health()).checks.transformQueue;
    while (figures.active === 0) {
      await sleep(20);
      figures = (await service.health()).checks.transformQueue;
    }
    await service.worker.kill();
    print(`killed the worker at work, ${figures.completed} transforms so far`);
    await service.worker.start();
  }
  const deadline = Date.now() + settleWithinMs;
  do {
    if (Date.now() > deadline) throw new Error('the jobs do not come to an end');
    await sleep(1_100);
  } while ((await jobsLeft(service)) > 0);
  print(
    `all jobs have ended ${((performance.now() - startedAt) / 1_000).toFixed(0)} s after the start`,
  );
}

/** Whether the first live request for each variant is a hit, and each source was fetched once. */
async function check(service: Deployment, sources: Sources): Promise<boolean> {
  let warm = 0;
  for (let number = 0; number < sourceCount; number++) {
    const source = encodeURIComponent(sources.url('prewarmed', number));
    for (const width of widths) {
      for (const format of formats) {
        const query = `project=${service.project}&w=${width}&fmt=${format}`;
        const response = await fetch(`${service.url}/img/${source}?${query}`);
        await response.arrayBuffer();
        const cache = response.headers.get('x-cache');
        if (response.status === 200 && (cache === 'memory' || cache === 'disk')) warm += 1;
      }
    }
  }
  const fetches = Array.from({ length: sourceCount }, (_, i) => sources.fetches('prewarmed', i));
  const sum = fetches.reduce((a, b) => a + b, 0);
  const { failed } = (await service.health()).checks.prewarmQueue;
  print(`${warm} of ${variantCount} variants are warm for their first live request`);
  print(`${sum} fetches of ${sourceCount} sources, at most ${Math.max(...fetches)} of one`);
  print(`${failed} jobs failed`);
  return warm === variantCount && failed === 0;
}

const { kill: kills } = new Command('bench:prewarm')
  .description('Measures a prewarming of 20 sources in 10 widths and 2 formats.')
  .option(
    '--kill <times>',
    'kill the worker this many times while it runs jobs, instead of measuring',
    count,
    0,
  )
  .parse()
  .opts<{ kill: number }>();

const sources = await startSources({ prewarmed: sourceCount, live: liveSources });
// A job stays locked for a while after its worker was killed. With a higher concurrency, a late kill
// would find all jobs locked and none running.
const service = await deploy(kills === 0 ? {} : { SERVICE_WORKER_CONCURRENCY: '2' });
try {
  const { concurrency } = (await service.health()).checks.transformQueue;
  print(`${variantCount} variants of ${sourceCount} sources; ${concurrency} transform threads`);
  // Under other load the results mean little: live and background requests then share what is left of
  // the processors.
  const [load = 0] = loadavg();
  print(`${availableParallelism()} cores, load average before the start ${load.toFixed(1)}`);
  if (kills === 0) await measure(service, sources);
  else await kill(service, sources, kills);
  if (!(await check(service, sources))) process.exitCode = 1;
} finally {
  await service.close();
  await sources.close();
}
