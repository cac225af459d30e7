import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import sharp from 'sharp';
import t from 'tap';
import { Client } from 'undici';
import { temporaryRoot } from '../temporary-root.ts';
import { patienceMs, until } from '../until.ts';
import { noChromium, startChromium } from './chromium.ts';
import { picture } from './origin.ts';
import { freePort } from './service.ts';
import { startProgram } from './worker/worker.ts';

/** As README.md has it. */
t.test('npm run serve delivers only the pictures of a folder', async (t) => {
  const base = await realpath(await mkdtemp(join(temporaryRoot, 'image-delivery-')));
  t.teardown(() => rm(base, { recursive: true, force: true }));
  const [folder, temporary] = [join(base, 'pictures'), join(base, 'tmp')];
  await mkdir(join(folder, 'sub dir'), { recursive: true });
  await mkdir(join(folder, '.hidden'));
  await mkdir(temporary);
  const bytes = await picture(300, 200);
  const outside = join(base, 'outside.jpg');
  for (const name of ['a.jpg', 'sub dir/ü #1.JPG', '.hidden/b.jpg', '.c.jpg', 'notes.txt']) {
    await writeFile(join(folder, name), bytes);
  }
  await writeFile(join(folder, 'icon.ico'), await icon());
  await writeFile(outside, bytes);
  await symlink(outside, join(folder, 'out.jpg'));
  await symlink(base, join(folder, 'up'));
  await symlink('.hidden/b.jpg', join(folder, 'shown.jpg'));
  await symlink('a.jpg', join(folder, 'inside.jpg'));
  execFileSync('mkfifo', [join(folder, 'pipe.jpg')]);
  await chmod(folder, 0o555);
  const before = await readdir(folder, { recursive: true });

  const port = await freePort();
  const program = startProgram(
    t,
    'server/local/main.js',
    base,
    {
      PATH: process.env['PATH'] ?? '',
      TMPDIR: temporary,
      // Settings of a deployment, which must be ignored.
      SERVICE_HOST: '0.0.0.0',
      SERVICE_BASE_URL: 'https://images.example.com',
      SERVICE_MONGODB_URL: 'mongodb://store.invalid/',
      SERVICE_DATA_DIR: join(base, 'data'),
    },
    [folder, '--port', String(port), '--processes', '1'],
  );
  const printed = await until(
    'the URLs',
    () => /[\s\S]*Ctrl-C ends it/.exec(program.stdout())?.[0],
  );
  const urls = (printed.match(/http:\S+w=800/g) ?? []).filter((url) => !url.includes('<path>'));
  t.equal(urls.length, 3, printed);

  for (const url of urls) {
    t.ok(url.startsWith(`http://localhost:${port}/img/http://127.0.0.1:`), url);
    const response = await fetch(url.replace('w=800', 'w=30&fmt=png'));
    t.equal(response.status, 200, url);
    const body = Buffer.from(await response.arrayBuffer());
    t.match(await sharp(body).metadata(), { format: 'png', width: 30, height: 20 });
  }
  const [first = ''] = urls;
  const ask = async (path: string) => (await fetch(first.replace('a.jpg', path))).status;
  t.equal(await ask('inside.jpg'), 200, 'a link within the folder');
  for (const path of [
    'none.jpg',
    'out.jpg',
    'up/outside.jpg',
    'shown.jpg',
    '.c.jpg',
    '.hidden/b.jpg',
    'notes.txt',
    'pipe.jpg',
    'sub%20dir',
    '..%2Foutside.jpg',
    '%00.jpg',
    '%E0.jpg',
  ]) {
    t.equal(await ask(path), 404, path);
  }

  await t.test('its page lists pictures and opens with one', { skip: noChromium }, async (t) => {
    const page = await (await startChromium(t)).newPage();
    await page.goto(`http://localhost:${port}/`);
    const result = page.getByRole('region', { name: 'Result' });
    await result.getByText('300 × 200').first().waitFor();
    const names = await page.locator('.samples button').allInnerTexts();
    t.same(names.sort(), ['a.jpg', 'icon.ico', 'sub dir/ü #1.JPG']);
    await page.getByRole('button', { name: 'icon.ico' }).click();
    await result.getByText('30 × 20').first().waitFor();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByLabel('API key').fill(/sk_[\w-]{43}/.exec(printed)?.[0] ?? '');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Pictures' }).waitFor();
  });

  await t.test('its origin answers only the service', async (t) => {
    const [, origin = ''] = /\/img\/(http:\/\/127\.0\.0\.1:\d+)/.exec(first) ?? [];
    const authority = new URL(origin).host;
    // No pipelining: the server may close an idle connection.
    const client = new Client(origin, { pipelining: 0 });
    t.teardown(() => client.close());
    const status = async (target: string, host: string) => {
      const { statusCode, body } = await client.request({
        method: 'GET',
        path: target,
        headers: { host },
      });
      await body.dump();
      return statusCode;
    };
    t.equal(await status('/a.jpg', authority), 200);
    t.equal(await status('/a.jpg', 'evil.example'), 404, 'a foreign name of this address');
    t.equal(await status('/../outside.jpg', authority), 404);
    t.equal(await status('//a.jpg', authority), 404);
  });

  await t.test('pages of other sites get no picture', async (t) => {
    const client = new Client(`http://127.0.0.1:${port}`, { pipelining: 0 });
    t.teardown(() => client.close());
    const path = first.slice(first.indexOf('/img/'));
    const ask = async (headers: Record<string, string>, target = path) => {
      const response = await client.request({ method: 'GET', path: target, headers });
      const text = await response.body.text();
      const code = response.statusCode === 200 ? null : JSON.parse(text).code;
      const names = Object.keys(response.headers).filter((one) =>
        one.startsWith('access-control-'),
      );
      t.same(names, [], JSON.stringify(headers));
      t.not(response.headers['cross-origin-resource-policy'], 'cross-origin');
      return code;
    };
    const host = `localhost:${port}`;
    const own = [
      {},
      { host },
      { host: `[::1]:${port}` },
      { host: '192.0.2.1' },
      { host, 'sec-fetch-site': 'none' },
      { host, 'sec-fetch-site': 'same-origin', origin: `http://${host}` },
      // A page on a development server.
      { host, 'sec-fetch-site': 'same-site', origin: 'http://localhost:5173' },
      { host, origin: 'http://127.0.0.1:5173' },
    ];
    for (const headers of own) t.equal(await ask(headers), null, JSON.stringify(headers));
    const foreign = [
      [{ host: 'rebound.example' }, 'host_not_allowed'],
      [{ host: `rebound.example:${port}` }, 'host_not_allowed'],
      [{ host: '127.0.0.1.nip.example' }, 'host_not_allowed'],
      [{ host: 'localhost.example' }, 'host_not_allowed'],
      [{ host: `0.0.0.0:${port}` }, 'host_not_allowed'],
      [{ host: 'a'.repeat(5_000) }, 'host_not_allowed'],
      [{ host, origin: 'https://evil.example' }, 'origin_not_allowed'],
      [{ host, origin: 'http://localhost.evil.example' }, 'origin_not_allowed'],
      [{ host, origin: 'http://203.0.113.1' }, 'origin_not_allowed'],
      [{ host, origin: 'null' }, 'origin_not_allowed'],
      [{ host, 'sec-fetch-site': 'cross-site' }, 'origin_not_allowed'],
    ] as const;
    for (const [headers, code] of foreign) {
      for (const target of [path, '/', '/openapi.json', '/api/health', '/nothing']) {
        t.equal(
          await ask(headers, target),
          code,
          `${JSON.stringify(headers).slice(0, 90)} ${target}`,
        );
      }
    }
  });

  await t.test('in a browser', { skip: noChromium }, async (t) => {
    const site = createServer((_, response) => {
      response.setHeader('content-type', 'text/html').end('<img>');
    });
    site.listen(0, '127.0.0.1');
    await once(site, 'listening');
    t.teardown(() => site.close());
    const browser = await startChromium(t);
    const page = await browser.newPage();
    page.setDefaultTimeout(patienceMs);
    t.equal((await page.goto(first))?.status(), 200, 'a navigation to the URL');
    const load = (url: string) =>
      page.evaluate(`new Promise((done) => {
        const image = document.querySelector('img');
        image.onload = () => done(image.naturalWidth);
        image.onerror = () => done(null);
        image.src = ${JSON.stringify(url)};
      })`);
    const sitePort = (site.address() as AddressInfo).port;
    for (const [host, width] of [
      ['localhost', 31],
      ['127.0.0.1', null],
      ['evil.localhost', null],
    ] as const) {
      await page.goto(`http://${host}:${sitePort}/`);
      t.equal(await load(first.replace('w=800', 'w=31')), width, `a page at ${host}`);
      const read = `fetch(${JSON.stringify(first)}).then(() => true, () => false)`;
      t.equal(await page.evaluate(read), false, `it is not read by ${host}`);
    }
    const [, source = '', project = ''] = /\/img\/(\S+)\?project=(\w+)/.exec(first) ?? [];
    const query = new URLSearchParams({ project, url: source, w: '33' });
    await page.goto(`http://localhost:${port}/#/?${query}`);
    await page.locator('img[src^="blob:"]').first().waitFor();
  });

  t.equal(await program.end('SIGINT'), 0);
  t.same(await readdir(folder, { recursive: true }), before, 'nothing is written');
  t.same(await readdir(temporary), [], 'no temporary files are left');
  await t.rejects(readFile(join(base, 'data')), 'the data folder of a deployment is not used');
});

/** An ICO with one PNG of 30 x 20 px. */
async function icon(): Promise<Buffer> {
  const png = await sharp(await picture(30, 20))
    .png()
    .toBuffer();
  const header = Buffer.alloc(22);
  header.writeUInt16LE(1, 2);
  header.writeUInt16LE(1, 4);
  header.set([30, 20], 6);
  header.writeUInt16LE(1, 10);
  header.writeUInt16LE(32, 12);
  header.writeUInt32LE(png.length, 14);
  header.writeUInt32LE(header.length, 18);
  return Buffer.concat([header, png]);
}
