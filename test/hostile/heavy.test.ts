import { readFileSync } from 'node:fs';
import t from 'tap';
import { root } from '../root.ts';
import { get, type Sent } from '../service/held-reply.ts';
import { picture, startTestOrigin } from '../service/origin.ts';
import { json, startService } from '../service/service.ts';
import { until } from '../until.ts';
import { slowSvg } from './inputs/svgs.ts';

/**
 * One project sends small files that take much memory and time. Another project requests uncached
 * images.
 */

/** Limit per image. Here the service rejects a transform that has waited for 200 s. */
const maxMs = 60_000;
const key = 'sk_root-key-of-the-tests';

const origin = await startTestOrigin(t);
origin.serve('/photo.jpg', await picture(1600, 1200));
origin.serve('/large.jxl', readFileSync(new URL('test/pool/formats/jxl/large.jxl', root)));
origin.serve('/endless.svg', Buffer.from(slowSvg));
const service = await startService(t, {
  environment: {
    SERVICE_POOL_THREADS: '3',
    SERVICE_SVG_TIMEOUT_MS: '2000',
    SERVICE_ROOT_API_KEY: key,
  },
});
const [attacker, neighbour] = [await service.project(), await service.project()];
const layer = await fetch(`${service.url}/api/sdk/v1/projects/${attacker}/layers/free`, {
  method: 'PUT',
  headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  body: JSON.stringify({ text: { freeText: true } }),
});
if (!layer.ok) throw new Error(await layer.text());

let requested = 0;
/** Requests an image of a new source URL, so the service fetches and renders it. */
const request = (project: string, path: string, query: string): Sent => {
  const source = encodeURIComponent(`${origin.url}${path}?${++requested}`);
  return get(`${service.url}/img/${source}?project=${project}&${query}`);
};

async function measureMs(query: string, project = neighbour): Promise<number> {
  const startedAt = performance.now();
  const { status } = await request(project, '/photo.jpg', query).response;
  if (status !== 200) throw new Error(`${query}: ${status}`);
  return performance.now() - startedAt;
}

const heavy = 'fmt=avif&w=1500';
const light = 'fmt=webp&w=300';
const images = 2;

/** Returns the longest time of several heavy images during light work of the same project. */
async function longestMs(): Promise<number> {
  let ended = false;
  const others = (async () => {
    while (!ended) await measureMs(light);
  })();
  const times: number[] = [];
  for (let image = 0; image < images; image += 1) times.push(await measureMs(heavy));
  ended = true;
  await others;
  return Math.max(...times);
}

const queue = async () =>
  (await json(await fetch(`${service.url}/api/health`))).checks.transformQueue;

// A thread starts when a transform first needs it, which takes a second on a busy machine.
await Promise.all(
  [neighbour, neighbour, attacker, attacker].map((sender) => measureMs(heavy, sender)),
);
await longestMs();
for (const { what, path, query, count } of [
  { what: 'JPEG XLs of 36 megapixels', path: '/large.jxl', query: 'w=100', count: 8 },
  { what: 'SVGs that take all of their time', path: '/endless.svg', query: 'w=1900', count: 8 },
  { what: 'texts of the URL', path: '/photo.jpg', query: 'layer=free&text.free=Sale', count: 32 },
]) {
  t.test(`delivers another project's heavy images next to ${count} ${what}`, async (t) => {
    const idleMs = await longestMs();
    let ended = false;
    const sent = new Set<Sent>();
    const attack = async () => {
      while (!ended) {
        const heavyRequest = request(attacker, path, query);
        sent.add(heavyRequest);
        await heavyRequest.response.catch(() => {});
        sent.delete(heavyRequest);
      }
    };
    const attacks = Array.from({ length: count }, attack);
    await until('heavy transforms of the attacker wait', async () => {
      const { active, queued } = await queue();
      return active > 0 && queued >= count / 2;
    });
    const ms = await longestMs();
    t.comment(`${(ms / idleMs).toFixed(1)} times the ${Math.round(idleMs)} ms without the attack`);
    t.ok(ms < maxMs, `${ms} ms`);
    ended = true;
    for (const { leave } of sent) leave();
    await Promise.all(attacks);
    await until('nothing runs', async () => (await queue()).active === 0);
  });
}
