import { Agent, request } from 'undici';
import { until } from '../until.ts';
import { held } from './held.ts';
import { eachHttpServer } from './http-servers.ts';
import { picture } from './origin.ts';
import { isAlive, startDelivery } from './service.ts';

eachHttpServer('SIGTERM completes open requests, and exits with 0', async (t, engine) => {
  const { service, origin, image } = await startDelivery(t, {
    environment: { ...engine.environment, SERVICE_PROCESSES: '2' },
  });
  const source = held(await picture(400, 300));
  origin.serve('/slow.jpg', source.reply);
  const agent = new Agent({ keepAliveTimeout: 60_000 });
  t.teardown(() => agent.close());
  // A connection from before the drain, for health during it.
  const health = () => request(`${service.url}/api/health`, { dispatcher: agent });
  await (await health()).body.dump();
  const inFlight = fetch(service.url + image('/slow.jpg', 'w=50'));
  await until('the fetch', () => source.waiting === 1);
  const frontEnds = service.frontEnds();

  const exit = service.end('SIGTERM');
  // The log line may be of the other process.
  const draining = await until('health reports it', async () => {
    const answer = await health();
    if (answer.statusCode === 503) return answer;
    await answer.body.dump();
    return false;
  });
  t.match(await draining.body.json(), { ok: false, status: 'draining' });
  t.equal(draining.headers['connection'], 'close');
  const refused = () =>
    fetch(`${service.url}/api/health`, { headers: { connection: 'close' } }).then(
      () => false,
      () => true,
    );
  await until('the listeners are closed', refused);

  t.equal(source.waiting, 1, 'the request in progress still waits');
  source.release();
  t.equal((await inFlight).status, 200);
  t.equal(await exit, 0);
  t.notOk(frontEnds.some(isAlive));
});
