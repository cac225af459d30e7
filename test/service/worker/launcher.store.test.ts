import { createServer } from 'node:net';
import t, { type Test } from 'tap';
import { listChildren } from '../../children.ts';
import { shortFolder } from '../../store/embedded/stores.ts';
import { until } from '../../until.ts';
import { freePort, isAlive, startProgram } from '../service.ts';

/** Starts what `npm start` runs, on a temporary folder. */
async function launch(t: Test, redirections = '') {
  const dataDir = shortFolder(t);
  const port = await freePort(3);
  const environment = {
    SERVICE_HOST: '127.0.0.1',
    SERVICE_DATA_DIR: dataDir,
    SERVICE_POOL_THREADS: '1',
    SERVICE_WORKER_PORT: String(port + 1),
    SERVICE_OPS_PORT: String(port + 2),
  };
  const program = startProgram(
    t,
    'server/start.js',
    dataDir,
    environment,
    ['--port', String(port)],
    redirections,
  );
  const urls = [`${port}/api/health`, `${port + 1}/health/ready`, `${port + 2}/metrics`];
  const both = () =>
    until('both respond', async () => {
      const responses = urls.map((url) => fetch(`http://127.0.0.1:${url}`).catch(() => null));
      return (await Promise.all(responses)).every((response) => response?.status === 200);
    });
  return Object.assign(program, { both, port });
}

t.test(
  'runs service and worker, replaces killed processes, and ends both on SIGTERM',
  async (t) => {
    const program = await launch(t);
    const { both, port } = program;
    const pids = (message: string, field = 'pid'): number[] =>
      program.logged(message).map((line) => Number(line[field]));
    const workers = () => pids('worker ready');
    const primaries = () => pids('service ready');
    const frontEnds = () => pids('front end listening', 'child');
    const all = () => [...workers(), ...primaries(), ...frontEnds()];
    // The lines name the processes, and can arrive after the first responses.
    await program.untilLogged('worker ready');
    await program.untilLogged('service ready');
    await both();
    const orphans = frontEnds();
    t.equal(new Set(all()).size, 2 + orphans.length, 'separate processes');

    for (const pid of workers()) process.kill(pid, 'SIGKILL');
    // A stopped front end does not notice the primary's end, and keeps the port.
    for (const pid of orphans) process.kill(pid, 'SIGSTOP');
    for (const pid of primaries()) process.kill(pid, 'SIGKILL');
    const holder = createServer();
    await until(
      'the port is free',
      () =>
        new Promise<boolean>((done) => {
          holder.once('error', () => done(false));
          holder.listen(port, '127.0.0.1', () => done(true));
        }),
    );
    await until('the orphans are ended', () => !orphans.some(isAlive));
    await until('a start fails', () =>
      program.logged('restarting process').some(({ why }) => why === 1),
    );
    await new Promise((done) => holder.close(done));
    await program.untilLogged('worker ready', 2);
    await program.untilLogged('service ready', 2);
    const ends = program.logged('restarting process').map(({ why }) => why);
    t.same(ends.slice(0, 3), ['SIGKILL', 'SIGKILL', 1], 'each is restarted');
    await both();

    t.equal(await program.end('SIGTERM'), 0);
    await until('all have ended', () => !all().some(isAlive));
    t.equal(
      program.logged('restarting process').length,
      ends.length,
      'none was restarted after that',
    );
  },
);

t.test('ends service and worker with a killed launcher', async (t) => {
  const program = await launch(t);
  await program.untilLogged('front end listening');
  await program.untilLogged('operations listener started');
  const pids = program.log.flatMap((line) => [
    Number(line['pid']),
    Number(line['child'] ?? line['pid']),
  ]);
  await program.end('SIGKILL');
  await until('all have ended', () => !pids.some(isAlive));
});

t.test('survives a full disk or a closed pipe as output', async (t) => {
  const full = await launch(t, '>/dev/full 2>&1');
  const closed = await launch(t);
  closed.process.stdout?.destroy();
  closed.process.stderr?.destroy();
  for (const program of [full, closed]) {
    const { both, process: launcher } = program;
    await both();
    const parts = listChildren(launcher.pid ?? 0);
    t.equal(parts.length, 2);
    const frontEnds = () => parts.flatMap((part) => listChildren(part));
    const [frontEnd = 0] = frontEnds();
    process.kill(frontEnd, 'SIGKILL');
    await until('a replacement of the front end', () => {
      const [now] = frontEnds();
      return now !== undefined && now !== frontEnd;
    });
    await both();
    t.same(listChildren(launcher.pid ?? 0), parts, 'no other process ended');
    t.equal(await program.end('SIGTERM'), 0);
  }
});

t.test('groups the options in npm start --help', async (t) => {
  const program = startProgram(t, 'server/start.js', shortFolder(t), {}, ['--help']);
  t.equal(await program.end(null), 0);
  const help = program.stdout();
  t.match(help, /^Usage: npm start -- \[options\]\n/, 'in a clone');
  t.match(help, /^ {2}--console <on\|off> /m);
  t.match(help, /^Listeners and addresses:\n {2}--host <text> /m);
  t.match(help, /^Caches:\n {2}--memory-cache-bytes <number> /m);
  const own = /^Options:\n((?: {2}.*\n)*)/m.exec(help)?.[1] ?? '';
  t.same(own.match(/--\w+/g), ['--version', '--help']);
});

t.test("lists only the worker's settings in worker --help", async (t) => {
  const program = startProgram(t, 'worker/main.js', shortFolder(t), {}, ['--help']);
  t.equal(await program.end(null), 0);
  const help = program.stdout();
  t.match(help, /^Usage: npm run start:worker -- \[options\]\n/);
  t.match(help, /^ {2}--worker-concurrency <number> /m);
  t.match(help, /^ {2}SERVICE_HOOK_SECRET\n/m);
  t.notMatch(help, /--memory-cache-bytes|SERVICE_ROOT_API_KEY/);
});
