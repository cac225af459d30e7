import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { serveBodies } from '../../demo/origin/bodies.ts';
import { picture } from '../../demo/origin/pictures.ts';
import { type Measures, percentile } from '../report.ts';
import type { Scenario } from '../run.ts';
import { type DeployedService, deployService } from '../servers/service.ts';
import type { Bench } from './bench.ts';

const measures = {
  p50: { what: 'p50 of misses during a prewarming, divided by that without', unit: '×' },
  p95: { what: 'their p95, divided by that without', unit: '×', goal: { atMost: 1.5 } },
  warm: {
    what: 'variants that are warm for their first live request',
    unit: '%',
    goal: { atLeast: 100 },
  },
  fetches: { what: 'the most fetches of one source', unit: 'fetches' },
  failed: { what: 'jobs that failed', unit: 'jobs', goal: { atMost: 0 } },
} as const satisfies Measures;

const widths = [160, 240, 320, 480, 640, 800, 960, 1120, 1280, 1600];
const formats = ['webp', 'avif'];
const liveSourceCount = 4;
/** The widths of a round; every round adds 1 pixel: its variants are cold and cost the same. */
const liveWidths = [300, 420, 540, 660, 780, 900, 1020, 1140, 1260, 1380];

export const prewarm: Scenario<Bench> = {
  title: 'Prewarming and live requests',
  method:
    'A prewarming of 20 sources in 10 widths as WebP and AVIF, while a client requests other cold variants, one after the other, in alternating rounds with the worker paused and running. Then each prewarmed variant is requested once.',
  measures,
  async run({ opened, results, quick }: Bench<keyof typeof measures>) {
    const origin = await opened.open(startOrigin(liveSourceCount + (quick ? 4 : 20)));
    const live = origin.urls.slice(0, liveSourceCount);
    const prewarmed = origin.urls.slice(liveSourceCount);
    const service = await opened.open(deployService());
    const without: number[] = [];
    const during: number[] = [];
    await runRound(service, live, 0);
    await service.worker.start();
    await service.process.post(`/projects/${service.project}/prewarm`, {
      sources: prewarmed,
      widths,
      formats,
    });
    await sleep(1_000);
    for (let round = 1; ; round += 2) {
      await service.worker.pause();
      without.push(...(await runRound(service, live, round)));
      service.worker.resume();
      await sleep(200);
      const samples = await runRound(service, live, round + 1);
      // If the worker finished during the last round, that round does not count.
      const { active, queued } = (await service.process.health()).checks.prewarmQueue;
      if (active + queued === 0) break;
      during.push(...samples);
    }
    const variants = prewarmed.flatMap((source) =>
      widths.flatMap((width) => formats.map((format) => [source, width, format] as const)),
    );
    const caseName = `${variants.length} variants`;
    for (const [name, share] of [['p50', 0.5] as const, ['p95', 0.95] as const]) {
      const other = { name: 'without', values: [percentile(without, share)] };
      results.ratio(name, caseName, [percentile(during, share)], other, ' ms');
    }
    let warm = 0;
    for (const variant of variants) {
      if ((await requestTier(service, ...variant)) !== 'miss') warm += 1;
    }
    results.finding('warm', caseName, [(100 * warm) / variants.length]);
    const fetches = prewarmed.map((url) => origin.fetches.get(new URL(url).pathname) ?? 0);
    results.finding('fetches', caseName, [Math.max(...fetches)]);
    const { failed } = (await service.process.health()).checks.prewarmQueue;
    results.finding('failed', caseName, [failed]);
  },
};

/** One round of the client. @returns the times of its requests, ms */
async function runRound(
  service: DeployedService,
  live: readonly string[],
  round: number,
): Promise<number[]> {
  const times: number[] = [];
  for (const [index, width] of liveWidths.entries()) {
    for (const [number, source] of live.entries()) {
      const startedAt = performance.now();
      const format = formats[(index + number) % 2] ?? '';
      const tier = await requestTier(service, source, width + round, format);
      if (tier !== 'miss') throw new Error('a live request is not a miss');
      times.push(performance.now() - startedAt);
    }
  }
  return times;
}

/** Requests a variant. @returns `X-Cache` */
async function requestTier(
  service: DeployedService,
  source: string,
  width: number,
  format: string,
): Promise<string> {
  const query = `project=${service.project}&w=${width}&fmt=${format}`;
  const response = await fetch(`${service.url}/img/${encodeURIComponent(source)}?${query}`);
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${source}: ${response.status}`);
  return response.headers.get('x-cache') ?? '';
}

/** Serves different images that cost the same to transform. */
async function startOrigin(count: number) {
  const landscape = sharp(await picture('landscape.jpg')).resize(2000, 1500);
  const bodies: Buffer[] = [];
  for (let number = 1; number <= count; number++) {
    const turned = landscape.clone().modulate({ hue: 7 * number });
    bodies.push(await turned.jpeg({ quality: 85 }).toBuffer());
  }
  const fetches = new Map<string, number>();
  const { url, close } = await serveBodies((path) => {
    fetches.set(path, (fetches.get(path) ?? 0) + 1);
    return bodies[Number(path.slice(1))];
  });
  return { urls: bodies.map((_, number) => `${url}/${number}`), fetches, close };
}
