import { existsSync, readFileSync } from 'node:fs';
import t from 'tap';
import { childrenOf } from '../children.ts';
import { get } from '../service/held.ts';
import { picture, startTestOrigin } from '../service/origin.ts';
import { isAlive, startService } from '../service/service.ts';
import { until } from '../until.ts';
import { corpus, endless } from './inputs/svgs.ts';

const timeoutMs = 4_000;
/** Much more than the service itself needs, and less than an SVG with 1,990 px a side and its pixels. */
const mostMegabytes = 350;

const origin = await startTestOrigin(t);
origin.serve('/a.jpg', await picture(900, 700));
const service = await startService(t, {
  environment: { SERVICE_TRANSFORM_TIMEOUT_MS: String(timeoutMs), SERVICE_POOL_THREADS: '2' },
});
const project = await service.project();
const url = (path: string, more = '') =>
  `${service.url}/img/${origin.url}${path}?project=${project}${more}`;
const [frontEnd = 0] = service.frontEnds();

const honest = '<svg xmlns="http://www.w3.org/2000/svg" width="900" height="9"><rect/></svg>';
origin.serve('/honest.svg', Buffer.from(honest));
/** Starts the processes, which on a busy machine takes long. Each width is a miss. */
let width = 0;
await until('both processes render', async () => {
  const both = [++width, ++width].map((each) => get(url('/honest.svg', `&w=${each}`)).answer);
  const answers = await Promise.all(both);
  return answers.every(({ status }) => status === 200) && childrenOf(frontEnd).length === 2;
});

t.test('no SVG holds a thread, memory or the service', async (t) => {
  const remaining = [...corpus.entries()];
  const attack = async () => {
    for (;;) {
      const next = remaining.shift();
      if (next === undefined) return;
      const [index, { what, document, statuses }] = next;
      origin.serve(`/${index}.svg`, Buffer.from(document));
      const begun = performance.now();
      const { status } = await get(url(`/${index}.svg`)).answer;
      const ms = Math.round(performance.now() - begun);
      t.ok(statuses.includes(status), `${what}: ${status}`);
      t.ok(ms < timeoutMs + 5_000, `${what}: after ${ms} ms`);
    }
  };
  await Promise.all([attack(), attack()]);
  t.equal((await get(url('/a.jpg', '&w=300')).answer).status, 200, 'others are served');
  t.same(service.frontEnds(), [frontEnd], 'by the same process');
  t.notOk(
    service.log.some((line) => Number(line['level']) >= 50),
    'which had nothing to report',
  );
  const status = `/proc/${frontEnd}/status`;
  if (!existsSync(status)) return;
  const peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(status, 'utf8'))?.[1]) / 1024;
  t.ok(peak < mostMegabytes, `with at most ${Math.round(peak)} MiB`);
});

t.test('no transform process outlives its front end', async (t) => {
  origin.serve('/endless.svg', Buffer.from(endless));
  const ended = get(url('/endless.svg')).answer.catch(() => null);
  const processes = await until('it is rendered', async () => {
    const pids = childrenOf(frontEnd);
    return pids.length > 0 && pids;
  });
  process.kill(frontEnd, 'SIGKILL');
  await until('they have ended', () => !processes.some(isAlive));
  t.equal(await ended, null);
});
