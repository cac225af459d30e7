import { load, ofClass } from '../load/load.ts';
import { peak } from '../load/peak.ts';
import type { ClosedClass } from '../load/plan.ts';
import { hitAnswer, startBare } from '../servers/bare.ts';
import { hasNginx, startNginxCache } from '../servers/nginx.ts';
import { processorMs, type Server } from '../servers/server.ts';
import { type Service, startService } from '../servers/service.ts';
import { alternate, ratios, spread } from './rounds.ts';
import { type Bench, scenario } from './scenario.ts';
import { quality } from './sources.ts';

/** Browsers' `Accept` headers, all of which lead to the same AVIF. */
const accepts = [
  'image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8',
  'image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5',
  'image/avif,image/webp,*/*',
  'image/avif,image/webp,*/*;q=0.8',
  'image/webp,image/avif,image/jxl,image/heic,image/heic-sequence,video/*;q=0.8,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5',
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8',
].map((accept) => ({ accept }));

/** What is asked for in one case. */
type Requests = Pick<ClosedClass, 'count' | 'zipf' | 'headers'>;

interface Case {
  readonly of: string;
  readonly connections: number;
  readonly requests: Requests;
  readonly withNginx: boolean;
}

type HitsBench = Bench<'bare' | 'nginx' | 'accept' | 'processor'>;

export const hits = scenario({
  title: 'Hits',
  about:
    'Requests per second of images in the memory cache, beside a handler that answers everything with the same headers and body, and beside nginx proxy_cache. For many URLs the handler has a copy of the body for each, because one body for all stays in the processor’s caches. Closed loop; a server and the load have processors of their own where there are enough.',
  measures: {
    bare: {
      name: 'of a bare handler',
      what: 'hits per second, of those of a bare handler with the same headers and body',
      unit: '×',
      goal: { atLeast: 0.95 },
    },
    nginx: {
      name: 'of nginx',
      what: 'hits per second, of those of nginx proxy_cache',
      unit: '×',
      goal: { atLeast: 1.3 },
    },
    processor: {
      name: 'processor time',
      what: 'processor time of a hit, of that of the bare handler',
      unit: '×',
      goal: null,
    },
    accept: {
      name: 'six Accept headers',
      what: 'hits per second with six Accept headers by turns, of those with one',
      unit: '×',
      goal: { atLeast: 0.9 },
    },
  },
  async run(bench) {
    if (!hasNginx) bench.note('nginx is not installed, so nothing is measured beside it.');
    const hot = bench.quick ? 150 : 2_000;
    for (const { processes, kilobytes, connections } of setups(bench.quick)) {
      const cases: Case[] = connections.map((each) => ({
        of: `${kilobytes} KB, ${named(processes)}, ${each} connections`,
        connections: each,
        requests: { count: 1 },
        withNginx: kilobytes === 20,
      }));
      const isFirst = processes === 1 && kilobytes === 20;
      await compare(bench, processes, kilobytes, cases, isFirst ? hot : 0);
    }
  },
});

interface Setup {
  readonly processes: number;
  readonly kilobytes: number;
  readonly connections: readonly number[];
}

/** A quick run has every number of processes, bytes and connections, but not all together. */
const setups = (quick: boolean): Setup[] =>
  quick
    ? [
        { processes: 1, kilobytes: 20, connections: [32] },
        { processes: 2, kilobytes: 200, connections: [256] },
      ]
    : [1, 2].flatMap((processes) =>
        [20, 200].map((kilobytes) => ({ processes, kilobytes, connections: [32, 256] })),
      );

const named = (processes: number): string => `${processes} process${processes > 1 ? 'es' : ''}`;

