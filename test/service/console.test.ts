import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type {
  Browser,
  BrowserContext,
  BrowserContextOptions,
  Locator,
  Page,
} from 'playwright-core';
import sharp from 'sharp';
import t from 'tap';
import { pictures, picture as samplePicture } from '../../bench/origin/pictures.ts';
import { changeInWords } from '../../server/console/page/figures.ts';
import { endpoints } from '../../server/control/endpoints.ts';
import { parameterNames } from '../../server/image/parameters.ts';
import { patienceMs, until } from '../until.ts';
import { noChromium, startChromium } from './chromium.ts';
import { baseUrl, rootKey, startControl } from './control/control.ts';
import { picture, startTestOrigin } from './origin.ts';
import { json } from './service.ts';
import { startWorker } from './worker/worker.ts';

/** A folder for screenshots, such as docs/console. With it the pages show the sample picture. */
const shots = process.env['CONSOLE_PICTURES'];
const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const phone = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' } as const;

/** A page, and its errors and requests to other hosts. */
async function open(context: BrowserContext, url: string) {
  const page = await context.newPage();
  page.setDefaultTimeout(patienceMs);
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => problems.push(`${message.type()}: ${message.text()}`));
  page.on('request', (request) => {
    if (!/^(?:blob|data):/.test(request.url()) && !request.url().startsWith(`${url}/`)) {
      problems.push(`asked of elsewhere: ${request.url()}`);
    }
  });
  return { page, problems };
}

