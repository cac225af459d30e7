import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import sharp from 'sharp';
import t from 'tap';
import { Client } from 'undici';
import { more } from '../extended.ts';
import { createIco } from '../hostile/inputs/pictures.ts';
import { listen } from '../listen.ts';
import { rootPath } from '../root.ts';
import { temporaryFolder } from '../temporary-root.ts';
import { patienceMs, until } from '../until.ts';
import { noChromium, startChromium } from './chromium.ts';
import { picture } from './origin.ts';
import { freePort, startProgram } from './service.ts';

const noBrowser = more ? noChromium : 'npm run test:more opens a browser';

/** Uses the folder of README.md. */
t.test("delivers only a folder's images from npm run serve", async (t) => {
  const base = await temporaryFolder(t);
  const [folder, temporary] = [join(base, 'pictures'), join(base, 'tmp')];
  await mkdir(temporary);
  const jpeg = await picture(300, 200);
  for (const [name, content] of [
    ['a.jpg', jpeg],
    ['sub dir/ü #1.JPG', jpeg],
    // A URL cannot name it.
    ['back\\slash.jpg', jpeg],
    ['sub dir/ÿ.jxl', await readFile(join(rootPath, 'test/pool/formats/jxl/quarters.jxl'))],
    ['icon.ico', createIco(await picture(30, 20, 'png'))],
    ['.hidden/b.jpg', jpeg],
    ['.c.jpg', jpeg],
    ['notes.txt', jpeg],
    ['../outside.jpg', jpeg],
  ] as const) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  for (const [name, target] of [
    ['inside.jpg', 'a.jpg'],
    ['shown.jpg', '.hidden/b.jpg'],
    ['out.jpg', '../outside.jpg'],
    ['up', '..'],
  ] as const) {
    await symlink(target, join(folder, name));
  }
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
      // Deployment settings must not apply.
      SERVICE_HOST: '0.0.0.0',
      SERVICE_BASE_URL: 'https://images.example.com',
      SERVICE_MONGODB_URL: 'mongodb://store.invalid/',
      SERVICE_DATA_DIR: join(base, 'data'),
    },
    [folder, '--port', String(port), '--processes', '1'],
  );
  const printed = await until(
    'the URLs',
    () => /[\s\S]*Ctrl-C stops the service/.exec(program.stdout())?.[0],
  );
  const urls = (printed.match(/http:\S+w=800/g) ?? []).filter((url) => !url.includes('<path>'));
  t.equal(urls.length, 3, printed);

  for (const url of urls) {
    t.ok(url.startsWith(`http://localhost:${port}/img/https://pictures.invalid/`), url);
    const response = await fetch(url.replace('w=800', 'w=30&fmt=png'));
    t.equal(response.status, 200, url);
    const body = Buffer.from(await response.arrayBuffer());
    t.match(await sharp(body).metadata(), { format: 'png', width: 30, height: 20 });
  }
  const [first = ''] = urls;
  const fetchStatus = async (path: string) => (await fetch(first.replace('a.jpg', path))).status;
  t.equal(await fetchStatus('inside.jpg'), 200, 'a link within the folder');
  t.equal(await fetchStatus('sub%20dir/%C3%BF.jxl'), 200, 'a JPEG XL');
  for (const path of [
    'none.jpg',
    'out.jpg',
    'up/outside.jpg',
    'shown.jpg',
    '.c.jpg',
    '.hidden/b.jpg',
    'pipe.jpg',
    'sub%20dir',
    '..%2Foutside.jpg',
    '%00.jpg',
    'back%5Cslash.jpg',
    '%E0.jpg',
  ]) {
    t.equal(await fetchStatus(path), 404, path);
  }

  await t.test(
    'lists images on its page and opens with an image',
    { skip: noBrowser },
    async (t) => {
      const page = await (await startChromium(t)).newPage();
      await page.goto(`http://localhost:${port}/`);
      const result = page.getByRole('region', { name: 'Result' });
      await result.getByText('300 × 200').first().waitFor();
      const names = await page.locator('.samples button').allInnerTexts();
      t.same(names.sort(), ['a.jpg', 'icon.ico', 'sub dir/ü #1.JPG', 'sub dir/ÿ.jxl']);
      await page.getByRole('button', { name: 'icon.ico' }).click();
      await result.getByText('30 × 20').first().waitFor();
      await page.getByRole('link', { name: 'Sign in' }).click();
      await page.getByLabel('API key').fill(/sk_[\w-]{43}/.exec(printed)?.[0] ?? '');
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: 'Pictures' }).waitFor();
    },
  );

  await t.test("sends no image to other sites' pages", async (t) => {
    const client = new Client(`http://127.0.0.1:${port}`, { pipelining: 0 });
    t.teardown(() => client.close());
    const path = first.slice(first.indexOf('/img/'));
    /** Checks the code of the error; null for an image. */
    const check = async (headers: Record<string, string>, code: string | null, target = path) => {
      const response = await client.request({ method: 'GET', path: target, headers });
      const text = await response.body.text();
      const what = `${JSON.stringify(headers).slice(0, 90)} ${target}`;
      t.equal(response.statusCode === 200 ? null : JSON.parse(text).code, code, what);
      t.notMatch(Object.keys(response.headers).join(), 'access-control-', what);
      t.not(response.headers['cross-origin-resource-policy'], 'cross-origin', what);
      t.equal(response.headers['timing-allow-origin'], undefined, what);
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
    for (const headers of own) await check(headers, null);
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
        await check(headers, code, target);
      }
    }
  });

  await t.test('blocks other sites in a browser', { skip: noBrowser }, async (t) => {
    const site = createServer((_, response) => {
      response.setHeader('content-type', 'text/html').end('<img>');
    });
    const sitePort = await listen(t, site);
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
