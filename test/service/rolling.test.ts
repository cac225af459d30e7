import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { Agent, request } from 'undici';
import { more } from '../extended.ts';
import { until } from '../until.ts';
import { earlierRequestsReceived, get, held } from './held-reply.ts';
import { defaultHttpServer, eachHttpServer, httpServers } from './http-servers.ts';
import { picture } from './origin.ts';
import { type Delivery, isAlive, startDelivery } from './service.ts';

const isReset = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ECONNRESET';

/**
 * Sends requests on kept and new connections until `end`, and collects errors. With `repeatsResets`
 * it reopens a new connection once after a reset: Linux resets connections that uWebSockets.js has
 * not accepted when it closes a listener, see docs/operating/running.md.
 */
function load(url: string, { repeatsResets }: { repeatsResets: boolean }) {
  const failures: string[] = [];
  let stopped = false;
  let count = 0;
  async function loop(fresh: boolean) {
    const agent = new Agent({ connections: 1, pipelining: 1, keepAliveTimeout: 4_000 });
    const get = async () => {
      const headers = fresh ? { connection: 'close' } : {};
      const response = await request(url, { dispatcher: agent, headers });
      await response.body.dump();
      if (response.statusCode !== 200) failures.push(`status ${response.statusCode}`);
    };
    while (!stopped) {
      try {
        await get().catch((error) => {
          if (fresh && repeatsResets && isReset(error)) return get();
          throw error;
        });
      } catch (error) {
        failures.push(String(error));
      }
      count += 1;
      await sleep(20);
    }
    await agent.close();
  }
  const loops = [false, false, false, true, true].map(loop);
  return {
    /** Resolves after a number of additional responses. */
    async more(requests: number) {
      const wanted = count + requests;
      await until(`${requests} more requests`, () => count >= wanted);
    },
    async end() {
      stopped = true;
      await Promise.all(loops);
      return failures;
    },
  };
}

async function replaceProcesses(
  t: Test,
  { service, origin, image }: Delivery,
  options: { repeatsResets: boolean },
): Promise<void> {
  origin.serve('/a.jpg', await picture(400, 300));
  const before = service.frontEnds();
  const loads = [image('/a.jpg', 'w=50'), '/api/ready'].map((path) =>
    load(service.url + path, options),
  );
  await Promise.all(loads.map((traffic) => traffic.more(50)));
  service.process.kill('SIGHUP');
  await service.waitForLog((line) => line.msg === 'front ends replaced');
  await until('the old ones are gone', () => !before.some(isAlive));
  await Promise.all(loads.map((traffic) => traffic.more(50)));
  t.same(await Promise.all(loads.map((traffic) => traffic.end())), [[], []]);
  t.equal(service.frontEnds().length, 2);
  t.notOk(service.log.some((line) => line.msg === 'replacing dead front end'));
}

async function drain(t: Test, { service, origin, image }: Delivery): Promise<void> {
  const source = held(await picture(400, 300));
  origin.serve('/slow.jpg', source.reply);
  const agent = new Agent({ keepAliveTimeout: 60_000 });
  t.teardown(() => agent.close());
  // A connection from before the drain, for health during it.
  const health = () => request(`${service.url}/api/health`, { dispatcher: agent });
  await (await health()).body.dump();
  // Keep both processes busy: an idle process exits as soon as its listener closes.
  const inFlight = Array.from({ length: 16 }, (_, n) =>
    get(service.url + image('/slow.jpg', `w=${50 + n}`)),
  );
  await until('the fetch', () => source.waiting > 0);
  await earlierRequestsReceived(service);
  const frontEnds = service.frontEnds();

  const exit = service.end('SIGTERM');
  const newConnection = { headers: { connection: 'close' } };
  const notReady = await until('load balancers are told', async () => {
    const response = await fetch(`${service.url}/api/ready`, newConnection);
    return response.status === 503 && response;
  });
  t.equal(notReady.headers.get('cache-control'), 'no-store');
  t.same(await notReady.json(), { ready: false, status: 'draining' });
  const late = await fetch(service.url + image('/a.jpg', 'w=60'), newConnection);
  t.equal(late.status, 200, 'new connections are served meanwhile');
  // The other process can have written the log line.
  const draining = await until('health reports it', async () => {
    const response = await health();
    if (response.statusCode === 503 && response.headers['connection'] === 'close') return response;
    await response.body.dump();
    return false;
  });
  t.match(await draining.body.json(), { ok: false, status: 'draining' });
  const isRefused = () =>
    fetch(`${service.url}/api/health`, newConnection).then(
      () => false,
      () => true,
    );
  await until('the listeners are closed', isRefused);

  t.ok(source.waiting > 0, 'the requests in progress still wait');
  source.release();
  for (const { response } of inFlight) t.equal((await response).status, 200);
  t.equal(await exit, 0);
  t.notOk(frontEnds.some(isAlive));
}

/** SIGTERM must not wait until clients of a replaced process have closed their connections. */
async function stopWhileReplacing(t: Test, environment: Readonly<Record<string, string>>) {
  const { service } = await startDelivery(t, {
    environment: { ...environment, SERVICE_PROCESSES: '2' },
  });
  // Kept connections to both processes.
  const agents = Array.from({ length: 16 }, () => new Agent({ keepAliveTimeout: 60_000 }));
  t.teardown(() => Promise.all(agents.map((agent) => agent.destroy())));
  for (const dispatcher of agents) {
    await (await request(`${service.url}/api/ready`, { dispatcher })).body.dump();
  }
  service.process.kill('SIGHUP');
  await service.waitForLog((line) => line.msg === 'draining');
  t.equal(service.frontEnds().length, 3, 'one more than usual');
  const startedAt = performance.now();
  t.equal(await service.end('SIGTERM'), 0);
  t.ok(performance.now() - startedAt < 8_000, 'in less time than the connections would take');
  t.notOk(service.log.some(({ msg }) => msg === 'front ends replaced' || /failed/.test(msg)));
}

eachHttpServer(
  'handles signals with two processes',
  async (t, engine) => {
    const environment = {
      ...engine.environment,
      SERVICE_PROCESSES: '2',
      SERVICE_DRAIN_DELAY_MS: '5000',
    };
    const delivery = await startDelivery(t, { environment });
    await t.test('replaces both front ends on SIGHUP with no failed request', (t) =>
      replaceProcesses(t, delivery, { repeatsResets: engine.name === 'uws' }),
    );
    await t.test('completes open requests on SIGTERM, and exits with 0', (t) => drain(t, delivery));
    await t.test('stops soon on SIGTERM after SIGHUP', (t) =>
      stopWhileReplacing(t, engine.environment),
    );
  },
  more ? httpServers : defaultHttpServer,
);
