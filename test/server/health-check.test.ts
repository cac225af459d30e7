import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { toListenAddresses } from '../../contract/settings/listeners.ts';
import { listen } from '../listen.ts';
import { scriptArguments, scriptUrl } from '../scripts.ts';

const script = fileURLToPath(scriptUrl('../../server/health-check', import.meta.url));

t.test('waits no longer than the service runs', async (t) => {
  const main = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1_000)']);
  t.teardown(() => main.kill('SIGKILL'));
  let checks = 0;
  const service = createServer((_, response) => {
    checks += 1;
    if (checks === 3) main.kill('SIGKILL');
    response.writeHead(503).end('it starts');
  });
  const port = await listen(t, service);
  const environment = { SERVICE_PORT: String(port), MAINPID: String(main.pid) };
  const check = spawn(process.execPath, [...scriptArguments, script, '--wait'], {
    env: { ...process.env, ...environment },
  });
  let written = '';
  check.stderr.on('data', (text) => {
    written += text;
  });
  t.same(await once(check, 'close'), [1, null]);
  t.match(written, /returned 503: it starts, and the main process has ended\n$/);
  t.ok(checks >= 3, 'it waits while the main process runs');
});

t.test('names the option for another port if nothing listens', async (t) => {
  const server = createServer();
  const port = await listen(t, server);
  server.close();
  for (const [part, option] of [
    ['service', '--port'],
    ['worker', '--worker-port'],
  ] as const) {
    const options = [part, option, String(port)];
    const check = spawn(process.execPath, [...scriptArguments, script, ...options]);
    let written = '';
    check.stderr.on('data', (text) => {
      written += text;
    });
    t.same(await once(check, 'close'), [1, null]);
    t.match(written, new RegExp(`ECONNREFUSED.* another port, pass ${option}\\.`));
  }
});

t.test('checks a service on either address of this machine', async (t) => {
  for (const host of toListenAddresses('localhost')) {
    const server = createServer((_, response) => response.end()).listen(0, host);
    await once(server, 'listening');
    t.teardown(() => server.close());
    const { port } = server.address() as AddressInfo;
    const options = ['--host', '::', '--port', String(port)];
    const check = spawn(process.execPath, [...scriptArguments, script, ...options]);
    t.same(await once(check, 'close'), [0, null], host);
  }
});

t.test('prints its help, or an error for an unknown part, without a check', async () => {
  const run = async (...options: string[]) => {
    const check = spawn(process.execPath, [...scriptArguments, script, ...options]);
    let written = '';
    for (const stream of [check.stdout, check.stderr]) {
      stream.on('data', (text) => {
        written += text;
      });
    }
    const [code] = await once(check, 'close');
    return { code, written };
  };
  const help = await run('--help');
  t.equal(help.code, 0);
  t.match(help.written, /\[part\][\s\S]*--wait/);
  const unknown = await run('workers');
  t.equal(unknown.code, 1);
  t.match(unknown.written, /Allowed choices are service, worker/);
});
