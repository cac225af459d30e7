import { createServer } from 'node:net';
import t from 'tap';
import { shortFolder } from '../../store/embedded/stores.ts';
import { until } from '../../until.ts';
import { freePort, startProgram } from '../service.ts';

t.test('logs that its worker is not ready, and when it is ready', async (t) => {
  const dataDir = shortFolder(t);
  const workerPort = await freePort();
  const holder = createServer();
  await new Promise<void>((done) => {
    holder.listen(workerPort, '127.0.0.1', done);
  });
  const program = startProgram(t, 'server/start.js', dataDir, {
    SERVICE_HOST: '127.0.0.1',
    SERVICE_PORT: String(await freePort()),
    SERVICE_OPS_PORT: '0',
    SERVICE_WORKER_PORT: String(workerPort),
    SERVICE_DATA_DIR: dataDir,
    SERVICE_POOL_THREADS: '1',
  });
  const message = 'worker not ready: prewarming and webhooks waiting';
  await until('the line', () => program.logged(message).length === 1);
  t.ok(program.logged('restarting process').length > 1, 'it is restarted meanwhile');
  await new Promise((done) => holder.close(done));
  await program.untilLogged('worker ready');
  await program.untilLogged('worker ready after delay');
  t.equal(program.logged(message).length, 1);
  t.equal(await program.end('SIGTERM'), 0);
});
