import { readFileSync } from 'node:fs';
import t from 'tap';
import { concurrently } from '../concurrently.ts';
import { get } from './held-reply.ts';
import { startTestOrigin } from './origin.ts';
import { startService } from './service.ts';

const perRound = 10_000;
/** Memory of the rounds after the first, in which caches fill. */
const mostGrowthMebibytes = 60;

const origin = await startTestOrigin(t);
const service = await startService(t);
const project = await service.project();
const [frontEnd = 0] = service.frontEnds();

const mebibytes = (): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${frontEnd}/status`, 'utf8'))?.[1]) / 1024;

/** Requests distinct URLs of missing and of forbidden sources. */
async function fail(round: number): Promise<void> {
  const numbers = Array.from({ length: perRound }, (_, index) => index).entries();
  await concurrently(16, numbers, async ([index]) => {
    const path = `missing-${round}-${index}-${'x'.repeat(40)}.jpg`;
    const base = index % 2 === 0 ? origin.url : 'http://forbidden.example';
    const url = `${service.url}/img/${base}/${path}?project=${project}&w=${1 + (index % 4_000)}`;
    const { status } = await get(url).response;
    if (status < 400) throw new Error(`${url} returned ${status}`);
  });
}

t.test('keeps memory flat under distinct failing URLs', { timeout: 600_000 }, async (t) => {
  if (process.platform !== 'linux') return;
  await fail(0);
  const before = mebibytes();
  for (const round of [1, 2, 3]) await fail(round);
  const growth = mebibytes() - before;
  t.comment(`${Math.round(before)} MiB, then ${Math.round(growth)} MiB more`);
  t.ok(growth < mostGrowthMebibytes, `${Math.round(growth)} MiB more after 30,000 URLs`);
  t.same(service.frontEnds(), [frontEnd], 'without a restart');
});
