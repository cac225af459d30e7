import { target } from '../load/generator.ts';
import { loadOne, type Requests, requestEach } from '../load/load.ts';
import { alternateServers, type Measures } from '../report.ts';
import type { Scenario } from '../run.ts';
import { cachedResponse, startBare } from '../servers/bare.ts';
import { pinning, processorMs } from '../servers/launch.ts';
import { hasNginx, startNginxCache } from '../servers/nginx.ts';
import type { Server } from '../servers/server.ts';
import { type DeployedService, deployService } from '../servers/service.ts';
import { type Bench, toImageUrl } from './bench.ts';

const measures = {
  'of a bare handler': {
    what: 'hits per second of processor time, divided by those of a bare handler with the same headers and body',
    unit: '×',
    goal: { atLeast: 0.95 },
  },
  'of nginx': {
    what: 'hits per second of processor time, divided by those of nginx proxy_cache',
    unit: '×',
    goal: { atLeast: 1.3 },
  },
} as const satisfies Measures;

type HitsBench = Bench<keyof typeof measures>;

export const hits: Scenario<Bench> = {
  title: 'Hits',
  method:
    'Images in the memory cache of one process, beside a handler that sends the same headers and body to every request, and beside nginx proxy_cache: the requests of a closed loop, divided by the processor time of all processes of the server, which the load generator’s own speed does not limit. For many URLs the handler has a copy of the body for each, because one body for all stays in the processor’s caches. The server and the load have separate processors if there are several.',
  measures,
  async run(bench: HitsBench) {
    const { opened, results, sources, quick } = bench;
    if (!hasNginx) results.note('nginx is not installed, and not compared.');
    const cpus = pinning(bench.cores).server;
    const settings = { SERVICE_PROCESSES: '1' };
    const service = await opened.open(deployService(settings, { cpus }));
    for (const kilobytes of [20, 200]) {
      const url = toImageUrl(service, await sources.sized(kilobytes * 1_000));
      const response = await cachedResponse(url.replaceAll('{n}', '0'));
      const bare = await opened.open(startBare(response, cpus));
      const nginx =
        hasNginx && kilobytes === 20 ? [await opened.open(startNginxCache(bare.url, cpus))] : [];
      for (const connections of quick ? [32] : [32, 256]) {
        const name = `${kilobytes} KB, ${connections} connections`;
        const requests = { url, first: 0, count: 1 };
        await compare(bench, name, requests, connections, [service, bare, ...nginx]);
      }
      if (kilobytes > 20) continue;
      const count = quick ? 150 : 2_000;
      const paths = Array.from({ length: count }, (_, number) => {
        const [path = ''] = target(url, number).path.split('?', 1);
        return path;
      });
      const bareOfMany = await opened.open(startBare(response, cpus, paths));
      const many = { url, first: 0, count, zipf: 0.9 };
      const servers = [service, bareOfMany, ...nginx] as const;
      await compare(bench, `${count} URLs in Zipf order`, many, 32, servers);
      const etag = response.headers.find(([name]) => name === 'etag')?.[1] ?? '';
      const conditional = { url, first: 0, count: 1, headers: { 'if-none-match': etag } };
      await compare(bench, '304s', conditional, 32, [service, bare, ...nginx]);
    }
  },
};

/** The system reports a process's processor time in steps of 10 ms. */
const minSeconds = 2;

/** Compares the hits per second of processor time. */
async function compare(
  { results, rounds, seconds, cores }: HitsBench,
  caseName: string,
  requests: Requests,
  clients: number,
  [service, bare, ...others]: readonly [DeployedService, Server, ...Server[]],
): Promise<void> {
  const { count = 1 } = requests;
  // V8 compiles what runs often: before that a hit takes longer.
  await requestEach(requests.url, count, Math.max(10_000, 2 * count));
  const measure = async (server: Server): Promise<number> => {
    const before = await processorMs(server.pid ?? 0);
    // The same path for all servers: its length is a part of the cost.
    const url = requests.url.replace(service.url, server.url);
    const cpus = pinning(cores).load;
    const plan = { seconds: Math.max(minSeconds, seconds) };
    const { all } = await loadOne({ ...requests, url, clients }, plan, ['hit', 'miss'], cpus);
    return (1_000 * all) / ((await processorMs(server.pid ?? 0)) - before);
  };
  const found = await alternateServers(rounds, [service, bare, ...others], measure);
  const compareWith = (measure: keyof typeof measures, { name }: Server) => {
    const theirs = { name, values: found[name] ?? [] };
    results.ratio(measure, caseName, found[service.name] ?? [], theirs, '/s');
  };
  compareWith('of a bare handler', bare);
  for (const other of others) compareWith('of nginx', other);
}
