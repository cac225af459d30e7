import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { until } from '../until.ts';
import { eachHttpServer } from './http-servers.ts';
import { picture } from './origin.ts';
import { isAlive, startDelivery } from './service.ts';

/** Sends requests on kept and new connections until `stop`, and collects errors. */
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
      await sleep(10);
    }
    await agent.close();
  }
  const loops = [false, false, false, true, true].map(loop);
  return {
    /** Resolves after a number of further responses. */
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

eachHttpServer('SIGHUP replaces every process without a failed request', async (t, engine) => {
  const { service, origin, image } = await startDelivery(t, {
    environment: { ...engine.environment, SERVICE_PROCESSES: '2' },
  });
  origin.serve('/a.jpg', await picture(400, 300));
  const url = service.url + image('/a.jpg', 'w=50');
  const before = service.frontEnds();
  const traffic = load(url);
  await traffic.more(50);
  service.primary.kill('SIGHUP');
  await service.waitForLog((line) => line.msg === 'the front ends are replaced');
  await until('the old ones are gone', () => !before.some(isAlive));
  await traffic.more(50);
  t.same(await traffic.end(), []);
  t.equal(service.frontEnds().length, 2);
  t.notOk(service.log.some((line) => line.msg === 'a front end died and is replaced'));
});
