import t, { type Test } from 'tap';
import { storeLink } from '../../server/store-link.ts';
import { until } from '../../until.ts';
import { startWorker } from './worker.ts';

/** A worker that was started during an outage of the store, and listens. */
async function startedTooEarly(t: Test) {
  const link = await storeLink(t);
  await link.cut();
  const environment = { PATH: process.env['PATH'] ?? '', SERVICE_MONGODB_URL: link.url };
  const worker = await startWorker(t, { dataDir: t.testdir(), environment });
  await worker.untilLogged('the operations server listens');
  return { link, worker };
}

t.test('a worker starts during an outage of the store', async (t) => {
  const { link, worker } = await startedTooEarly(t);
  const unready = await worker.get('/health/ready');
  t.equal(unready.status, 503);
  t.match(unready.body, { status: 'unavailable', checks: { queue: { ok: false } } });
  const away = () => worker.log.filter(({ msg }) => msg.startsWith('the store is unavailable: '));
  await until('a log line', () => away().length > 0);
  t.match(away()[0]?.msg, 'refuses connections (ECONNREFUSED)');
  await link.mend();
  await until('ready', async () => (await worker.get('/health/ready')).status === 200);
  t.equal(away().length, 1, 'logged once');
  const ends = worker.log.filter(({ msg }) => /^the store is available after [\d.]+ s$/.test(msg));
  t.equal(ends.length, 1, 'with its end');
  t.equal(await worker.end('SIGTERM'), 0, 'in the same process');
});

t.test('SIGTERM ends a worker that waits for the store', async (t) => {
  const { worker } = await startedTooEarly(t);
  t.equal(await worker.end('SIGTERM'), 0);
});
