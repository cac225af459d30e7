import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { childrenOf } from '../../children.ts';
import { temporaryRoot } from '../../temporary-root.ts';
import { until } from '../../until.ts';
import { freePort, isAlive } from '../service.ts';
import { startProgram } from './worker.ts';

/** What `npm start` runs, on a temporary folder. */
async function launch(t: Test, redirections = '') {
  const dataDir = await mkdtemp(join(temporaryRoot, 'image-delivery-'));
  t.teardown(() => rm(dataDir, { recursive: true, force: true }));
  const [port, workerPort] = [await freePort(), await freePort()];
  const environment = {
    PATH: process.env['PATH'] ?? '',
    SERVICE_HOST: '127.0.0.1',
    SERVICE_PORT: String(port),
    SERVICE_OPS_PORT: '0',
    SERVICE_WORKER_PORT: String(workerPort),
    SERVICE_DATA_DIR: dataDir,
    SERVICE_POOL_THREADS: '1',
  };
  const program = startProgram(t, 'server/start.js', dataDir, environment, [], redirections);
  const answers = (url: string) =>
    until(url, async () => (await fetch(url).catch(() => null))?.status === 200);
  const both = () =>
    Promise.all([
      answers(`http://127.0.0.1:${port}/api/health`),
      answers(`http://127.0.0.1:${workerPort}/health/ready`),
    ]);
  return { ...program, both, port };
}

t.test(
  'npm start runs service and worker, replaces killed ones, and ends both on SIGTERM',
  async (t) => {
    const program = await launch(t);
    const { log, untilLogged, both, port } = program;
    const pidOf = (message: string): number => Number(program.logged(message).at(-1)?.['pid']);
    await both();

    const workers = [pidOf('the worker is ready')];
    const primaries = [pidOf('the service is ready')];
    const front = log
      .filter(({ msg }) => msg === 'a front end listens')
      .map((line) => line['child']);
    t.equal(
      new Set([...workers, ...primaries, ...front]).size,
      2 + front.length,
      'separate processes',
    );

    process.kill(Number(workers[0]), 'SIGKILL');
    // A stopped front end does not notice the end of its primary, and keeps the port.
    for (const orphan of front) process.kill(Number(orphan), 'SIGSTOP');
    process.kill(Number(primaries[0]), 'SIGKILL');
    const holder = createServer();
    await until(
      'the port is free',
      () =>
        new Promise<boolean>((done) => {
          holder.once('error', () => done(false));
          holder.listen(port, '127.0.0.1', () => done(true));
        }),
    );
    await until('the orphans are ended', () => !front.map(Number).some(isAlive));
    await until('a start fails', () =>
      program.logged('a process ended').some(({ why }) => why === 1),
    );
    await new Promise((done) => holder.close(done));
    await untilLogged('the worker is ready', 2);
    await untilLogged('the service is ready', 2);
    const ends = program.logged('a process ended').map(({ why }) => why);
    t.same(ends.slice(0, 3), ['SIGKILL', 'SIGKILL', 1], 'each is restarted');
    workers.push(pidOf('the worker is ready'));
    primaries.push(pidOf('the service is ready'));
    await both();

    t.equal(await program.end('SIGTERM'), 0);
    const frontEnds = log
      .filter(({ msg }) => msg === 'a front end listens')
      .map((line) => Number(line['child']));
    await until('all have ended', () => ![...workers, ...primaries, ...frontEnds].some(isAlive));
    t.equal(program.logged('a process ended').length, ends.length, 'none was restarted after that');
  },
);

t.test('service and worker end with a killed launcher', async (t) => {
  const program = await launch(t);
  await program.untilLogged('a front end listens');
  await program.untilLogged('the operations server listens');
  const pids = program.log.flatMap((line) => [
    Number(line['pid']),
    Number(line['child'] ?? line['pid']),
  ]);
  await program.end('SIGKILL');
  await until('all have ended', () => !pids.some(isAlive));
});

t.test('output to a full disk or a closed pipe ends no process', async (t) => {
  const full = await launch(t, '>/dev/full 2>&1');
  const closed = await launch(t);
  closed.process.stdout?.destroy();
  closed.process.stderr?.destroy();
  for (const { both, process: launcher, end } of [full, closed]) {
    await both();
    const parts = childrenOf(launcher.pid ?? 0);
    t.equal(parts.length, 2);
    const frontEnds = () => parts.flatMap((part) => childrenOf(part));
    const [frontEnd = 0] = frontEnds();
    process.kill(frontEnd, 'SIGKILL');
    await until('a replacement of the front end', () => {
      const [now] = frontEnds();
      return now !== undefined && now !== frontEnd;
    });
    await both();
    t.same(childrenOf(launcher.pid ?? 0), parts, 'no other process ended');
    t.equal(await end('SIGTERM'), 0);
  }
});
