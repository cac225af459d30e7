import { installed } from '../servers/launch.ts';
import { loadOne } from './load.ts';
import type { LoadClass } from './plan.ts';
import { seeded } from './random.ts';
import { requestsOf } from './requests.ts';
import { type Rate, wrk } from './wrk.ts';

/** The maximum number of requests in a sequence, because of wrk's memory. */
const maxSequence = 16_384;

export const hasWrk = installed('wrk');

export interface PeakOptions {
  readonly seconds: number;
  readonly connections: number;
  readonly cpus: string | null;
  readonly class: Omit<LoadClass, 'rate' | 'clients'>;
}

/**
 * The maximum rate of successful requests, measured with wrk if it is installed, otherwise with the
 * project's generator, whose limit may be below the server's.
 * @throws when a request fails
 */
export async function peak(options: PeakOptions): Promise<Rate> {
  const { seconds, connections, cpus } = options;
  const planned = { ...options.class, clients: connections };
  if (!hasWrk) {
    const warmupS = seconds / 5;
    const result = await loadOne(planned, { seconds: seconds + warmupS, warmupS }, cpus);
    const { counts, goodput, all } = result;
    if (counts.failed + counts.refused > 0) throw new Error(`${planned.url}: failed requests`);
    return { perSecond: goodput, requests: all };
  }
  const next = requestsOf(planned, seeded(1));
  const different = Math.max(planned.count ?? maxSequence, planned.headers?.length ?? 1);
  const length = different === 1 ? 1 : planned.zipf === undefined ? different : maxSequence;
  const requests = Array.from({ length }, next);
  const origin = requests[0]?.origin ?? '';
  return wrk({ origin, connections, seconds, requests, cpus });
}
