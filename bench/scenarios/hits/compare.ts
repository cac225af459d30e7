import { peak } from '../../load/peak.ts';
import { hitAnswer, startBare } from '../../servers/bare.ts';
import { hasNginx, startNginxCache } from '../../servers/nginx.ts';
import { processorMs, type Server } from '../../servers/server.ts';
import { startService } from '../../servers/service.ts';
import { alternate, ratios, spread } from '../rounds.ts';
import type { Bench } from '../scenario.ts';
import { quality } from '../sources.ts';
import { compareAccepts } from './accepts.ts';
import { type Requests, warm } from './warm.ts';

export type HitsBench = Bench<'bare' | 'nginx' | 'accept' | 'processor'>;

export interface Case {
  readonly of: string;
  readonly connections: number;
  readonly requests: Requests;
  readonly withNginx: boolean;
}

/** @param hot how many URLs are asked for in Zipf order; 0 for the cases alone */
export async function compare(
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
    source: source.url,
    width: source.width,
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
