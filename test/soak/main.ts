import { availableParallelism, loadavg } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { temporaryFolder } from '../../bench/resources.ts';
import { deployService, type HealthBody } from '../../bench/servers/service.ts';
import { numberFrom } from '../../demo/arguments.ts';
import { Load, shares, type Target } from './load.ts';
import { startSoakOrigin } from './origin.ts';
import { probeFolderVariable, sampleProcesses } from './processes.ts';
import { writeReport } from './report.ts';
import { growths, replacedFrontEnds, type Sample, toFigures } from './verdict.ts';

/**
 * `npm run test:soak`: a mixed load for many minutes that must not increase the service's memory.
 */

const print = (text: string): void => void process.stdout.write(`${text}\n`);
const sampleCount = 180;
const shortestSampleMs = 1_000;
const progressEveryMs = 30_000;
const shownFailures = 10;
/** Small caches, which are full before the second third of ten minutes. */
const cacheSettings = {
  SERVICE_MEMORY_CACHE_BYTES: String(24 * 1024 * 1024),
  SERVICE_DISK_CACHE_BYTES: String(96 * 1024 * 1024),
};

interface Options {
  readonly minutes: number;
  readonly folder: string;
  readonly rate: number;
  readonly seed: number;
  readonly url?: string;
  readonly key?: string;
  readonly pid?: number;
  readonly originPort: number;
}

const mix = Object.entries(shares)
  .map(([kind, percent]) => `  ${String(percent).padStart(2)} % ${kind}`)
  .join('\n');

const command = new Command('test:soak')
  .description(
    'Sends a mixed load for some minutes and records memory, descriptors, event-loop delay, hit rate and latencies in charts and tables. Exit code 1 when the memory of the last third differs by more than 5 % from that of the middle third, when a front end was replaced, or when a request got an unexpected response.',
  )
  .option('--minutes <n>', 'how long the load lasts', numberFrom(0.1, 10_000), 20)
  .option('--folder <path>', 'for soak.svg and soak.md', 'data/soak')
  .option('--rate <n>', 'requests a second', numberFrom(1, 5_000), 100)
  .option('--seed <n>', 'of the random choices', numberFrom(0, 2 ** 32), 1)
  .option('--url <url>', 'use this running service; it must allow sources on 127.0.0.1')
  .option('--key <key>', 'with --url: an API key that may create a project')
  .option('--pid <pid>', 'with --url: the primary, to see its memory', numberFrom(1, 2 ** 31))
  .option('--origin-port <port>', 'of the sources on 127.0.0.1', numberFrom(0, 65_535), 0)
  .addHelpText('after', `\nThe load:\n${mix}`)
  .parse();
const options = command.opts<Options>();
if ((options.url === undefined) !== (options.key === undefined)) {
  command.error('--url and --key belong together');
}
interface Running {
  readonly target: Target;
  health(): Promise<HealthBody>;
  close(): Promise<void>;
  readonly pid: number | null;
  readonly probes: string | null;
}

/** Starts a service with its probes. */
async function start(): Promise<Running> {
  const probes = await temporaryFolder('soak');
  const probe = new URL(`./probe${extname(import.meta.url)}`, import.meta.url);
  const { url, project, signed, pid, process, close } = await deployService({
    ...cacheSettings,
    NODE_OPTIONS: `--import=${probe.href}`,
    [probeFolderVariable]: probes.path,
  });
  return {
    target: { url, project, signed },
    pid,
    probes: probes.path,
    health: () => process.health(),
    async close() {
      await close();
      await probes.close();
    },
  };
}

