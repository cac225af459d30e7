import { createServer } from 'node:net';
import t from 'tap';
import { shortFolder } from '../../store/embedded/stores.ts';
import { until } from '../../until.ts';
import { freePort, startProgram } from '../service.ts';

t.test('restarts its worker until it can start', async (t) => {
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
  await until('restarts', () => program.logged('restarting process').length > 1);
  await new Promise((done) => holder.close(done));
  await program.untilLogged('worker ready');
  t.equal(await program.end('SIGTERM'), 0);
});