/** @param hot how many URLs are asked for in Zipf order; 0 for the cases alone */
async function compare(
  bench: HitsBench,
  processes: number,
  kilobytes: number,
  cases: readonly Case[],
  hot: number,
): Promise<void> {
  const { server: cpus, load: loadCpus } = bench.pinning(processes);
  const source = await bench.sources.sized(kilobytes * 1_000);
  const settings = { SERVICE_PROCESSES: String(processes) };
  const service = await bench.open(startService(settings, { cpus }));
  const template = service.imageUrl({
    ...{ source: source.url, width: source.width },
    format: 'jpeg',
    quality,
  });
  const answer = await hitAnswer(template.replaceAll('{n}', '0'));
  const bare = await bench.open(startBare(answer, { processes, cpus }));
  const bareOfMany =
    hot === 0
      ? bare
      : await bench.open(startBare(answer, { processes, cpus, paths: pathsOf(template, hot) }));
  const nginx = hasNginx
    ? await bench.open(startNginxCache(bare.url, { workers: processes, cpus }))
    : null;
  const etag = answer.headers.find(([name]) => name === 'etag')?.[1] ?? '';
  const more: Case[] =
    hot === 0
      ? []
      : [
          { of: `${hot} URLs in Zipf order`, requests: { count: hot, zipf: 0.9 } },
          { of: '304s', requests: { count: 1, headers: [{ 'if-none-match': etag }] } },
        ].map((one) => ({ ...one, connections: 32, withNginx: !bench.quick || one.of !== '304s' }));
  for (const one of [...cases, ...more]) {
    await warm(service, template, one.requests);
    const at = (server: Server) => async (): Promise<Hits> => {
      const before = await processorMs(server.pid ?? 0);
      const { perSecond, requests } = await peak({
        seconds: bench.seconds,
        connections: one.connections,
        cpus: loadCpus,
        // The same path for all: its length is a part of the cost.
        class: {
          name: 'hits',
          first: 0,
          url: template.replace(service.url, server.url),
          ...one.requests,
        },
      });
      const usedMs = (await processorMs(server.pid ?? 0)) - before;
      return { perSecond, processorUs: (1_000 * usedMs) / requests };
    };
    const measured = await alternate(bench.rounds, {
      service: at(service),
      bare: at(one.requests.count === 1 ? bare : bareOfMany),
      ...(nginx !== null && one.withNginx ? { nginx: at(nginx) } : {}),
    });
    found(bench, one.of, measured);
  }
  if (hot > 0) await compareAccepts(bench, service, template, loadCpus);
}

/** The paths of the first URLs of a template. */
const pathsOf = (template: string, count: number): string[] =>
  Array.from({ length: count }, (_, number) => {
    const [path = ''] = template.replaceAll('{n}', String(number)).split('?', 1);
    return path.slice(path.indexOf('/', path.indexOf('//') + 2));
  });

interface Hits {
  readonly perSecond: number;
  /** Of one hit. */
  readonly processorUs: number;
}

function found(bench: HitsBench, of: string, measured: Record<string, Hits[]>): void {
  const values = (name: string, key: keyof Hits) => (measured[name] ?? []).map((one) => one[key]);
  const compare = (measure: 'bare' | 'nginx' | 'processor', other: string, key: keyof Hits) => {
    const [own, others] = [values('service', key), values(other, key)];
    const unit = key === 'perSecond' ? '/s' : ' µs';
    const detail = `${spread(own)}${unit}, ${other} ${spread(others)}${unit}`;
    bench.finding(measure, of, ratios(own, others), detail);
  };
  compare('bare', 'bare', 'perSecond');
  compare('processor', 'bare', 'processorUs');
  if (measured['nginx'] !== undefined) compare('nginx', 'nginx', 'perSecond');
}

/** The service beside itself. */
async function compareAccepts(
  bench: HitsBench,
  service: Service,
  template: string,
  cpus: string | null,
): Promise<void> {
  const url = template.replace('fmt=jpeg', 'fmt=auto');
  const of = (headers: Requests['headers'] & object) => async () => {
    const planned = { name: 'hits', url, first: 0, count: 1, headers };
    const options = { seconds: bench.seconds, connections: 32, cpus, class: planned };
    return (await peak(options)).perSecond;
  };
  await warm(service, url, { count: 1, headers: accepts });
  const rates = await alternate(bench.rounds, {
    six: of(accepts),
    one: of(accepts.slice(0, 1)),
  });
  const { six = [], one = [] } = rates;
  const detail = `${spread(six)}/s, with one ${spread(one)}/s`;
  bench.finding('accept', '20 KB JPEG source as AVIF, 32 connections', ratios(six, one), detail);
}

/** Every URL twice with every header, so that each is in the memory of the processes that serve it. */
async function warm(service: Service, url: string, requests: Requests): Promise<void> {
  const { count = 1, headers } = requests;
  const result = await load({
    seconds: 120,
    classes: [
      {
        ...{ name: 'warm', url, first: 0, count, clients: 16 },
        ...(headers === undefined ? {} : { headers }),
        requests: 2 * Math.max(16, count),
      },
    ],
  });
  const { counts, answers } = ofClass(result, 'warm');
  if (counts.failed + counts.refused > 0) {
    throw new Error(`${service.name}: ${JSON.stringify(answers)}`);
  }
}
