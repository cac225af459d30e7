import { spawn } from 'node:child_process';
import { json } from 'node:stream/consumers';
import { peak } from '../../load/peak.ts';
import { script } from '../../servers/launch.ts';
import { residentMiB } from '../../servers/server.ts';
import { type Service, startService } from '../../servers/service.ts';
import { rendered } from '../rendering.ts';
import { alternate } from '../rounds.ts';
import { type Bench, unused } from '../scenario.ts';
import { quality } from '../sources.ts';
import { entryBytes } from './entries.ts';
import type { IndexFigures } from './index-probe.ts';

export const connections = 32;
const mostRounds = 3;
const scanWithinMs = 600_000;

/** What was measured with as many entries. */
export interface Step extends IndexFigures {
  readonly count: number;
  readonly healthyS: number;
  /** Until health shows all entries, s. */
  readonly knownS: number;
  /** Per second, one for each round. */
  readonly hits: readonly number[];
  readonly misses: readonly number[];
  /** Of a service without entries, in the same rounds. */
  readonly emptyHits: readonly number[];
  readonly emptyMisses: readonly number[];
  readonly residentMiB: number;
}

/** The service with as many entries, and another one without, which is as new. */
export async function stepOf(
  bench: Omit<Bench, 'finding'>,
  dataDir: string,
  count: number,
): Promise<Omit<Step, 'count' | keyof IndexFigures>> {
  const startedAt = performance.now();
  // Its default limit, were it smaller, would evict most of them.
  const settings = { SERVICE_DISK_CACHE_BYTES: String(2 ** 40) };
  const service = await bench.open(startService(settings, { dataDir }));
  await untilKnown(service, count * entryBytes);
  const knownS = (performance.now() - startedAt) / 1_000;
  // The first images of a process take longer than later ones.
  const empty = await bench.open(startService());
  const { small } = bench.sources;
  const urlOf = ({ imageUrl }: Service) =>
    imageUrl({ source: small.url, width: small.width, format: 'jpeg', quality });
  const missesOf = (one: Service) => async () =>
    (await rendered(bench, one, { url: urlOf(one), first: unused() })).perSecond;
  const hitsOf = (one: Service) => async () => {
    const planned = { name: 'hits', url: urlOf(one), first: 0, count: 1 };
    const { seconds } = bench;
    return (await peak({ seconds, connections, cpus: null, class: planned })).perSecond;
  };
  const rates = await alternate(bench.quick ? 1 : Math.min(mostRounds, bench.rounds), {
    misses: missesOf(service),
    emptyMisses: missesOf(empty),
    hits: hitsOf(service),
    emptyHits: hitsOf(empty),
  });
  const { hits = [], misses = [], emptyHits = [], emptyMisses = [] } = rates;
  const resident = await residentMiB(service.pid ?? 0);
  await service.close();
  await empty.close();
  const healthyS = (service.healthyMs ?? Number.NaN) / 1_000;
  const measured = { healthyS, knownS, hits, misses, emptyHits, emptyMisses };
  return { ...measured, residentMiB: resident };
}

async function untilKnown({ deployment }: Service, bytes: number): Promise<void> {
  const deadline = Date.now() + scanWithinMs;
  while ((await deployment.health()).checks.cache.diskSizeBytes < bytes) {
    if (Date.now() > deadline) throw new Error('the service does not find its disk cache');
    await new Promise((waited) => setTimeout(waited, 20));
  }
}

export async function probeIndex(folder: string): Promise<IndexFigures> {
  const [program = '', ...args] = script('./index-probe', import.meta.url);
  const child = spawn(program, [...args, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  return (await json(child.stdout)) as IndexFigures;
}
