import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { Pool } from 'undici';
import { more } from '../extended.ts';
import { attacks, startHostileOrigin } from '../pool/source/hostile-origin.ts';
import { picture } from '../service/origin.ts';
import { startDelivery } from '../service/service.ts';

/**
 * Attacks a running service with an origin's responses, and measures a neighbour's hits meanwhile.
 */

const fetchesAtOnce = more ? 48 : 8;
/** Separates waiting for a turn from waiting for an attack to end. */
const maxHitMs = 5_000;

t.test("serves another project's hits whatever an origin sends", async (t) => {
  const environment = { SERVICE_SOURCE_TIMEOUT_MS: '60000', SERVICE_FETCH_CONCURRENCY: '64' };
  const { service, origin, image } = await startDelivery(t, { environment });
  origin.serve('/neighbour.jpg', await picture(60, 40));
  const hostile = await startHostileOrigin(t);
  const attacker = await service.project();
  const pool = new Pool(service.url, { connections: fetchesAtOnce + 1 });
  t.teardown(() => pool.destroy());
  const request = async (path: string) => {
    const started = performance.now();
    const { statusCode, body } = await pool.request({ path, method: 'GET' });
    const text = await body.text();
    return { status: statusCode, text, ms: performance.now() - started };
  };
  const hit = () => request(image('/neighbour.jpg', 'w=20'));
  await hit();

  for (const [name, { code }] of Object.entries(attacks)) {
    let running = fetchesAtOnce;
    const started = performance.now();
    const attacking = Array.from({ length: fetchesAtOnce }, async (_, index) => {
      const url = hostile.url(`/${encodeURIComponent(name)}/${index}`);
      const outcome = await request(
        `/img/${encodeURIComponent(url.href)}?project=${attacker}&w=20`,
      );
      running -= 1;
      return outcome;
    });
    const hits = [];
    while (running > 0) {
      hits.push(await hit());
      await sleep(5);
    }
    const ms = Math.round(performance.now() - started);
    const slowest = Math.max(...hits.map((neighbourHit) => neighbourHit.ms));
    t.comment(`${name}: ${ms} ms, ${hits.length} hits, the slowest ${slowest.toFixed(1)} ms`);
    t.ok(hits.every(({ status }) => status === 200) && slowest < maxHitMs, `hits during ${name}`);
    for (const { status, text } of await Promise.all(attacking)) {
      t.match({ status, text }, { status: 502, text: `(${code})` }, name);
    }
  }
});
