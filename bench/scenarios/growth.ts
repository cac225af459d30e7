import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { postProject } from '../call-api.ts';
import { loadOne } from '../load/load.ts';
import { peak } from '../load/peak.ts';
import { processorMs, residentMiB } from '../servers/processes.ts';
import { type DeployedService, deployService } from '../servers/service.ts';
import { measureMisses } from './rendering.ts';
import { alternate, figure, median } from './rounds.ts';
import { type Bench, type Measures, type Scenario, unusedNumber } from './scenario.ts';
import { imageUrlOf } from './sources.ts';

const measures = {
  'hits of the model': {
    what: 'hits per second of all cores, divided by those that the processor time of one process predicts',
    unit: '×',
  },
  'misses of the model': {
    what: 'misses per second of all cores, divided by those that the processor time of one process predicts',
    unit: '×',
  },
  image: {
    what: 'memory for each image of the memory cache, besides its bytes',
    unit: 'bytes',
  },
  project: { what: 'memory for each project that has requests', unit: 'bytes' },
  connection: { what: 'memory for each open connection', unit: 'bytes' },
} as const satisfies Measures;

type GrowthBench = Bench<keyof typeof measures>;

const connections = 64;
const urls = 100;

export const growth: Scenario = {
  title: 'Growth',
  method:
    'Hits of 100 URLs and misses of the photograph (800 px, JPEG) with 1, 2, 4 and 8 processes, as many cores for each, while the load has the others or, on the last step, shares them; and the resident memory (RSS of all processes) for each image, project and connection. The model: n cores do n times what the processor time of one process allows, because processes share no lock, and none of their messages is sent for a hit or for each miss.',
  measures,
  async run(bench) {
    await compareProcesses(bench);
    await measureMemory(bench);
  },
};

/** The rate of one kind of request, and its processor time in all processes of the service. */
interface Rate {
  readonly perSecond: number;
  readonly processorMs: number;
}

/** One value for each round. */
interface Step {
  readonly processes: number;
  readonly hits: readonly Rate[];
  readonly misses: readonly Rate[];
}

const kinds = ['hits', 'misses'] as const;

async function compareProcesses(bench: GrowthBench): Promise<void> {
  const steps: Step[] = [];
  for (const processes of [1, 2, 4, 8].filter((count) => count <= bench.cores)) {
    bench.progress(`${processes} processes`);
    const { server: cpus, load } = bench.pinning(processes);
    const settings = { SERVICE_PROCESSES: String(processes) };
    const service = await bench.open(deployService(settings, { cpus }));
    const rates = await alternate(bench.quick ? 1 : bench.rounds, {
      hits: () => hitsOf(bench, service, load),
      misses: () =>
        measureMisses(bench, service, {
          url: imageUrlOf(service, bench.sources.photo),
          first: unusedNumber(),
        }),
    });
    await service.close();
    steps.push({ processes, ...rates });
  }
  const [one] = steps;
  const last = steps.at(-1);
  if (one === undefined || last === undefined) return;
  for (const kind of kinds) {
    const predicted = predictedRate(one, kind, last.processes);
    const values = last[kind].map(({ perSecond }) => perSecond / predicted);
    const detail = `${figure(predicted)}/s predicted`;
    bench.finding(`${kind} of the model`, `${last.processes} processes`, values, detail);
  }
  bench.table({
    title: 'Processes, each with a core; beyond the cores of this machine by the model',
    rows: [
      [
        'processes',
        'hits/s',
        'by the model',
        'µs of a hit',
        'misses/s',
        'by the model',
        'ms of a miss',
      ],
      ...[1, 2, 4, 8].map((processes) => {
        const step = steps.find((each) => each.processes === processes);
        const rate = (kind: (typeof kinds)[number], key: keyof Rate, factor = 1) =>
          figure(factor * median(step?.[kind].map((each) => each[key]) ?? []));
        const model = (kind: (typeof kinds)[number]) => figure(predictedRate(one, kind, processes));
        return [
          String(processes),
          rate('hits', 'perSecond'),
          model('hits'),
          rate('hits', 'processorMs', 1_000),
          rate('misses', 'perSecond'),
          model('misses'),
          rate('misses', 'processorMs'),
        ];
      }),
    ],
  });
}

