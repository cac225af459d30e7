import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { Agent, request } from 'undici';
import { until } from '../until.ts';
import { picture, startTestOrigin } from './origin.ts';
import { isAlive, startService } from './service.ts';

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
