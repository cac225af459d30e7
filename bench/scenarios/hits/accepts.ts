import { peak } from '../../load/peak.ts';
import type { Service } from '../../servers/service.ts';
import { alternate, ratios, spread } from '../rounds.ts';
import type { Bench } from '../scenario.ts';
import { type Requests, warm } from './warm.ts';

/** Browsers' `Accept` headers, all of which lead to the same AVIF. */
const accepts = [
  'image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8',
  'image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5',
  'image/avif,image/webp,*/*',
  'image/avif,image/webp,*/*;q=0.8',
  'image/webp,image/avif,image/jxl,image/heic,image/heic-sequence,video/*;q=0.8,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5',
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8',
].map((accept) => ({ accept }));

/** The service beside itself. */
export async function compareAccepts(
  bench: Bench<'accept'>,
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
