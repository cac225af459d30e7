import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { Agent, request } from 'undici';
import { picture, startTestOrigin } from './origin.ts';
import { isAlive, launch, startService } from './service.ts';

async function until(what: string, holds: () => boolean, withinMs = 15_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await sleep(20);
  }
}

t.test('a front end that is killed is replaced, and keeps its siblings serving', async (t) => {
  const service = await startService(t, { environment: { SERVICE_PROCESSES: '2' } });
  const [victim = 0] = service.frontEnds();
  process.kill(victim, 'SIGKILL');
  await until('two front ends again', () => {
    const pids = service.frontEnds();
    return pids.length === 2 && !pids.includes(victim);
  });
  for (let i = 0; i < 20; i++) {
    const response = await fetch(`${service.url}/api/health`, { headers: { connection: 'close' } });
    t.equal(response.status, 200);
    await response.arrayBuffer();
  }
});

t.test('one that keeps dying is replaced at longer and longer intervals', async (t) => {
  const service = await startService(t);
  for (let round = 1; round <= 4; round++) {
    const [pid = 0] = service.frontEnds();
    process.kill(pid, 'SIGKILL');
    await until('a replacement', () => {
      const pids = service.frontEnds();
      return pids.length === 1 && !pids.includes(pid);
    });
  }
  const delays = service.log
    .filter((line) => line.msg === 'a front end died and is replaced')
    .map((line) => Number(line['delayMs']));
  t.equal(delays[0], 0, 'the first at once');
  t.ok(delays.length >= 4);
  t.ok((delays.at(-1) ?? 0) > (delays[1] ?? 0), `${delays}`);
});

t.test('SIGTERM: what is in flight is answered, then all processes end with 0', async (t) => {
  const origin = await startTestOrigin(t);
  const body = await picture(400, 300);
  origin.serve('/slow.jpg', async (_, response) => {
    await sleep(1_500);
    response.end(body);
  });
  const service = await startService(t, { environment: { SERVICE_PROCESSES: '2' } });
  const project = await service.project();
  const agent = new Agent({ keepAliveTimeout: 60_000 });
  t.teardown(() => agent.close());
  // A connection that is there before, to see what health says while it drains.
  const health = () => request(`${service.url}/api/health`, { dispatcher: agent });
  await (await health()).body.dump();
  const inFlight = fetch(`${service.url}/img/${origin.url}/slow.jpg?project=${project}&w=50`);
  await until('the fetch', () => origin.requests.has('/slow.jpg'));
  const frontEnds = service.frontEnds();

  const exit = service.end('SIGTERM');
  await service.waitForLog((line) => line.msg === 'draining');
  const draining = await health();
  t.equal(draining.statusCode, 503);
  t.match(await draining.body.json(), { ok: false, status: 'draining' });
  t.equal(draining.headers['connection'], 'close');
  await sleep(100);
  await t.rejects(fetch(`${service.url}/api/health`), 'the listener is closed');

  t.equal((await inFlight).status, 200);
  t.equal(await exit, 0);
  t.notOk(frontEnds.some(isAlive));
});

/** Requests on kept and on new connections until told to stop; what went wrong. */
function load(url: string) {
  const failures: string[] = [];
  let stopped = false;
  let count = 0;
  async function loop(fresh: boolean) {
    const agent = new Agent({ connections: 1, pipelining: 1, keepAliveTimeout: 4_000 });
    while (!stopped) {
      try {
        const headers = fresh ? { connection: 'close' } : {};
        const response = await request(url, { dispatcher: agent, headers });
        await response.body.dump();
        if (response.statusCode !== 200) failures.push(`status ${response.statusCode}`);
      } catch (error) {
        failures.push(String(error));
      }
      count += 1;
      await sleep(2);
    }
    await agent.close();
  }
  const loops = [false, false, false, true, true].map(loop);
  return {
    async end() {
      stopped = true;
      await Promise.all(loops);
      return { failures, count };
    },
  };
}

t.test('SIGHUP replaces every process without a failed request', async (t) => {
  const origin = await startTestOrigin(t);
  origin.serve('/a.jpg', await picture(400, 300));
  const service = await startService(t, { environment: { SERVICE_PROCESSES: '2' } });
  const project = await service.project();
  const url = `${service.url}/img/${origin.url}/a.jpg?project=${project}&w=50`;
  const before = service.frontEnds();
  const traffic = load(url);
  await sleep(300);
  service.primary.kill('SIGHUP');
  await service.waitForLog((line) => line.msg === 'the front ends are replaced');
  await until('the old ones are gone', () => !before.some(isAlive), 30_000);
  await sleep(200);
  const { failures, count } = await traffic.end();
  t.same(failures, []);
  t.ok(count > 100, `${count} requests`);
  t.equal(service.frontEnds().length, 2);
  t.notOk(service.log.some((line) => line.msg === 'a front end died and is replaced'));
});

t.test('when the primary is killed, no process stays behind', async (t) => {
  const service = await startService(t, { environment: { SERVICE_PROCESSES: '2' } });
  const frontEnds = service.frontEnds();
  t.equal(await service.end('SIGKILL'), 'SIGKILL');
  await until('the front ends end', () => !frontEnds.some(isAlive));
});

t.test('a port in use is a clear error', async (t) => {
  const first = await startService(t);
  const second = await launch(t, { port: first.port });
  t.equal(await second.end('SIGCONT'), 1);
  t.match(second.stderr(), new RegExp(`SERVICE_PORT ${first.port} .*EADDRINUSE`));
});

const embedded = !process.env['SERVICE_MONGODB_URL'];
t.test('a data folder in use is a clear error', { skip: !embedded }, async (t) => {
  const first = await startService(t);
  const second = await launch(t, { dataDir: first.dataDir });
  t.equal(await second.end('SIGCONT'), 1);
  t.match(second.stderr(), new RegExp(`belongs to process ${first.primary.pid}`));
});

t.test('mistaken settings are all told at once', async (t) => {
  const service = await launch(t, {
    environment: {
      SERVICE_PROCESSES: 'many',
      SERVICE_PRIVAT_SOURCES: 'x',
      SERVICE_POOL_QUEUE: '-1',
    },
  });
  t.equal(await service.end('SIGCONT'), 1);
  t.match(service.stderr(), /SERVICE_PROCESSES must be a whole number from 1 to 256/);
  t.match(service.stderr(), /SERVICE_PRIVAT_SOURCES is not a setting/);
  t.match(service.stderr(), /SERVICE_POOL_QUEUE must be/);
});

t.test('a first key is made and shown once', async (t) => {
  const service = await startService(t);
  const [key] = /sk_[\w-]{43}/.exec(service.stdout()) ?? [];
  t.ok(key);
  t.notOk(
    service.log.some((line) => JSON.stringify(line).includes(String(key))),
    'not in the log',
  );
  t.equal(await service.end('SIGTERM'), 0);
  const { dataDir, environment } = service;
  const again = await startService(t, { dataDir, environment, port: service.port });
  t.notMatch(again.stdout(), /sk_/);
});
