import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { scriptArguments, scriptUrl } from '../../scripts.ts';

const entry = fileURLToPath(scriptUrl('../../../bench/origin/main', import.meta.url));

function start(t: Test, ...args: string[]): ChildProcess {
  const child = spawn(process.execPath, [...scriptArguments, entry, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  return child;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  t.test(`prints its URL, serves, and stops on ${signal}`, async (t) => {
    const child = start(t, '--port', '0');
    const [chunk] = await once(child.stdout ?? child, 'data');
    const url = String(chunk).trim();
    t.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
    // fetch keeps this connection alive: it must not hold the process back.
    t.equal((await fetch(`${url}/emblem.svg`)).status, 200);
    const exit = once(child, 'exit');
    child.kill(signal);
    t.same(await exit, [0, null]);
  });
}

t.test('refuses a port that is none', async (t) => {
  for (const port of ['http', '65536']) {
    const child = start(t, `--port=${port}`);
    let complaint = '';
    child.stderr?.on('data', (chunk) => {
      complaint += chunk;
    });
    const [code] = await once(child, 'close');
    t.equal(code, 1, port);
    t.match(complaint, '0 to 65535');
  }
});
