import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { startSampleOrigin } from '../../demo/origin/origin.ts';
import { picture, pictureNames } from '../../demo/origin/pictures.ts';
import { scriptArguments, scriptUrl } from '../scripts.ts';

t.test('serves the images with their types, and an index page', async (t) => {
  const origin = await startSampleOrigin();
  t.teardown(() => origin.close());
  for (const [name, type] of [
    ['pulse.gif', 'image/gif'],
    ['emblem.svg', 'image/svg+xml'],
  ] as const) {
    const response = await fetch(`${origin.url}/${name}?query`);
    t.equal(response.headers.get('content-type'), type);
    t.ok(Buffer.from(await response.arrayBuffer()).equals(await picture(name)));
  }
  const front = await fetch(`${origin.url}/`);
  t.match(front.headers.get('content-type'), 'text/html');
  const page = await front.text();
  for (const name of pictureNames) t.match(page, `src="/${name}"`);
  for (const path of ['/nothing.jpg', '/toString', '/__proto__', '/pulse.gif/', '//pulse.gif']) {
    t.equal((await fetch(origin.url + path)).status, 404, path);
  }
  await t.rejects(startSampleOrigin(Number(new URL(origin.url).port)), { code: 'EADDRINUSE' });
});

/** Starts `npm run origin`. */
function start(t: Test, port: string) {
  const entry = fileURLToPath(scriptUrl('../../demo/origin/main', import.meta.url));
  const child = spawn(process.execPath, [...scriptArguments, entry, `--port=${port}`]);
  t.teardown(() => child.kill('SIGKILL'));
  return child;
}

t.test('prints its URL, serves, and stops on a signal', async (t) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const child = start(t, '0');
    const [chunk] = await once(child.stdout, 'data');
    const url = String(chunk).trim();
    // fetch keeps this connection alive, which must not keep the process alive.
    t.equal((await fetch(`${url}/emblem.svg`)).status, 200);
    const exit = once(child, 'exit');
    child.kill(signal);
    t.same(await exit, [0, null]);
  }
});

t.test('rejects an invalid port', async (t) => {
  const child = start(t, '65536');
  const [message] = await once(child.stderr, 'data');
  t.match(String(message), '0 to 65535');
  t.same(await once(child, 'close'), [1, null]);
});
