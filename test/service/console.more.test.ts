import t from 'tap';
import { pictures } from '../../demo/origin/pictures.ts';
import { operations } from '../../server/control/operations.ts';
import { parameterNames } from '../../server/image/parameters.ts';
import { until } from '../until.ts';
import { noChromium } from './chromium.ts';
import {
  control,
  findViolations,
  focused,
  hasFocus,
  overflows,
  phone,
  signIn,
  startConsole,
} from './console-page.ts';
import { baseUrl } from './control/control.ts';

t.test('runs the console in a browser', { skip: noChromium }, async (t) => {
  const { api, url, origin, source, opened } = await startConsole(t);
  const { port } = api.service;
  const project = await api.project();
  const withPicture = `${url}/#/?${new URLSearchParams({ project, url: source, w: '300' })}`;

  t.test('shows the next step on a page with no projects', async (t) => {
    const { page, problems } = await opened();
    await page.goto(url);
    await page.getByText('npm run demo').waitFor();
    await page.getByText('projects create --name "My site"').waitFor();
    await page.getByRole('link', { name: 'ok', exact: true }).waitFor();
    const { page: slow } = await opened();
    await slow.route('**/api/health', () => {});
    await slow.goto(url);
    const loading = slow.getByRole('link', { name: 'loading' });
    t.match(await loading.getAttribute('class'), 'good', 'no alarm before the first response');
    t.same(await findViolations(page), []);
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

  t.test('shows in the playground how an image differs from the request', async (t) => {
    const { page, problems } = await opened();
    await page.goto(`${withPicture}&fmt=webp&maxbytes=1`);
    const warning = page.getByText('The service warns: maxbytes_exceeded. No output');
    await warning.waitFor();
    await page.getByAltText('The result').waitFor();
    const [notice, box] = [await warning.boundingBox(), await page.locator('.box').boundingBox()];
    t.ok(notice && box && notice.y >= box.y + box.height, 'it does not cover the image');
    await page.goto(`${withPicture}&crop=600,0,1000,800`);
    await page
      .getByText(/The crop reaches beyond the source, which has 1200 × 800 pixels/)
      .waitFor();
    t.equal(await control(page, 'maxbytes').inputValue(), '', 'a changed address applies');
    await page.locator('summary', { hasText: 'Crop' }).click();
    await control(page, 'crop').fill('600,0,600,800');
    await page.getByText(/The crop reaches beyond/).waitFor({ state: 'detached' });
    // The page's own address has changed by now, so this address is not the one that it opened with.
    await page.waitForURL(/crop=600%2C0%2C600/);
    await page.goto(`${withPicture}&crop=600,0,1000,800`);
    await page.getByText(/The crop reaches beyond/).waitFor();
    t.same(await findViolations(page), []);
    t.same(problems, []);
  });

  t.test("offers the project's layers in the playground", async (t) => {
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
    t.same(await findViolations(page), []);
    await page.getByLabel('price', { exact: true }).uncheck();
    await page.getByLabel('Words of price').waitFor({ state: 'detached' });
    t.equal(await control(page, 'overlay.w').count(), 0, 'no field without an image');
    const overlaid = `${new URLSearchParams({ overlay: source, 'overlay.w': '30p' })}`;
    const withOverlay = shows('overlay.w=30p');
    await page.goto(`${url}/#/?${plain}&${overlaid}`);
    await withOverlay;
    t.equal(await control(page, 'overlay.w').inputValue(), '30p');
    t.equal(await control(page, 'overlay2.w').count(), 0);
    t.same(problems, []);
    await api.call('DELETE', `${layers}/price`);
    await api.call('DELETE', `${layers}/badge`);
  });

  t.test('reads URLs of other services in the playground', async (t) => {
    const { page, problems } = await opened();
    await page.goto(`${url}/#/sign-in`);
    await signIn(page);
    await page.waitForURL(`${url}/#/projects`);
    await page.goto(withPicture);
    await page.getByText('URL of another service').click();
    const query = new URLSearchParams({ url: source, w: '210', q: '60', other: '1' });
    const shown = page.waitForResponse(
      (response) => /[?&]q=60&w=210|w=210.*q=60|q=60.*w=210/.test(response.url()) && response.ok(),
    );
    await page.getByLabel('Its image URL').fill(`https://www.example/_next/image?${query}`);
    await shown;
    await page.getByText('Ignored: other').waitFor();
    await page.getByLabel('Service', { exact: true }).selectOption('iiif');
    const { origin: base, pathname } = new URL(source);
    await api.call('PATCH', `/projects/${project}`, { json: { origin: base } });
    const cropped = page.waitForResponse(
      (response) => /crop=/.test(response.url()) && response.ok(),
    );
    const identifier = encodeURIComponent(pathname.slice(1));
    await page
      .getByLabel('Its image URL')
      .fill(`https://iiif.example/${identifier}/pct:0,0,50,50/100,/0/default.jpg`);
    await cropped;
    t.same(await findViolations(page), []);
    await page.getByLabel('Its image URL').fill('https://iiif.example/nothing/here');
    await page.getByText(/^The path is not \{prefix[^;]+ 3\.$/).waitFor();
    t.ok(problems.every((problem) => /status of 400/.test(problem)));

    const host = { base: `${base}/`, urls: 'imgproxy' };
    await api.call('PUT', `/projects/${project}/hosts/img.example`, { json: host });
    await page.reload();
    await page.waitForLoadState('networkidle');
    const read = page.waitForResponse((response) => /w=130/.test(response.url()) && response.ok());
    const field = page.getByLabel('Source image URL');
    await field.fill(`https://img.example/unsafe/w:130/plain${pathname}`);
    await read;
    t.equal(await field.inputValue(), source, 'the source of an image URL on a delivery host');
    await api.call('DELETE', `/projects/${project}/hosts/img.example`);
  });

  t.test('shows an image and its facts in the playground', async (t) => {
    const { context, page, problems } = await opened();
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto(withPicture);
    const figures = page.getByRole('region', { name: 'Result' }).getByRole('status').first();
    await figures.getByText('300 × ').waitFor();
    const palette = page.getByRole('list', { name: 'Palette' });
    await palette
      .getByText(/^#[0-9a-f]{6} \d+%$/)
      .first()
      .waitFor();
    await page.getByText('Perceptual hash', { exact: true }).waitFor();
    const names = await page
      .locator('[data-name]')
      .evaluateAll((fields) => fields.map((field) => field.getAttribute('data-name')));
    t.same(names.sort(), [...parameterNames].sort(), 'every parameter has a control');
    const groups = page.locator('.group > summary');
    t.same(await groups.allInnerTexts(), [
      'Size, 1 used',
      'Format',
      'Crop',
      'Colour',
      'Filters',
      'Delivery',
      'Layers',
    ]);
    const samples = await page.locator('.samples button').allInnerTexts();
    t.ok(samples.length > 0);
    t.same(
      samples.filter((name) => !(name in pictures)),
      [],
      'they are sample pictures',
    );
    t.same(await findViolations(page), []);
    for (const [name, value] of Object.entries({ q: '80', dpr: '1', saturation: '1', hue: '0' })) {
      const slider = page.getByLabel(`${name}, as a slider`);
      t.equal(await slider.inputValue(), value, `the default of ${name}`);
    }
    await page.getByLabel('Find a parameter').fill('grayscale');
    t.same(await groups.allInnerTexts(), ['Colour'], 'the groups with a parameter that matches');
    await page.getByLabel('Find a parameter').fill('graysc');
    await page.getByLabel('grayscale').selectOption('on');
    await page.getByLabel('Find a parameter').fill('');
    await groups.filter({ hasText: 'Colour, 1 used' }).waitFor();

    await control(page, 'w').fill('240');
    await control(page, 'fmt').selectOption('webp');
    await control(page, 'q').fill('auto');
    await figures.getByText('240 × ').waitFor();
    await page.getByLabel('q, as a slider').fill('40');
    await figures.getByText('240 × ').waitFor();
    await figures.getByText('webp', { exact: true }).waitFor();
    await figures.getByText('from jpeg').waitFor();
    await page.getByRole('button', { name: 'Load again' }).click();
    await figures.getByText('held in memory').waitFor();

    await page.evaluate('scrollTo(0, 500)');
    for (const part of [figures, page.getByRole('region', { name: 'URL', exact: true })]) {
      const box = await part.boundingBox();
      t.ok(box !== null && box.y >= 0 && box.y + box.height <= 900, 'it stays in view');
    }
    const divider = page.getByRole('slider', { name: /^Divider/ });
    await divider.focus();
    for (const key of ['Home', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
    t.equal(await divider.getAttribute('aria-valuetext'), '2% original');
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
    // Use a new page: in an open page a link to the same image has no effect.
    await page.goto('about:blank');
    await page.goto(`${url}/#/?${linked}`);
    await figures.getByText('260 × 130').waitFor();
    for (const title of ['HTML', 'SDK', 'Signed', 'Next.js', 'Nuxt', 'Astro', 'unpic', 'curl']) {
      await control(page, title).check();
      const code = await page.getByRole('region', { name: `code for ${title}` }).innerText();
      t.notMatch(code, /alert|constructor/, `a link puts nothing of its own into the ${title}`);
    }
    t.same(problems, []);

    for (const base of [baseUrl, url]) {
      const other = `${base}/img/${encodeURIComponent(`${source}?n=1`)}?project=${project}`;
      const pasted = `${other}&width=${base === url ? 230 : 220}&grayscale=true&exp=1&sig=x`;
      await page.getByLabel('Source image URL').fill(pasted);
      t.equal(await page.getByLabel('Source image URL').inputValue(), `${source}?n=1`);
      t.equal(await control(page, 'w').inputValue(), base === url ? '230' : '220');
      t.equal(await control(page, 'h').inputValue(), '');
      t.equal(await page.getByLabel('grayscale').inputValue(), '1');
      t.equal(await page.getByLabel('Project', { exact: true }).inputValue(), project);
    }
    const onSite = new URL(source).pathname;
    const shown = page.waitForResponse((response) => /w=210/.test(response.url()) && response.ok());
    await page
      .getByLabel('Source image URL')
      .fill(`${url}/img/?url=${onSite}&project=${project}&w=210`);
    await shown;
    t.equal(await page.getByLabel('Source image URL').inputValue(), onSite);
    t.match(await page.getByRole('region', { name: 'URL', exact: true }).innerText(), 'img/%2F');
    await control(page, 'Next.js').check();
    const code = page.getByRole('region', { name: 'code for Next.js' });
    await code.getByText(`src="${onSite}"`).waitFor();
    t.match(await code.innerText(), 'origin: "https://your-site.example"');
    await page.getByLabel('Source image URL').fill('photo.jpg');
    await page.getByText('Start with http:// or https://').waitFor();
    await page.getByLabel('Source image URL').fill('http');
    await page.getByText('Start with http:// or https://').waitFor({ state: 'detached' });
    await page.getByLabel('Source image URL').fill(`${origin.url}/missing.jpg`);
    await page.getByRole('alert').getByText('127.0.0.1 returned 404').waitFor();
    const expected = problems.filter((problem) =>
      /the server responded with a status of 404/.test(problem),
    );
    t.same(problems, expected, 'the page shows errors');
  });

  t.test('shows the first parameters and the steps in a small window', async (t) => {
    const { page, problems } = await opened({ viewport: { width: 1280, height: 800 } });
    // Which request fetches the source depends on the order.
    await page.route(/w=300/, async (route) => {
      const response = await route.fetch();
      const timing = { 'server-timing': 'fetch;dur=30, queue;dur=10, transform;dur=60' };
      await route.fulfill({ response, headers: { ...response.headers(), ...timing } });
    });
    await page.goto(withPicture);
    await page.getByText('transform 60 ms').waitFor();
    const height = await control(page, 'h').boundingBox();
    t.ok(height && height.y + height.height <= 800, 'the size is visible');
    const help = page.locator('[data-name=w] .help');
    t.notOk(await help.isVisible());
    await page.getByRole('button', { name: 'Explain every parameter' }).click();
    t.ok(await help.isVisible());
    const colours: [string, string][] = await page.evaluate(
      "[...document.querySelectorAll('.steps li')].map((step) => [step.className, getComputedStyle(step).getPropertyValue('--step')])",
    );
    t.same(
      colours.map(([name]) => name),
      ['fetch', 'queue', 'transform'],
    );
    t.equal(new Set(colours.map(([, colour]) => colour)).size, 3, 'a colour for each step');
    t.same(problems, []);
  });

  t.test('fits a phone, in dark mode', async (t) => {
    const { page, problems } = await opened(phone);
    await page.goto(withPicture);
    await page.getByRole('slider', { name: /^Divider/ }).waitFor();
    t.notOk(await overflows(page));
    const cut = (selector: string) =>
      page
        .locator(selector)
        .evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight);
    t.equal(await cut('.stage .code'), 0, 'the whole URL is visible');
    await page.getByText('Formats', { exact: true }).click();
    await page
      .getByText(/^[\d,]+ ms$/)
      .nth(3)
      .waitFor();
    t.equal(await cut('.box'), 0, 'all formats are visible');
    await page.getByText('Compare', { exact: true }).click();
    await page.evaluate('scrollTo(0, 900)');
    const picture = await page.locator('.compare').boundingBox();
    t.ok(
      picture !== null && picture.y >= 0 && picture.y < 100,
      'the picture stays above the controls',
    );
    const url = await page.getByRole('region', { name: 'URL', exact: true }).boundingBox();
    t.ok(url !== null && url.y + url.height < 844 * 0.6, 'with its URL, and room for the controls');
    t.same(await findViolations(page), [], 'in dark mode');
    await page.getByRole('link', { name: 'Projects', exact: true }).click();
    await signIn(page);
    for (const link of ['Shop', 'Service']) {
      await page.getByRole('link', { name: link, exact: true }).click();
      await page.getByRole('heading', { level: 1, name: link }).waitFor();
      t.notOk(await overflows(page), link);
      t.same(await findViolations(page), [], link);
    }
    const ground = await page.evaluate(
      'getComputedStyle(document.documentElement).backgroundColor',
    );
    t.equal(ground, 'rgb(18, 22, 28)');
    t.same(problems, []);
  });

  t.test('shows the API reference', async (t) => {
    const { page, problems } = await opened();
    await page.goto(`${url}/docs`);
    const blocks = page.locator('.opblock');
    // The two image endpoints, health, liveness and readiness.
    const count = Object.keys(operations).length + 5;
    await blocks.nth(count - 1).waitFor();
    t.equal(await blocks.count(), count);
    const health = blocks.filter({ hasText: '/api/health' });
    await health.locator('button').first().click();
    await health.getByRole('button', { name: 'Try it out' }).click();
    await health.getByRole('button', { name: 'Execute' }).click();
    await health.locator('.live-responses-table .response', { hasText: '200' }).waitFor();
    t.same(problems, []);
  });

  t.test('shows navigation errors as pages', async (t) => {
    const { page, problems } = await opened();
    for (const path of ['/nothing', `/img/http://other.example/a/b.jpg?project=${project}`]) {
      await page.goto(url + path);
      await page.getByRole('link', { name: /playground/i }).waitFor();
      const family = await page.evaluate('getComputedStyle(document.body).fontFamily');
      t.match(family, /^system-ui/, `the style sheet is found from ${path}`);
      t.same(await findViolations(page), []);
    }
    await page.getByRole('link', { name: 'Open the image in the playground' }).click();
    await page.getByText('other.example is not on the project').waitFor();
    t.equal(await page.getByLabel('Source image URL').inputValue(), 'http://other.example/a/b.jpg');
    t.equal(await page.getByLabel('Project', { exact: true }).inputValue(), project);
    await page.goto(`${url}/img/?url=/none.jpg&project=${project}&w=90&exp=1&sig=%22%3Cb`);
    await page.getByRole('link', { name: 'Open the image in the playground' }).click();
    await page.getByRole('alert').waitFor();
    t.equal(await page.getByLabel('Source image URL').inputValue(), '/none.jpg');
    t.equal(await control(page, 'w').inputValue(), '90');
    t.ok(problems.every((problem) => /status of 40[34]/.test(problem)));
  });

  t.test('lists many projects of a key', async (t) => {
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
    const searches: string[] = [];
    page.on('request', (request) => {
      const { pathname, search } = new URL(request.url());
      if (pathname.endsWith('/projects')) searches.push(search);
    });
    await page.goto(`${url}/#/projects/${last}`);
    await signIn(page, secret);
    await page.getByText(last, { exact: true }).first().waitFor();
    await page.getByRole('link', { name: 'All projects' }).click();
    const cards = page.locator('.projects .card');
    await until('the first page and the opened project', async () => (await cards.count()) === 101);
    t.same(await findViolations(page), []);
    await page.getByRole('button', { name: 'Show more projects' }).click();
    await until('all of them', async () => (await cards.count()) === 120);
    await hasFocus(cards.nth(101).getByRole('link'));
    t.equal(await page.getByRole('button', { name: 'Show more projects' }).count(), 0);
    t.same(searches, ['?limit=100', `?limit=100&cursor=${ids[99]}`]);

    await page.reload();
    await page.goto(`${url}/#/?project=${last}`);
    await page.getByRole('heading', { name: 'Playground' }).waitFor();
    t.equal(await page.getByLabel('Project', { exact: true }).inputValue(), last, 'an id is typed');
    t.same(problems, []);
  });
});