/** The violations that axe finds. */
async function faultsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const { violations }: { violations: { id: string; nodes: { html: string }[] }[] } =
    await page.evaluate('axe.run()');
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`,
  );
}

/** The overflow of a page's width, in CSS pixels. */
const tooWide = (page: Page): Promise<number> =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

async function shoot(page: Page, name: string): Promise<void> {
  await sharp(await page.screenshot())
    .webp({ quality: 80 })
    .toFile(`${shots}/${name}.webp`);
}

t.test('texts of size changes', async (t) => {
  const changes: ReadonlyArray<readonly [from: number, to: number]> = [
    [1_000, 60],
    [1_000_000, 800],
    [1_000_000, 4_990],
    [100, 0],
    [100, 103],
    [9, 9],
  ];
  t.same(
    changes.map(([from, to]) => changeInWords(from, to)),
    ['−94 %', '−99.9 %', '−99.5 %', '−100 %', '+3 %', '0 %'],
  );
});

/** The id or text of the element with the focus. */
const focused = (page: Page) =>
  page.evaluate('document.activeElement.id || document.activeElement.innerText');

t.test('the console in a browser', { skip: noChromium }, async (t) => {
  const origin = await startTestOrigin(t);
  const photo =
    shots === undefined ? await picture(1200, 800) : await samplePicture('landscape.jpg');
  origin.serve('/landscape.jpg', photo);
  const control = await startControl(t, { SERVICE_POOL_THREADS: '1' });
  const { url, port } = control.service;
  const worker = await startWorker(t, control.service);
  const project = await control.project();
  const browser: Browser = await startChromium(t);
  const source = `${origin.url}/landscape.jpg`;
  const withPicture = `${url}/#/?${new URLSearchParams({ project, url: source, w: '300' })}`;
  const opened = async (options: BrowserContextOptions = {}) => {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 900 },
      ...options,
    });
    t.teardown(() => context.close());
    return { context, ...(await open(context, url)) };
  };

  t.test('a page without projects shows the next step', async (t) => {
    const { page, problems } = await opened();
    await page.goto(url);
    await page.getByText('npm run demo').waitFor();
    await page.getByText('projects create --name "My site"').waitFor();
    await page.getByRole('link', { name: 'ok', exact: true }).waitFor();
    t.same(await faultsOf(page), []);
    await page.getByRole('link', { name: 'create a project' }).click();
    await page.getByLabel('API key').fill(rootKey);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor();
    t.equal(await focused(page), 'main');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    t.equal(await focused(page), 'main');
    await page.goto(`${url}/#/sign-in`);
    await page.getByLabel('API key').fill(rootKey);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${url}/#/projects`);
    t.equal(await focused(page), 'main');
    t.same(problems, []);
  });

  t.test('the playground', async (t) => {
    const { context, page, problems } = await opened();
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto(withPicture);
    const figures = page.getByRole('region', { name: 'Result' }).getByRole('status').first();
    await figures.getByText('300 × ').waitFor();
    await page.locator('summary', { hasText: 'more' }).click();
    const controls = await page
      .locator('[data-name]')
      .evaluateAll((fields) => fields.map((field) => field.getAttribute('data-name')));
    t.same(controls, parameterNames, 'every parameter has its control');
    const samples = await page.locator('.samples button').allInnerTexts();
    t.ok(samples.length > 0);
    for (const name of samples) t.ok(name in pictures, `${name} is a sample picture`);
    t.same(await faultsOf(page), []);
    for (const [name, value] of Object.entries({ q: '80', dpr: '1', saturation: '1', hue: '0' })) {
      const slider = page.getByLabel(`${name}, as a slider`);
      t.equal(await slider.inputValue(), value, `${name} stands at what applies`);
    }
    await page.getByLabel('Find a parameter').fill('colours');
    await page.getByLabel('grayscale').selectOption('on');
    await page.locator('summary', { hasText: 'more' }).click();

    await page.getByLabel('w', { exact: true }).fill('240');
    await page.getByLabel('fmt', { exact: true }).selectOption('webp');
    await page.getByLabel('q', { exact: true }).fill('auto');
    await figures.getByText('240 × ').waitFor();
    await page.getByLabel('q, as a slider').fill('40');
    await figures.getByText('240 × ').waitFor();
    await figures.getByText('image/webp').waitFor();
    await figures.getByText('from jpeg').waitFor();
    await page.getByRole('button', { name: 'Load again' }).click();
    await figures.getByText('held in memory').waitFor();

    const divider = page.getByRole('slider', { name: /^Divider/ });
    await divider.focus();
    for (const key of ['Home', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
    t.equal(await divider.getAttribute('aria-valuetext'), '2 % original');
    t.match(
      String(await page.evaluate(`getComputedStyle(document.querySelector('.after')).clipPath`)),
      '2%',
      'the result is uncovered',
    );

    await page.getByRole('button', { name: 'Copy URL' }).click();
    await page.getByText('Copied').waitFor();
    const copied = await page.evaluate('navigator.clipboard.readText()');
    const path = `/img/${encodeURIComponent(source)}?project=${project}&w=240&grayscale=1&fmt=webp&q=40`;
    t.equal(copied, baseUrl + path, 'the URL is where clients reach the service');
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    t.equal(response.headers.get('x-cache'), 'memory', 'it is the same image');

    for (const [title, words] of [
      ['HTML', /<picture>\n {2}<img src="https:[^"]+&amp;w=240&amp;/],
      ['Next.js', `project: "${project}", grayscale: "1", fmt: "webp", q: "40" });`],
      ['Nuxt', `format: "webp", quality: "40", ...given`],
      ['curl', `'${baseUrl}${path}'`],
    ] as const) {
      await page.getByLabel(title, { exact: true }).check();
      t.match(await page.getByRole('region', { name: `code for ${title}` }).innerText(), words);
    }
    t.same(problems, []);

    const linked = new URLSearchParams({ project, url: source, w: '260', height: '130' });
    const evil = [
      '"><img src=x onerror=alert(1)>',
      'a: alert(1)})//',
      "'; alert 1 #",
      'constructor',
    ];
    for (const name of evil) linked.set(name, '1');
    // A new page: in an open one a link to the same picture changes nothing.
    await page.goto('about:blank');
    await page.goto(`${url}/#/?${linked}`);
    await figures.getByText('260 × 130').waitFor();
    for (const title of ['HTML', 'Next.js', 'Nuxt', 'curl']) {
      await page.getByLabel(title, { exact: true }).check();
      const code = await page.getByRole('region', { name: `code for ${title}` }).innerText();
      t.notMatch(code, /alert|constructor/, `a link puts nothing of its own into the ${title}`);
    }
    t.same(problems, []);

    await page.getByLabel('Picture URL').fill(`${origin.url}/missing.jpg`);
    await page.getByRole('alert').getByText('127.0.0.1 answered 404').waitFor();
    const expected = problems.filter((problem) =>
      /the server responded with a status of 404/.test(problem),
    );
    t.same(problems, expected, 'the page shows errors');
  });

  t.test('an operator', async (t) => {
    const { context, page, problems } = await opened();
    await page.goto(`${url}/#/projects`);
    const key = page.getByLabel('API key');
    await key.fill('sk_wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('not known or has been revoked').waitFor();
    t.match(problems.splice(0), [/status of 401/]);
    await key.fill(rootKey);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Shop' }).waitFor();

    const form = page.getByRole('form', { name: 'New project' });
    await form.getByLabel('Name').fill('<b>Mine</b>');
    await form.getByLabel('Origin', { exact: true }).fill(`${origin.url}/`);
    await form.getByLabel('Allowed origins').fill('a.example\n*.b.example');
    await form.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: '<b>Mine</b>' }).waitFor();
    const id = page.url().split('/').at(-1) ?? '';
    const stored = async () => (await control.call('GET', `/projects/${id}`)).body.project;
    t.same((await stored()).allowedOrigins, ['127.0.0.1', 'a.example', '*.b.example']);

    await page.getByRole('button', { name: 'Remove a.example' }).click();
    await page.getByText('a.example is removed').waitFor();
    await until('the focus', async () => (await focused(page)) === 'allowlist');
    await page.getByLabel('Host to allow').fill('Bücher.example');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Remove xn--bcher-kva.example' }).waitFor();
    t.same((await stored()).allowedOrigins, ['127.0.0.1', '*.b.example', 'xn--bcher-kva.example']);

    const defaults = page.getByRole('region', { name: 'Defaults' });
    await page.getByRole('button', { name: 'landscape.jpg' }).click();
    const bytesOf = async (title: string) =>
      defaults.locator('figcaption', { hasText: title }).locator('span').innerText();
    await defaults.getByLabel('Default quality', { exact: true }).fill('35');
    const asked: string[] = [];
    page.on('dialog', (dialog) => {
      asked.push(dialog.message());
      void dialog.dismiss();
    });
    await page.getByRole('link', { name: 'Service', exact: true }).click();
    await until('it asks', () => asked.length === 1);
    t.match(asked.splice(0), [/not saved/]);
    t.equal(page.url(), `${url}/#/projects/${id}`);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await until('it asks', () => asked.length === 1);
    t.equal(await defaults.getByLabel('Default quality', { exact: true }).inputValue(), '35');
    await until('the preview shows what the change does', async () => {
      const [saved, changed] = [await bytesOf('Saved'), await bytesOf('With your changes')];
      return saved !== changed && /image\/avif, [\d.]+ K?B, 320 × 240/.test(changed);
    });
    await defaults.getByRole('button', { name: 'Save 1 change' }).click();
    await page.getByText('Saved. New images').waitFor();
    t.equal((await stored()).defaultQuality, 35);
    await defaults.getByLabel('Max width').fill('10001');
    await defaults.getByRole('button', { name: 'Save 1 change' }).click();
    t.equal((await stored()).maxWidth, null, 'the control has the range');
    await defaults.getByRole('button', { name: 'Discard' }).click();
    t.equal(await page.getByLabel('q, as a slider').inputValue(), '35', 'the new default');

    const presets = page.getByRole('region', { name: 'Presets' });
    const kept = async () => (await control.call('GET', `/projects/${id}/presets`)).body.presets;
    const presetName = presets.getByLabel('Preset name');
    await presetName.fill('Card');
    await presets.getByLabel('w', { exact: true }).fill('400');
    await presets.getByLabel('fit', { exact: true }).selectOption('cover');
    await presets.locator('summary', { hasText: 'more' }).click();
    await presets.getByLabel('flip', { exact: true }).selectOption('on');
    await presets.getByLabel('bg', { exact: true }).fill('000');
    const create = presets.getByRole('button', { name: 'Create preset' });
    /** The text next to a control. */
    const besides = async (field: Locator) => {
      const ids = ((await field.getAttribute('aria-describedby')) ?? '').split(' ');
      const texts = ids.map((one) => page.locator(`[id="${one}"]`).innerText());
      return (await Promise.all(texts)).join(' ');
    };
    t.match(await besides(presetName), /^A lower-case letter, and up to 39/);
    await create.click();
    await presets.getByRole('alert').getByText('the name of a preset must').waitFor();
    await until(
      'the focus',
      async () => (await focused(page)) === (await presetName.getAttribute('id')),
    );
    t.match(await besides(presetName), /^It must begin with a lower-case letter/);
    await presetName.fill('card');
    await presets.getByLabel('crop', { exact: true }).fill('1,2');
    await create.click();
    await presets.getByRole('alert').getByText('parameters.crop must').waitFor();
    const crop = presets.getByLabel('crop', { exact: true });
    t.match(await besides(crop), /^It must be left,top,width,height/);
    t.equal(await crop.getAttribute('aria-invalid'), 'true');
    t.equal(await presetName.getAttribute('aria-invalid'), 'false');
    t.match(problems.splice(0), [/status of 400/, /status of 400/]);
    t.same(await faultsOf(page), []);
    await crop.fill('');
    await create.click();
    await presets.getByText('card is saved').waitFor();
    const [card] = await kept();
    t.same(card, { name: 'card', parameters: { w: 400, fit: 'cover', bg: '000', flip: true } });
    await presets.getByRole('button', { name: 'Edit card' }).click();
    t.equal(await presets.getByLabel('flip', { exact: true }).inputValue(), '1');
    await presets.getByLabel('w', { exact: true }).fill('401');
    await presets.getByRole('button', { name: 'Change card' }).click();
    await presets.getByText('w=401').waitFor();
    t.same(await kept(), [{ ...card, parameters: { ...card.parameters, w: 401 } }]);
    await page.reload();
    await presets.getByRole('button', { name: 'Delete card …' }).click();
    await presets.getByRole('button', { name: 'Delete card' }).click();
    await presets.getByText('card is deleted').waitFor();
    t.equal(await focused(page), 'presets');
    t.same(await kept(), []);

    const prewarm = page.getByRole('region', { name: 'Prewarm' });
    await prewarm.getByLabel('Sources').fill(source);
    await prewarm.getByLabel('Widths').fill('50\n60');
    await prewarm.getByLabel('auto').uncheck();
    await prewarm.getByLabel('webp').check();
    await prewarm.getByRole('button', { name: 'Prewarm' }).click();
    await prewarm.getByText('1 source, 2 images accepted').waitFor();
    await prewarm.getByText('All done.').waitFor();
    t.equal(worker.logged('a source is warm').length, 1, 'not before it is');
    const warm = `${url}/img/${encodeURIComponent(source)}?project=${id}&w=60&fmt=webp`;
    t.equal((await fetch(warm)).headers.get('x-cache'), 'memory');
    t.same(await faultsOf(page), []);

    await page.getByRole('link', { name: 'Service', exact: true }).click();
    await page.getByRole('heading', { name: 'Disk cache' }).waitFor();
    t.same(await faultsOf(page), []);
    await page.reload();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    t.same(problems, []);

    await page.close();
    const next = await open(context, url);
    await next.page.goto(url);
    await next.page.getByRole('banner').getByRole('link', { name: 'Sign in' }).waitFor();
    const left = await next.page.evaluate('[sessionStorage.length, localStorage.length]');
    t.same(left, [0, 0], 'the key was only in the closed tab');
    t.same(await context.cookies(), []);
    t.same((await context.storageState()).origins, []);
  });

  t.test('on a phone, in the dark', async (t) => {
    const { page, problems } = await opened(phone);
    await page.goto(withPicture);
    await page.getByRole('slider', { name: /^Divider/ }).waitFor();
    t.ok((await tooWide(page)) <= 0, 'nothing to scroll sideways');
    t.same(await faultsOf(page), [], 'the contrasts of the dark theme suffice');
    await page.getByRole('link', { name: 'Projects', exact: true }).click();
    await page.getByLabel('API key').fill(rootKey);
    await page.keyboard.press('Enter');
    for (const link of ['Shop', 'Service']) {
      await page.getByRole('link', { name: link, exact: true }).click();
      await page.getByRole('heading', { level: 1, name: link }).waitFor();
      t.ok((await tooWide(page)) <= 0, link);
      t.same(await faultsOf(page), [], link);
    }
    const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    t.equal(ground, 'rgb(18, 22, 28)');
    t.same(problems, []);
  });

  t.test('the reference of the interface', async (t) => {
    const { page, problems } = await opened();
    await page.goto(`${url}/docs`);
    const operations = page.locator('.opblock');
    // The two image endpoints and health.
    const count = Object.keys(endpoints).length + 3;
    await operations.nth(count - 1).waitFor();
    t.equal(await operations.count(), count);
    const health = operations.filter({ hasText: '/api/health' });
    await health.locator('button').first().click();
    await health.getByRole('button', { name: 'Try it out' }).click();
    await health.getByRole('button', { name: 'Execute' }).click();
    await health.locator('.live-responses-table .response', { hasText: '200' }).waitFor();
    t.same(problems, []);
  });

  t.test('errors of navigations are pages', async (t) => {
    const { page, problems } = await opened();
    for (const path of ['/nothing', `/img/http://other.example/a/b.jpg?project=${project}`]) {
      await page.goto(url + path);
      await page.getByRole('link', { name: 'Playground and console' }).waitFor();
      const family = await page.evaluate('getComputedStyle(document.body).fontFamily');
      t.match(family, /^system-ui/, `the style sheet is found from ${path}`);
      t.same(await faultsOf(page), []);
    }
    await page.getByRole('link', { name: 'Playground and console' }).click();
    await page.getByRole('heading', { name: 'Playground' }).waitFor();
    const answer = await json(await fetch(`${url}/nothing`, { headers: { accept: '*/*' } }));
    t.equal(answer.code, 'endpoint_not_found');
    t.match(problems, [/status of 404/, /status of 403/]);
  });

  t.test('screenshots for the documents', { skip: shots === undefined }, async () => {
    const input = {
      name: 'My shop',
      origin: `${origin.url}/`,
      allowedOrigins: ['*.cdn.example.com'],
    };
    await control.call('POST', '/projects', { json: input });
    const figures = (page: Page) => page.getByText(/^from jpeg$/).waitFor();
    const large = withPicture.replace('w=300', 'w=1200&q=60');
    const { page } = await opened();
    await page.goto(large);
    await figures(page);
    await shoot(page, 'playground');
    await page.goto(`${url}/#/projects`);
    await page.getByLabel('API key').fill(rootKey);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'My shop' }).click();
    await page.getByRole('button', { name: 'landscape.jpg' }).click();
    await page.getByLabel('Default quality', { exact: true }).fill('35');
    await page.getByAltText('With your changes').waitFor();
    const presets = page.getByRole('region', { name: 'Presets' });
    for (const [name, values] of Object.entries({
      card: { w: '400', h: '300' },
      hero: { w: '1600' },
    })) {
      await presets.getByLabel('Preset name').fill(name);
      for (const [parameter, value] of Object.entries(values)) {
        await presets.getByLabel(parameter, { exact: true }).fill(value);
      }
      await presets.getByRole('button', { name: 'Create preset' }).click();
      await presets.getByText(`${name} is saved`).waitFor();
    }
    await presets.getByRole('button', { name: 'Edit hero' }).click();
    await presets.getByLabel('q', { exact: true }).fill('55');
    await page.evaluate(`document.getElementById('presets').parentElement.scrollIntoView()`);
    await shoot(page, 'presets');
    await page.evaluate(`document.getElementById('defaults').scrollIntoView()`);
    await shoot(page, 'project');
    page.once('dialog', (dialog) => void dialog.accept());
    await page.getByRole('link', { name: 'Service', exact: true }).click();
    await page.getByRole('heading', { name: 'Disk cache' }).waitFor();
    await shoot(page, 'service');
    const small = await opened({ ...phone, deviceScaleFactor: 2 });
    await small.page.goto(large);
    await figures(small.page);
    await small.page.evaluate('scrollTo(0, 420)');
    await shoot(small.page, 'phone-dark');
  });
});
