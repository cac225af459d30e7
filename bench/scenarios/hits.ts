import { loadOne } from '../load/load.ts';
import { peak } from '../load/peak.ts';
import type { ClosedClass } from '../load/plan.ts';
import { cachedResponse, type RepeatedResponse, startBare } from '../servers/bare.ts';
import { hasNginx, startNginxCache } from '../servers/nginx.ts';
import { processorMs } from '../servers/processes.ts';
import type { Server } from '../servers/server.ts';
import { deployService } from '../servers/service.ts';
import { alternate } from './rounds.ts';
import type { Bench, Measures, Scenario } from './scenario.ts';
import { imageUrlOf } from './sources.ts';

const measures = {
  'of a bare handler': {
    what: 'hits per second, divided by those of a bare handler with the same headers and body',
    unit: '×',
    goal: { atLeast: 0.95 },
  },
  'of nginx': {
    what: 'hits per second, divided by those of nginx proxy_cache',
    unit: '×',
    goal: { atLeast: 1.3 },
  },
  'processor time': {
    what: 'processor time of a hit, divided by that of the bare handler',
    unit: '×',
  },
  'six Accept headers': {
    what: 'hits per second with six Accept headers in turn, divided by those with one',
    unit: '×',
    goal: { atLeast: 0.9 },
  },
} as const satisfies Measures;

type HitsBench = Bench<keyof typeof measures>;

export const hits: Scenario = {
  title: 'Hits',
  method:
    'Requests per second of images in the memory cache, beside a handler that sends the same headers and body to every request, and beside nginx proxy_cache. For many URLs the handler has a copy of the body for each, because one body for all stays in the processor’s caches. Closed loop; the server and the load have separate processors if there are enough.',
  measures,
  async run(bench) {
    if (!hasNginx) bench.note('nginx is not installed, and not compared.');
    for (const setup of setups(bench.quick)) await compare(bench, setup);
  },
};

type Requests = Pick<ClosedClass, 'count' | 'zipf' | 'headers'>;

interface Setup {
  readonly processes: number;
  readonly kilobytes: number;
  readonly connections: readonly number[];
}

/** A quick run has every number of processes, bytes and connections, but not all combinations. */
const setups = (quick: boolean): Setup[] =>
  quick
    ? [
        { processes: 1, kilobytes: 20, connections: [32] },
        { processes: 2, kilobytes: 200, connections: [256] },
      ]
    : [1, 2].flatMap((processes) =>
        [20, 200].map((kilobytes) => ({ processes, kilobytes, connections: [32, 256] })),
      );

interface Hits {
  readonly perSecond: number;
  /** Of one hit. */
  readonly processorUs: number;
}

async function compare(
  bench: HitsBench,
  { processes, kilobytes, connections }: Setup,
): Promise<void> {
  const { server: cpus, load: loadCpus } = bench.pinning(processes);
  const source = await bench.sources.sized(kilobytes * 1_000);
  const settings = { SERVICE_PROCESSES: String(processes) };
  const service = await bench.open(deployService(settings, { cpus }));
  const template = imageUrlOf(service, source);
  const response = await cachedResponse(template.replaceAll('{n}', '0'));
  const bare = await bench.open(startBare(response, { processes, cpus }));
  const nginx = hasNginx
    ? [await bench.open(startNginxCache(bare.url, { workers: processes, cpus }))]
    : [];

  /** @param others the bare handler, and nginx if it is compared */
  const measure = async (
    caseName: string,
    requests: Requests,
    clients: number,
    others: readonly Server[],
  ) => {
    await warm(template, requests);
    const at = (server: Server) => async (): Promise<Hits> => {
      const before = await processorMs(server.pid ?? 0);
      // The same path for all servers: its length is a part of the cost.
      const url = template.replace(service.url, server.url);
      const { perSecond, requests: count } = await peak({
        seconds: bench.seconds,
        connections: clients,
        cpus: loadCpus,
        class: { name: 'hits', first: 0, url, ...requests },
      });
      const usedMs = (await processorMs(server.pid ?? 0)) - before;
      return { perSecond, processorUs: (1_000 * usedMs) / count };
    };
    const contenders = [service, ...others].map((one) => [one.name, at(one)] as const);
    report(bench, caseName, await alternate(bench.rounds, Object.fromEntries(contenders)), others);
  };

  const plural = processes > 1 ? 'es' : '';
  for (const each of connections) {
    const caseName = `${kilobytes} KB, ${processes} process${plural}, ${each} connections`;
    const others = kilobytes === 20 ? [bare, ...nginx] : [bare];
    await measure(caseName, { count: 1 }, each, others);
  }
  if (processes > 1 || kilobytes > 20) return;
  const count = bench.quick ? 150 : 2_000;
  const paths = pathsOf(template, count);
  const bareOfMany = await bench.open(startBare(response, { processes, cpus, paths }));
  const many = [bareOfMany, ...nginx];
  await measure(`${count} URLs in Zipf order`, { count, zipf: 0.9 }, 32, many);
  const headers = [{ 'if-none-match': etagOf(response) }];
  const others = bench.quick ? [bare] : [bare, ...nginx];
  await measure('304s', { count: 1, headers }, 32, others);
  await compareAccepts(bench, template.replace('fmt=jpeg', 'fmt=auto'), loadCpus);
}

