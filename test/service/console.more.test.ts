import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import sharp from 'sharp';
import t from 'tap';
import { pictures, picture as samplePicture } from '../../demo/origin/pictures.ts';
import { sourceTag } from '../../pool/inputs.ts';
import { operations } from '../../server/control/operations.ts';
import { parameterNames } from '../../server/image/parameters.ts';
import { patienceMs, until } from '../until.ts';
import { noChromium, startChromium } from './chromium.ts';
import { baseUrl, rootKey, startControl } from './control/control.ts';
import { picture, startTestOrigin } from './origin.ts';
import { startWorker } from './worker/worker.ts';

/** A folder for screenshots, such as docs/console; they show the sample picture. */
const screenshotFolder = process.env['CONSOLE_PICTURES'];
const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const phone = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' } as const;

/** A page, its messages in the browser's console, and its requests to other hosts. */
async function openPage(context: BrowserContext, url: string) {
  const page = await context.newPage();
  page.setDefaultTimeout(patienceMs);
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => problems.push(`${message.type()}: ${message.text()}`));
  page.on('request', (request) => {
    if (!/^(?:blob|data):/.test(request.url()) && !request.url().startsWith(`${url}/`)) {
      problems.push(`a request to another host: ${request.url()}`);
    }
  });
  return { page, problems };
}