/** Requests per second that the processor time of one process allows on a number of cores. */
const predictedRate = (one: Step, kind: (typeof kinds)[number], cores: number): number =>
  (cores * 1_000) / median(one[kind].map((rate) => rate.processorMs));

async function hitsOf(
  { seconds, sources }: GrowthBench,
  service: DeployedService,
  cpus: string | null,
): Promise<Rate> {
  const requests = { name: 'hits', url: imageUrlOf(service, sources.small), first: 0, count: urls };
  // Often enough that every process has each image in its memory.
  await loadOne({ ...requests, clients: 16, requests: 20 * urls }, { seconds: 120 });
  const usedMs = () => processorMs(service.pid ?? 0);
  const before = await usedMs();
  const found = await peak({ seconds, connections, cpus, class: requests });
  return {
    perSecond: found.perSecond,
    processorMs: ((await usedMs()) - before) / found.requests,
  };
}

async function measureMemory(bench: GrowthBench): Promise<void> {
  const service = await bench.open(
    deployService({
      SERVICE_PROCESSES: '1',
      SERVICE_MEMORY_CACHE_BYTES: String(2 ** 30),
      SERVICE_API_RATE_LIMIT: '1000000',
    }),
  );
  // What the first images, projects and connections of a service need does not count.
  await renderImages(bench, service, 500);
  await requestProjects(bench, service, 200);
  const images = bench.quick ? 500 : 10_000;
  const imageBytes = await bench.sources.imageBytes(bench.sources.small, 'jpeg');
  const report = async (
    measure: 'image' | 'project' | 'connection',
    count: number,
    ownBytes: number,
    add: () => Promise<unknown>,
  ) => {
    bench.progress(`${count} ${measure}s`);
    const before = await restedMiB(service);
    await add();
    const bytes = (((await restedMiB(service)) - before) * 2 ** 20) / count - ownBytes;
    bench.finding(measure, `${count} ${measure}s`, [bytes], '');
  };
  await report('image', images, imageBytes, () => renderImages(bench, service, images));
  const projects = bench.quick ? 100 : 2_000;
  await report('project', projects, 0, () => requestProjects(bench, service, projects));
  const sockets: Socket[] = [];
  const open = bench.quick ? 200 : 5_000;
  await report('connection', open, 0, async () => {
    // In batches, because the service closes idle connections after 10 s.
    while (sockets.length < open) {
      const batch = Array.from({ length: 100 }, () => openConnection(service.url));
      sockets.push(...(await Promise.all(batch)));
    }
  });
  for (const socket of sockets) socket.destroy();
  await service.close();
}

/** After the garbage collection of an idle process. */
async function restedMiB(service: DeployedService): Promise<number> {
  let last = await residentMiB(service.pid ?? 0);
  for (let i = 0; i < 8; i += 1) {
    await sleep(500);
    const next = await residentMiB(service.pid ?? 0);
    if (Math.abs(next - last) < 0.1) break;
    last = next;
  }
  return last;
}

async function renderImages(
  bench: GrowthBench,
  service: DeployedService,
  requests: number,
): Promise<void> {
  const url = imageUrlOf(service, bench.sources.small);
  const planned = {
    name: 'misses',
    url,
    first: unusedNumber(),
    clients: 4 * bench.cores,
    requests,
  };
  const { counts, statuses } = await loadOne(planned, { seconds: 600 });
  if (counts.miss < requests) throw new Error(`${service.name}: ${JSON.stringify(statuses)}`);
}

/** Creates projects, and requests an image of each. */
async function requestProjects(
  { sources }: GrowthBench,
  service: DeployedService,
  count: number,
): Promise<void> {
  const { project, key } = service.deployment;
  const url = imageUrlOf(service, sources.small).replaceAll('{n}', '0');
  for (let i = 0; i < count; i += 1) {
    const id = await postProject(service.url, key, `Growth ${i}`);
    const response = await fetch(url.replace(project, id));
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${url}: ${response.status}`);
  }
}

/** A connection that has had one response, and is kept. */
function openConnection(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    socket.once('error', reject).once('data', () => resolve(socket));
    socket.write(`GET /api/ready HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
  });
}