const etagOf = ({ headers }: RepeatedResponse): string =>
  headers.find(([name]) => name === 'etag')?.[1] ?? '';

/** The paths of the first URLs of a template. */
const pathsOf = (template: string, count: number): string[] =>
  Array.from({ length: count }, (_, number) => {
    const [url = ''] = template.replaceAll('{n}', String(number)).split('?', 1);
    return url.slice(url.indexOf('/', url.indexOf('//') + 2));
  });

/** Requests every URL twice with every header, so that each is in the memory of every process. */
async function warm(url: string, { count = 1, headers = [{}] }: Requests): Promise<void> {
  const requests = 2 * Math.max(16, count);
  const planned = { name: 'warm', url, first: 0, count, headers, clients: 16, requests };
  const { counts, statuses } = await loadOne(planned, { seconds: 120 });
  if (counts.failed + counts.refused > 0) throw new Error(`${url}: ${JSON.stringify(statuses)}`);
}

function report(
  bench: HitsBench,
  caseName: string,
  measured: Record<string, Hits[]>,
  [bare, nginx]: readonly Server[],
): void {
  const compareWith = (
    measure: keyof typeof measures,
    other: Server | undefined,
    key: keyof Hits,
  ) => {
    if (other === undefined) return;
    const valuesOf = (name: string) => (measured[name] ?? []).map((one) => one[key]);
    const theirs = { name: other.name, values: valuesOf(other.name) };
    const unit = key === 'perSecond' ? '/s' : ' µs';
    bench.ratio(measure, caseName, valuesOf('service'), theirs, unit);
  };
  compareWith('of a bare handler', bare, 'perSecond');
  compareWith('processor time', bare, 'processorUs');
  compareWith('of nginx', nginx, 'perSecond');
}

/** `Accept` headers of browsers, all of which lead to the same AVIF. */
const accepts = [
  'image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8',
  'image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5',
  'image/avif,image/webp,*/*',
  'image/avif,image/webp,*/*;q=0.8',
  'image/webp,image/avif,image/jxl,image/heic,image/heic-sequence,video/*;q=0.8,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5',
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8',
].map((accept) => ({ accept }));

async function compareAccepts(bench: HitsBench, url: string, cpus: string | null): Promise<void> {
  await warm(url, { count: 1, headers: accepts });
  const at = (headers: typeof accepts) => async () => {
    const planned = { name: 'hits', url, first: 0, count: 1, headers };
    const options = { seconds: bench.seconds, connections: 32, cpus, class: planned };
    return (await peak(options)).perSecond;
  };
  const { six, one } = await alternate(bench.rounds, {
    six: at(accepts),
    one: at(accepts.slice(0, 1)),
  });
  const caseName = '20 KB JPEG source as AVIF, 32 connections';
  bench.ratio('six Accept headers', caseName, six, { name: 'with one', values: one }, '/s');
}
