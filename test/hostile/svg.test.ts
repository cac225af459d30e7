import { existsSync, readFileSync } from 'node:fs';
import t from 'tap';
import { listChildren } from '../children.ts';
import { concurrently } from '../concurrently.ts';
import { more } from '../extended.ts';
import { claimingPng } from '../pool/rendering/pictures.ts';
import { get } from '../service/held-reply.ts';
import { picture, startTestOrigin } from '../service/origin.ts';
import { isAlive, startService } from '../service/service.ts';
import { until } from '../until.ts';
import { hostileSvgs, slowSvg } from './inputs/svgs.ts';

const drawingMs = more ? 4_000 : 1_000;
/**
 * `npm test` runs every third attack: most take as long as their limit, and all together over a
 * minute.
 */
const attacksOfRun = more ? hostileSvgs : hostileSvgs.filter((_, index) => index % 3 === 0);
/** Time for a transform and the start of a process. */
const timeoutMs = 2 * drawingMs;
/**
 * Replacing an ended process takes long on a busy machine. Without a limit attacks take minutes.
 */
const maxMs = timeoutMs + 20_000;
/**
 * The service alone needs far less. It would need more if it rasterised a 1,990-pixel SVG itself.
 */
const maxMebibytes = 350;

const origin = await startTestOrigin(t);
origin.serve('/a.jpg', await picture(900, 700));
const service = await startService(t, {
  environment: {
    SERVICE_SVG_TIMEOUT_MS: String(drawingMs),
    SERVICE_TRANSFORM_TIMEOUT_MS: String(timeoutMs),
    SERVICE_POOL_THREADS: '3',
    // Keep the neighbour's images out of the peak: their number varies with the time.
    SERVICE_MEMORY_CACHE_BYTES: '10000000',
  },
});
const [project, neighbour] = [await service.project(), await service.project()];
const url = (path: string, more = '', of = project) =>
  `${service.url}/img/${origin.url}${path}?project=${of}${more}`;
const [frontEnd = 0] = service.frontEnds();

const harmless = '<svg xmlns="http://www.w3.org/2000/svg" width="900" height="9"><rect/></svg>';
origin.serve('/harmless.svg', Buffer.from(harmless));
/** Each width is a cache miss. */
let width = 0;
/** Waits for processes: starting them takes long on a busy machine. */
const waitForProcesses = () =>
  until('both processes render', async () => {
    const both = [++width, ++width].map((each) => get(url('/harmless.svg', `&w=${each}`)).response);
    const answers = await Promise.all(both);
    return answers.every(({ status }) => status === 200) && listChildren(frontEnd).length === 2;
  });
await waitForProcesses();

t.test('rejects hostile SVGs with the expected error in bounded time and memory', async (t) => {
  const answers = new Set<number>();
  // Each width is a cache miss.
  let width = 100;
  await concurrently(2, attacksOfRun.entries(), async ([index, { what, document, codes }]) => {
    origin.serve(`/${index}.svg`, Buffer.from(document));
    const startedAt = performance.now();
    const attack = get(url(`/${index}.svg`)).response.then((answer) => ({
      ...answer,
      ms: Math.round(performance.now() - startedAt),
    }));
    for (let image = 0; image < 4; image += 1) {
      answers.add((await get(url('/a.jpg', `&w=${width++}`, neighbour)).response).status);
    }
    const { status, body, ms } = await attack;
    const code = status === 200 ? null : JSON.parse(body.toString()).code;
    t.ok(codes.includes(code), `${what}: ${status} ${code}`);
    t.ok(ms < maxMs, `${what}: after ${ms} ms`);
  });
  t.same([...answers], [200], 'all images of another project are delivered meanwhile');
  t.same(service.frontEnds(), [frontEnd], 'the front end did not restart');
  const errors = service.log.filter((line) => Number(line['level']) >= 50);
  t.same(errors, [], 'the log has no errors');
  const status = `/proc/${frontEnd}/status`;
  if (!existsSync(status)) return;
  const peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(status, 'utf8'))?.[1]) / 1024;
  t.ok(peak < maxMebibytes, `peak memory of ${Math.round(peak)} MiB`);
});

t.test('rejects an SVG with a huge image, whether drawn or delivered', async (t) => {
  const png = claimingPng(30_000, 30_000, 1).toString('base64');
  const image = `<image href="data:image/png;base64,${png}" width="9" height="9"/>`;
  origin.serve('/image.svg', Buffer.from(harmless.replace('<rect/>', image)));
  // The attacks can have ended them.
  await waitForProcesses();
  for (const format of ['svg', 'png']) {
    const { status, body } = await get(url('/image.svg', `&fmt=${format}`)).response;
    t.match([status, JSON.parse(body.toString())], [413, { code: 'source_too_large' }], format);
  }
});

t.test('ends transform processes with their front end', async (t) => {
  origin.serve('/endless.svg', Buffer.from(slowSvg));
  const ended = get(url('/endless.svg')).response.catch(() => null);
  const processes = await until('the SVG is being rendered', async () => {
    const pids = listChildren(frontEnd);
    return pids.length > 0 && pids;
  });
  process.kill(frontEnd, 'SIGKILL');
  await until('the processes have ended', () => !processes.some(isAlive));
  t.equal(await ended, null);
});