/** The violations of accessibility rules that axe finds. */
async function violationsOf(page: Page): Promise<string[]> {
  // A button that is being enabled has little contrast during its transition.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.evaluate(axe);
  const { violations }: { violations: { id: string; nodes: { html: string }[] }[] } =
    await page.evaluate('axe.run()');
  await page.emulateMedia({ reducedMotion: null });
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`,
  );
}

/** Whether a page is wider than its window. */
const overflows = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');

/** The id or text of the element with the focus. */
const focused = (page: Page) =>
  page.evaluate('document.activeElement.id || document.activeElement.innerText');

async function signIn(page: Page, key = rootKey): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.keyboard.press('Enter');
}

/** The control with exactly this label. */
const control = (parent: Page | Locator, label: string) =>
  parent.getByLabel(label, { exact: true });

t.test('the console in a browser', { skip: noChromium }, async (t) => {
  const origin = await startTestOrigin(t);
  const photo =
    screenshotFolder === undefined
      ? await picture(1200, 800)
      : await samplePicture('landscape.jpg');
  origin.serve('/landscape.jpg', photo);
  const api = await startControl(t, { SERVICE_POOL_THREADS: '1' });
  const { url, port } = api.service;
  const worker = await startWorker(t, api.service);
  const project = await api.project();
  const browser = await startChromium(t);
  const source = `${origin.url}/landscape.jpg`;
  const withPicture = `${url}/#/?${new URLSearchParams({ project, url: source, w: '300' })}`;
  const opened = async (options: BrowserContextOptions = {}) => {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 900 },
      ...options,
    });
    t.teardown(() => context.close());
    return { context, ...(await openPage(context, url)) };
  };

  t.test('a page without projects shows the next step', async (t) => {
    const { page, problems } = await opened();
    await page.goto(url);
    await page.getByText('npm run demo').waitFor();
    await page.getByText('projects create --name "My site"').waitFor();
    await page.getByRole('link', { name: 'ok', exact: true }).waitFor();
    t.same(await violationsOf(page), []);
    await page.getByRole('link', { name: 'create a project' }).click();
    await signIn(page);
    await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor();
    t.equal(await focused(page), 'main');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    t.equal(await focused(page), 'main');
    await page.goto(`${url}/#/sign-in`);
    await signIn(page);
    await page.waitForURL(`${url}/#/projects`);
    t.same(problems, []);
  });

  t.test('the playground offers the layers of the project', async (t) => {
    const layers = `/projects/${project}/layers`;
    const price = { text: { words: 'Sale', freeText: true, color: 'fff' } };
    t.equal((await api.call('PUT', `${layers}/price`, { json: price })).status, 200);
    const badge = { image: { url: source, scale: 20 } };
    t.equal((await api.call('PUT', `${layers}/badge`, { json: badge })).status, 200);
    const { page, problems } = await opened();
    await page.goto(`${url}/#/sign-in`);
    await signIn(page);
    await page.waitForURL(`${url}/#/projects`);
    const plain = new URLSearchParams({ project, url: source, w: '310' });
    await page.goto(`${url}/#/?${plain}`);
    const shows = (query: string) =>
      page.waitForResponse((response) => response.url().includes(query) && response.ok());
    const withBadge = shows('layer=badge');
    await page.getByLabel('badge', { exact: true }).check();
    await withBadge;
    await page.getByLabel('price', { exact: true }).check();
    const withWords = shows('layer=badge%2Cprice&text.price=19%2C90%20%E2%82%AC');
    await page.getByLabel('Words of price').fill('19,90 €');
    await withWords;
    t.same(await violationsOf(page), []);
    await page.getByLabel('price', { exact: true }).uncheck();
    await page.getByLabel('Words of price').waitFor({ state: 'detached' });
    t.same(problems, []);
    await api.call('DELETE', `${layers}/price`);
    await api.call('DELETE', `${layers}/badge`);
  });

  t.test('the playground', async (t) => {
    const { context, page, problems } = await opened();
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto(withPicture);
    const figures = page.getByRole('region', { name: 'Result' }).getByRole('status').first();
    await figures.getByText('300 × ').waitFor();
    const palette = page.getByRole('list', { name: 'Palette' });
    await palette
      .getByText(/^#[0-9a-f]{6} \d+ %$/)
      .first()
      .waitFor();
    await page.getByText('Perceptual hash', { exact: true }).waitFor();
    await page.locator('summary', { hasText: 'more' }).click();
    const names = await page
      .locator('[data-name]')
      .evaluateAll((fields) => fields.map((field) => field.getAttribute('data-name')));
    t.same(names, parameterNames, 'every parameter has a control');
    const samples = await page.locator('.samples button').allInnerTexts();
    t.ok(samples.length > 0);
    t.same(
      samples.filter((name) => !(name in pictures)),
      [],
      'they are sample pictures',
    );
    t.same(await violationsOf(page), []);
    for (const [name, value] of Object.entries({ q: '80', dpr: '1', saturation: '1', hue: '0' })) {
      const slider = page.getByLabel(`${name}, as a slider`);
      t.equal(await slider.inputValue(), value, `the default of ${name}`);
    }
    await page.getByLabel('Find a parameter').fill('colours');
    await page.getByLabel('grayscale').selectOption('on');
    await page.locator('summary', { hasText: 'more' }).click();

    await control(page, 'w').fill('240');
    await control(page, 'fmt').selectOption('webp');
    await control(page, 'q').fill('auto');
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
      'the divider moves',
    );

    await page.getByRole('button', { name: 'Copy URL' }).click();
    await page.getByText('Copied').waitFor();
    const copied = await page.evaluate('navigator.clipboard.readText()');
    const path = `/img/${encodeURIComponent(source)}?project=${project}&fmt=webp&grayscale=true&q=40&w=240`;
    t.equal(copied, baseUrl + path, 'the URL is where clients reach the service');
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    t.equal(response.headers.get('x-cache'), 'memory', 'it is the same image');

    for (const [title, words] of [
      ['HTML', /<picture>\n {2}<img src="https:[^"]+&amp;w=240"/],
      ['SDK', `images.url("${source}", { w: 240, grayscale: true, fmt: "webp", q: 40 });`],
      ['Next.js', `options: { grayscale: true, fmt: "webp", q: 40 }`],
      ['Nuxt', `modifiers: { quality: 40, format: "webp", grayscale: true }`],
      ['curl', `'${baseUrl}${path}'`],
    ] as const) {
      await control(page, title).check();
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
    for (const title of ['HTML', 'SDK', 'Next.js', 'Nuxt', 'curl']) {
      await control(page, title).check();
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
    await signIn(page, 'sk_wrong');
    await page.getByRole('alert').getByText('not known or has been revoked').waitFor();
    t.match(problems.splice(0), [/status of 401/]);
    await signIn(page);
    await page.getByRole('link', { name: 'Shop' }).waitFor();

    const form = page.getByRole('form', { name: 'New project' });
    await form.getByLabel('Name').fill('<b>Mine</b>');
    await control(form, 'Origin').fill(`${origin.url}/`);
    await form.getByLabel('Allowed origins').fill('a.example\n*.b.example');
    await form.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: '<b>Mine</b>' }).waitFor();
    const id = page.url().split('/').at(-1) ?? '';
    const stored = async () => (await api.call('GET', `/projects/${id}`)).body.project;
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
    await control(defaults, 'Default quality').fill('35');
    const dialogs: string[] = [];
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    for (const leave of [
      page.getByRole('link', { name: 'Service', exact: true }),
      page.getByRole('button', { name: 'Sign out' }),
    ]) {
      await leave.click();
      await until('a dialog', () => dialogs.length === 1);
      t.match(dialogs.splice(0), [/not saved/]);
    }
    t.equal(page.url(), `${url}/#/projects/${id}`);
    t.equal(await control(defaults, 'Default quality').inputValue(), '35');
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
    const storedPresets = async () =>
      (await api.call('GET', `/projects/${id}/presets`)).body.presets;
    const presetName = presets.getByLabel('Preset name');
    await presetName.fill('Card');
    await control(presets, 'w').fill('400');
    await control(presets, 'fit').selectOption('cover');
    await presets.locator('summary', { hasText: 'more' }).click();
    await control(presets, 'flip').selectOption('on');
    await control(presets, 'bg').fill('000');
    const create = presets.getByRole('button', { name: 'Create preset' });
    /** The help and the error of a control. */
    const descriptionOf = async (field: Locator) => {
      const ids = ((await field.getAttribute('aria-describedby')) ?? '').split(' ');
      const texts = ids.map((one) => page.locator(`[id="${one}"]`).innerText());
      return (await Promise.all(texts)).join(' ');
    };
    t.match(await descriptionOf(presetName), /^A lower-case letter, and up to 39/);
    await create.click();
    await presets.getByRole('alert').getByText('the name of a preset must').waitFor();
    await until(
      'the focus',
      async () => (await focused(page)) === (await presetName.getAttribute('id')),
    );
    t.match(await descriptionOf(presetName), /^It must begin with a lower-case letter/);
    await presetName.fill('card');
    await control(presets, 'crop').fill('1,2');
    await create.click();
    await presets.getByRole('alert').getByText('parameters.crop must').waitFor();
    const crop = control(presets, 'crop');
    t.match(await descriptionOf(crop), /^It must be left,top,width,height/);
    t.equal(await crop.getAttribute('aria-invalid'), 'true');
    t.equal(await presetName.getAttribute('aria-invalid'), 'false');
    t.match(problems.splice(0), [/status of 400/, /status of 400/]);
    t.same(await violationsOf(page), []);
    await crop.fill('');
    await create.click();
    await presets.getByText('card is saved').waitFor();
    const [card] = await storedPresets();
    t.same(card, { name: 'card', parameters: { w: 400, fit: 'cover', bg: '000', flip: true } });
    await presets.getByRole('button', { name: 'Edit card' }).click();
    t.equal(await control(presets, 'flip').inputValue(), '1');
    await control(presets, 'w').fill('401');
    await presets.getByRole('button', { name: 'Change card' }).click();
    await presets.getByText('w=401').waitFor();
    t.same(await storedPresets(), [{ ...card, parameters: { ...card.parameters, w: 401 } }]);
    await page.reload();
    await presets.getByRole('button', { name: 'Delete card …' }).click();
    await presets.getByRole('button', { name: 'Delete card' }).click();
    await presets.getByText('card is deleted').waitFor();
    t.equal(await focused(page), 'presets');
    t.same(await storedPresets(), []);

    const prewarm = page.getByRole('region', { name: 'Prewarm' });
    await prewarm.getByLabel('Sources').fill(source);
    await prewarm.getByLabel('Widths').fill('50\n60');
    await prewarm.getByLabel('auto').uncheck();
    await prewarm.getByLabel('webp').check();
    await prewarm.getByRole('button', { name: 'Prewarm' }).click();
    await prewarm.getByText('1 source, 2 images accepted').waitFor();
    await prewarm.getByText('All done.').waitFor();
    t.equal(worker.logged('a source is warm').length, 1);
    const warm = `${url}/img/${encodeURIComponent(source)}?project=${id}&w=60&fmt=webp`;
    t.equal((await fetch(warm)).headers.get('x-cache'), 'memory');
    t.same(await violationsOf(page), []);

    const purge = page.getByRole('region', { name: 'Purge' });
    let purgeCalls = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/purge')) purgeCalls += 1;
    });
    const storedPurges = async () => (await api.store.projects.find(id))?.purges;
    const purgeSources = purge.getByRole('button', { name: 'Purge sources' });
    await purge.getByLabel('Sources').fill(`${source}\nhttps://other.example/a.jpg`);
    await purgeSources.click();
    await purge.getByRole('alert').getByText('sources[1]').waitFor();
    t.match(problems.splice(0), [/status of 400/]);
    t.equal(await storedPurges(), undefined);
    const withComma = `${origin.url}/a,b.jpg`;
    await purge.getByLabel('Sources').fill(`${source}\n\n${withComma}\n`);
    await purgeSources.click();
    await purge.getByText('The images of 2 sources are purged').waitFor();
    t.equal(await purge.getByLabel('Sources').inputValue(), '');
    const tags = [source, withComma].map((one) => sourceTag(new URL(one)));
    t.same(Object.keys((await storedPurges())?.sources ?? {}).sort(), tags.sort());
    await purge.getByText(/: \d+ files? deleted/).waitFor();
    await until('it is rendered again', async () => {
      const response = await fetch(warm);
      return response.headers.get('x-cache') === 'miss';
    });
    const askAll = purge.getByRole('button', { name: 'Purge all images …' });
    await askAll.click();
    t.same(await violationsOf(page), []);
    await purge.getByRole('button', { name: 'Keep' }).click();
    t.equal((await storedPurges())?.all, 0);
    await askAll.click();
    await purge.getByRole('button', { name: 'Purge all images', exact: true }).click();
    await purge.getByText('All images are purged').waitFor();
    t.equal(await focused(page), 'purge');
    t.not((await storedPurges())?.all, 0);
    t.equal(purgeCalls, 3, 'none without a confirmation');

    const usage = page.getByRole('region', { name: 'Usage' });
    await usage.getByRole('heading', { name: 'Requests' }).waitFor();
    await usage.getByLabel('Renders per day').fill('500');
    await usage.getByRole('button', { name: 'Save limits' }).click();
    await usage.getByText('The limits are saved').waitFor();
    const { limits } = (await api.store.projects.find(id)) ?? {};
    t.same(limits, { rendersPerDay: 500, bytesPerDay: null });
    t.same(problems, []);
    await page.route('**/limits', (route) => route.fulfill({ status: 503, body: '{}' }));
    await page.reload();
    await usage.getByRole('alert').waitFor();
    t.ok(await usage.getByRole('button', { name: 'Save limits' }).isDisabled(), 'not loaded');
    t.equal(await usage.getByLabel('Renders per day').count(), 0);
    t.match(problems.splice(0), [/status of 503/]);
    await page.unroute('**/limits');

    await page.getByRole('link', { name: 'Service', exact: true }).click();
    await page.getByRole('heading', { name: 'Disk cache' }).waitFor();
    t.same(await violationsOf(page), []);
    await page.reload();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    t.same(problems, []);

    await page.close();
    const next = await openPage(context, url);
    await next.page.goto(url);
    await next.page.getByRole('banner').getByRole('link', { name: 'Sign in' }).waitFor();
    const left = await next.page.evaluate('[sessionStorage.length, localStorage.length]');
    t.same(left, [0, 0], 'the key was only in the closed tab');
    t.same(await context.cookies(), []);
    t.same((await context.storageState()).origins, []);
  });

  t.test('on a phone, in dark mode', async (t) => {
    const { page, problems } = await opened(phone);
    await page.goto(withPicture);
    await page.getByRole('slider', { name: /^Divider/ }).waitFor();
    t.notOk(await overflows(page));
    t.same(await violationsOf(page), [], 'in dark mode');
    await page.getByRole('link', { name: 'Projects', exact: true }).click();
    await signIn(page);
    for (const link of ['Shop', 'Service']) {
      await page.getByRole('link', { name: link, exact: true }).click();
      await page.getByRole('heading', { level: 1, name: link }).waitFor();
      t.notOk(await overflows(page), link);
      t.same(await violationsOf(page), [], link);
    }
    const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    t.equal(ground, 'rgb(18, 22, 28)');
    t.same(problems, []);
  });

  t.test('the API reference', async (t) => {
    const { page, problems } = await opened();
    await page.goto(`${url}/docs`);
    const blocks = page.locator('.opblock');
    // The two image endpoints, health and readiness.
    const count = Object.keys(operations).length + 4;
    await blocks.nth(count - 1).waitFor();
    t.equal(await blocks.count(), count);
    const health = blocks.filter({ hasText: '/api/health' });
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
      t.same(await violationsOf(page), []);
    }
    await page.getByRole('link', { name: 'Playground and console' }).click();
    await page.getByRole('heading', { name: 'Playground' }).waitFor();
    t.match(problems, [/status of 404/, /status of 403/]);
  });

  t.test('a key with many projects', async (t) => {
    const { _id: orgId } = await api.store.organisations.create('Many');
    const ids: string[] = [];
    for (let n = 0; n < 120; n += 1) {
      const input = { orgId, name: `Shop ${n}`, origin: 'https://e.test/', allowedOrigins: [] };
      ids.push((await api.store.projects.create(input))._id);
    }
    const last = ids.sort().at(-1) ?? '';
    const issued = { name: 'many', orgId, projectId: null, access: 'read' } as const;
    const { secret } = await api.store.keys.issue(issued);
    const { page, problems } = await opened();
    const asked: string[] = [];
    page.on('request', (request) => {
      const { pathname, search } = new URL(request.url());
      if (pathname.endsWith('/projects')) asked.push(search);
    });
    await page.goto(`${url}/#/projects/${last}`);
    await signIn(page, secret);
    await page.getByText(last, { exact: true }).first().waitFor();
    await page.getByRole('link', { name: 'All projects' }).click();
    const cards = page.locator('.projects .card');
    await until('the first page and the opened project', async () => (await cards.count()) === 101);
    t.same(await violationsOf(page), []);
    await page.getByRole('button', { name: 'Show more projects' }).click();
    await until('all of them', async () => (await cards.count()) === 120);
    t.equal(await page.getByRole('button', { name: 'Show more projects' }).count(), 0);
    t.same(asked, ['?limit=100', `?limit=100&cursor=${ids[99]}`]);

    await page.reload();
    await page.goto(`${url}/#/?project=${last}`);
    await page.getByRole('heading', { name: 'Playground' }).waitFor();
    t.equal(await page.getByLabel('Project', { exact: true }).inputValue(), last, 'an id is typed');
    t.same(problems, []);
  });

  t.test('screenshots for the documents', { skip: screenshotFolder === undefined }, async () => {
    const input = {
      name: 'My shop',
      origin: `${origin.url}/`,
      allowedOrigins: ['*.cdn.example.com'],
    };
    await api.call('POST', '/projects', { json: input });
    const capture = async (page: Page, name: string) =>
      sharp(await page.screenshot())
        .webp({ quality: 80 })
        .toFile(`${screenshotFolder}/${name}.webp`);
    const openPicture = async (page: Page) => {
      await page.goto(withPicture.replace('w=300', 'w=1200&q=60'));
      await page.getByText(/^from jpeg$/).waitFor();
    };
    const { page } = await opened();
    await openPicture(page);
    await capture(page, 'playground');
    await page.goto(`${url}/#/projects`);
    await signIn(page);
    await page.getByRole('link', { name: 'My shop' }).click();
    await page.getByRole('button', { name: 'landscape.jpg' }).click();
    await control(page, 'Default quality').fill('35');
    await page.getByAltText('With your changes').waitFor();
    const presets = page.getByRole('region', { name: 'Presets' });
    for (const [name, width] of Object.entries({ card: '400', hero: '1600' })) {
      await presets.getByLabel('Preset name').fill(name);
      await control(presets, 'w').fill(width);
      await presets.getByRole('button', { name: 'Create preset' }).click();
      await presets.getByText(`${name} is saved`).waitFor();
    }
    await presets.getByRole('button', { name: 'Edit hero' }).click();
    await control(presets, 'q').fill('55');
    await page.evaluate(`document.getElementById('presets').parentElement.scrollIntoView()`);
    await capture(page, 'presets');
    await page.evaluate(`document.getElementById('defaults').scrollIntoView()`);
    await capture(page, 'project');
    page.once('dialog', (dialog) => void dialog.accept());
    await page.getByRole('link', { name: 'Service', exact: true }).click();
    await page.getByRole('heading', { name: 'Disk cache' }).waitFor();
    await capture(page, 'service');
    const small = await opened({ ...phone, deviceScaleFactor: 2 });
    await openPicture(small.page);
    await small.page.evaluate('scrollTo(0, 420)');
    await capture(small.page, 'phone-dark');
  });
});