/** Creates a project in a running service, which allows sources on 127.0.0.1. */
async function use({ url = '', key = '', pid }: Options): Promise<Running> {
  const base = url.replace(/\/+$/, '');
  const response = await fetch(`${base}/api/sdk/v1/projects`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Soak', origin: 'http://127.0.0.1/' }),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  const { project } = (await response.json()) as { project: { id: string } };
  return {
    target: { url: base, project: project.id, signed: null },
    pid: pid ?? null,
    probes: null,
    health: async () => (await fetch(`${base}/api/health`)).json() as Promise<HealthBody>,
    close: async () => {},
  };
}

const startedLoad = loadavg()[0] ?? 0;
const origin = await startSoakOrigin(options.originPort);
const service = await (options.url === undefined ? start() : use(options)).catch(
  async (error: unknown) => {
    await origin.close();
    throw error;
  },
);
const samples: Sample[] = [];
const unexpected: string[] = [];
try {
  const { target, pid, probes } = service;
  const load = new Load({ target, origin, rate: options.rate, seed: options.seed });
  const lengthMs = options.minutes * 60_000;
  const everyMs = Math.max(shortestSampleMs, lengthMs / sampleCount);
  const running = load.run();
  const startedAt = performance.now();
  let progressAt = startedAt;
  let stopped = false;
  process.once('SIGINT', () => {
    stopped = true;
  });
  print(`${options.minutes} minutes, ${options.rate} requests a second, seed ${options.seed}`);
  while (!stopped && performance.now() - startedAt < lengthMs) {
    await sleep(everyMs);
    const interval = load.take();
    unexpected.push(...interval.unexpected);
    const health = await service.health().catch(() => null);
    const sample: Sample = {
      atS: (performance.now() - startedAt) / 1_000,
      processes: pid === null ? [] : await sampleProcesses(pid, probes),
      memoryCacheBytes: health?.checks.cache.memorySizeBytes ?? Number.NaN,
      diskCacheBytes: health?.checks.cache.diskSizeBytes ?? Number.NaN,
      ...toFigures(interval),
    };
    samples.push(sample);
    if (performance.now() - progressAt < progressEveryMs) continue;
    progressAt = performance.now();
    print(progress(sample));
  }
  load.stop();
  await running;
  unexpected.push(...load.take().unexpected);
} finally {
  await service.close();
  await origin.close();
}

function progress({ atS, processes, hitRate, missP50Ms, ...rest }: Sample): string {
  const rss = processes.map(
    ({ role, rssBytes }) => `${role} ${Math.round(rssBytes / 1024 / 1024)}`,
  );
  return `${(atS / 60).toFixed(1)} min: MiB ${rss.join(', ')}; ${(100 * hitRate).toFixed(0)} % hits, miss p50 ${missP50Ms.toFixed(0)} ms, hit p99 ${rest.hitP99Ms.toFixed(1)} ms, ${rest.overloaded} overloaded, ${unexpected.length} unexpected`;
}

const memory = service.pid === null ? [] : growths(samples);
const replaced = replacedFrontEnds(samples);
const failures = [
  ...memory.filter(({ flat }) => !flat).map(({ what }) => `the memory of ${what} is not flat`),
  ...(replaced > 0 ? [`${replaced} front ends were replaced`] : []),
  ...(unexpected.length > 0 ? [`${unexpected.length} unexpected responses`] : []),
  ...unexpected.slice(0, shownFailures),
];
const title = `Soak of ${options.minutes} min, ${options.rate} requests/s, Node ${process.version}, ${availableParallelism()} cores; load average ${startedLoad.toFixed(1)} before, ${(loadavg()[0] ?? 0).toFixed(1)} at the end`;
const folder = resolve(options.folder);
await writeReport(folder, { title, samples, growths: memory, failures });
for (const { what, middleBytes, lastBytes } of memory) {
  const [middle, last] = [middleBytes, lastBytes].map((bytes) => (bytes / 1024 / 1024).toFixed(1));
  const change = (100 * (lastBytes / middleBytes - 1)).toFixed(1);
  print(`${what}: ${middle} MiB in the middle third, ${last} MiB in the last: ${change} %`);
}
print(`written: ${join(folder, 'soak.svg')}, soak.md`);
print(failures.length === 0 ? 'passed' : `FAILED\n${failures.join('\n')}`);
if (failures.length > 0) process.exitCode = 1;
