import type { Locator } from 'playwright-core';
import t from 'tap';
import { until } from '../until.ts';
import { noChromium } from './chromium.ts';
import {
  control,
  createOpener,
  findFaults,
  findViolations,
  hasFocus,
  loaded,
  reported,
  show,
  signIn,
  startConsole,
  unexplained,
} from './console-page.ts';

/** Returns the distances in px between lists and their rows' text. */
const measureGaps = (lists: Locator): Promise<number[]> =>
  lists.evaluateAll((all) =>
    all.flatMap((list) =>
      [...list.children].map(
        (row) => row.getBoundingClientRect().left - list.getBoundingClientRect().left,
      ),
    ),
  );

t.test('shows every console page in a browser', { skip: noChromium }, async (t) => {
  const { api, url, origin, source, opened } = await startConsole(t);
  t.test('fits every page at all widths, light and dark, with a long name', async (t) => {
    const long = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft';
    const created = await api.call('POST', '/projects', {
      json: {
        name: long.slice(0, 80),
        origin: `https://${'a'.repeat(60)}.example/`,
        allowedOrigins: [],
      },
    });
    const { id } = created.body.project;
    const name = 'a'.repeat(40);
    const parameters = {
      w: 400,
      layer: Array.from({ length: 3 }, () => 'b'.repeat(40)).join('1,'),
    };
    await api.call('PUT', `/projects/${id}/presets/${name}`, {
      json: { parameters: { w: parameters.w } },
    });
    await api.call('PUT', `/projects/${id}/layers/${name}`, {
      json: { text: { words: 'x'.repeat(200) } },
    });
    const { page, problems } = await opened();
    await page.goto(url);
    await page.getByRole('heading', { name: 'Next: a project' }).waitFor();
    t.same(await findFaults(page), [], 'the first page');
    await page.goto(`${url}/#/projects`);
    await page.getByLabel('API key').waitFor();
    t.same(await unexplained(page), [], 'signing in');
    t.same(await findFaults(page), [], 'signing in');
    await signIn(page);
    const add = page.getByRole('button', { name: 'New project' });
    await add.click();
    t.same(await unexplained(page), [], 'a new project');
    t.same(await findFaults(page), [], 'a new project');
    await page.getByRole('button', { name: 'Cancel' }).click();
    const measureTop = async (locator: Locator) => (await locator.boundingBox())?.y ?? 0;
    const link = page.getByRole('link', { name: long.slice(0, 80) });
    t.ok((await measureTop(add)) < (await measureTop(link)), 'the button is above the list');
    // In a narrow window, the list of a project's pages opens on request.
    await show(page, { width: 1440, colorScheme: 'light' });
    await link.click();
    const list = page.getByRole('navigation', { name: 'Project' }).getByRole('listitem');
    await list.first().waitFor();
    const names = await list.allInnerTexts();
    const open = createOpener(page);
    for (const name of names) {
      // The project's own page is open, with the project's name as its heading.
      if (name !== 'Overview') await open(name);
      await loaded(page);
      t.ok(
        (await measureGaps(page.locator('.rows'))).every((gap) => gap >= 16),
        `${name}: rows are inset`,
      );
      for (const graph of await page.locator('.graph').all()) {
        t.match(await graph.locator('.axis-y').innerText(), /[1-9].*\n0/, `${name}: a scale`);
        t.match(await graph.locator('.axis-x').innerText(), /\S\n(?:today|now)$/);
        t.match(await graph.innerText(), /\bper (?:day|second)\b|B\b/);
      }
      const adds = page.getByRole('button', { name: /^New / });
      if ((await adds.count()) > 0) await adds.click();
      t.same(await unexplained(page), [], name);
      t.same(await findFaults(page), [], name);
      if (
        (await adds.count()) === 0 &&
        (await page.getByRole('button', { name: 'Cancel' }).count()) > 0
      ) {
        await page.getByRole('button', { name: 'Cancel' }).click();
      }
    }
    await page.getByRole('link', { name: 'Service', exact: true }).click();
    await page.getByRole('heading', { name: 'Disk cache' }).waitFor();
    t.same(await findFaults(page), [], 'the service');
    const shop = await api.project();
    await page.goto(`${url}/#/?${new URLSearchParams({ project: shop, url: source, w: '300' })}`);
    for (const view of ['Crop', 'Focus', 'Formats', 'Compare']) {
      await page.getByRole('group', { name: 'View' }).getByText(view, { exact: true }).click();
      await page.locator('.box img').last().waitFor();
      t.same(await findFaults(page), [], view);
    }
    t.same(problems, []);
  });

  t.test("shows a project's failures and most requested images", async (t) => {
    const id = await api.project();
    for (const path of [source, `${origin.url}/missing.jpg`, 'https://forbidden.example/a.jpg']) {
      await fetch(`${url}/img/${encodeURIComponent(path)}?project=${id}&w=90`);
    }
    const { page, problems } = await opened();
    await page.goto(`${url}/#/projects/${id}/activity`);
    await signIn(page);
    await until('the activity of the last minute', async () => {
      await page.getByRole('button', { name: 'Load again' }).click();
      return (await page.getByText('Most requested sources').count()) > 0;
    });
    const failures = page.getByRole('region', { name: 'Failures' });
    const rows = failures.getByRole('listitem');
    const missing = rows.filter({ hasText: 'missing.jpg' });
    t.match(
      await missing.innerText(),
      /returned 404\. Check that .+ \(404 source_not_found\)[\s\S]+ UTC, request id [\w-]+/,
    );
    const forbidden = rows.filter({ hasText: 'forbidden.example' });
    t.equal(await forbidden.getByRole('link', { name: 'Allow forbidden.example' }).count(), 1);
    await missing.getByRole('link', { name: 'Open in the playground' }).click();
    await page.getByRole('alert').getByText('returned 404').waitFor();
    t.equal(await control(page, 'w').inputValue(), '90');
    t.ok((await reported(problems, 1)).every((problem) => /status of 404/.test(problem)));
    await page.getByLabel('Source image URL').fill(source);
    await page.getByAltText('The result').waitFor();
    await page.goto(`${url}/#/projects/${id}/activity`);
    await page.getByText('Most requested variants').waitFor();
    const variants = page.getByRole('list').last();
    t.match(await variants.innerText(), /^w=90\s+1 request$/, 'without those of the playground');
    t.match(await missing.innerText(), '1 request,');
    await page.getByText('Last day').click();
    await page.getByText('Most requested variants').waitFor();
    t.same(await findFaults(page), []);
    t.same(problems, []);
  });

  t.test("shows a new project's first image, then its usage", async (t) => {
    const created = await api.call('POST', '/projects', {
      json: { name: 'New', origin: `${origin.url}/`, allowedOrigins: [] },
    });
    const { id } = created.body.project;
    const { page, problems } = await opened();
    await page.goto(`${url}/#/projects/${id}`);
    await signIn(page);
    await page.getByRole('heading', { name: 'Deliver the first image' }).waitFor();
    t.equal(await page.locator('.graph').count(), 0, 'no zeros');
    t.same(await unexplained(page), []);
    for (const [step, title] of [
      ['Allow another host', 'Allowed hosts'],
      ['Prewarm images', 'Prewarm'],
      ['Sign URLs', 'Signing'],
      ['Put a CDN in front', 'Delivery hosts'],
    ] as const) {
      await page.getByRole('link', { name: step }).click();
      await hasFocus(page.getByRole('heading', { level: 1, name: title }));
      await page.goBack();
    }
    await page.getByLabel('Source image URL').fill('/missing.jpg');
    await page.getByRole('alert').getByText('127.0.0.1 returned 404').waitFor();
    await reported(problems, 2);
    await page.getByLabel('Source image URL').fill('/landscape.jpg');
    await page.getByAltText('The first result').waitFor();
    const image = await page.getByRole('region', { name: 'URL', exact: true }).innerText();
    t.match(image, `${encodeURIComponent(source)}?project=${id}&w=800`);
    await page.getByText('Next.js', { exact: true }).click();
    t.match(
      await page.getByRole('region', { name: 'code for Next.js' }).innerText(),
      /createLoader/,
    );
    t.same(await findFaults(page), []);
    await page.getByRole('link', { name: 'in the playground', exact: false }).last().click();
    await page.getByAltText('The result').waitFor();
    t.equal(await page.getByLabel('Source image URL').inputValue(), source);
    await page.goto(`${url}/#/projects/${id}/layers`);
    await page.getByRole('button', { name: 'New layer' }).click();
    t.equal(await page.getByLabel('Image for the preview').inputValue(), source, 'it is kept');
    await page.goto(`${url}/#/projects/${id}`);
    await page.getByRole('heading', { name: 'Requests' }).waitFor();
    await page.getByText("The console's own requests do not count").waitFor();
    for (const graph of await page.locator('.graph').all()) {
      t.match(await graph.locator('.axis-y').innerText(), /[1-9].*\n0/, 'a scale');
    }
    t.same(await findFaults(page), []);
    await page.getByRole('button', { name: 'Sign out' }).click();
    t.equal(await page.evaluate('sessionStorage.length'), 0, 'no image is kept after signing out');
    t.same(problems, []);
  });

  t.test('opens the playground with the last project, its image and its new layer', async (t) => {
    const [id, other] = [await api.project(), await api.project()];
    const { page, problems } = await opened();
    const open = createOpener(page);
    const header = page.getByRole('navigation', { name: 'Pages' });
    const field = control(page, 'Project');
    const address = page.getByLabel('Source image URL');
    const tryIt = page.getByRole('status').getByRole('link', { name: 'Try it in the playground' });
    await page.goto(`${url}/#/projects/${id}/layers`);
    await signIn(page);
    await page.getByRole('button', { name: 'New layer' }).click();
    await page.getByLabel('Layer name').fill('price');
    await page.getByLabel('Words', { exact: true }).fill('19,90 €');
    await page.getByLabel('Image for the preview').fill(source);
    await page.getByRole('button', { name: 'Create layer' }).click();
    await tryIt.click();
    await page.getByAltText('The result').waitFor();
    t.equal(await field.inputValue(), id);
    t.equal(await address.inputValue(), source, 'the image of the preview');
    t.ok(await control(page, 'price').isChecked());
    await page.goto(`${url}/#/projects/${id}/presets`);
    await page.getByRole('button', { name: 'New preset' }).click();
    await page.getByLabel('Preset name').fill('card');
    await control(page, 'w').fill('90');
    await page.getByRole('button', { name: 'Create preset' }).click();
    await tryIt.click();
    await page.getByAltText('The result').waitFor();
    t.equal(await control(page, 'preset').inputValue(), 'card');
    t.equal(await address.inputValue(), source);
    t.equal(await control(page, 'w').inputValue(), '', 'the preset sets it');
    t.notOk(await control(page, 'price').isChecked(), 'no earlier option overrides the preset');

    await address.fill(`${origin.url}/missing.jpg`);
    await page.getByRole('alert').waitFor();
    await page.goto(`${url}/#/projects/${id}/hosts`);
    await header.getByRole('link', { name: 'Playground' }).click();
    await page.getByRole('alert').waitFor();
    t.equal(await address.inputValue(), `${origin.url}/missing.jpg`, 'even if it failed');
    await header.getByRole('link', { name: 'Playground' }).click();
    await page.waitForURL(/missing\.jpg/);
    await address.fill(source);
    await page.getByAltText('The result').waitFor();

    await page.goto(`${url}/#/projects/${other}/settings`);
    await header.getByRole('link', { name: 'Playground' }).click();
    await page.getByRole('heading', { name: 'Next: an image' }).waitFor();
    t.equal(await field.inputValue(), other);
    await field.selectOption(id);
    await page.getByAltText('The result').waitFor();
    t.equal(await address.inputValue(), source, 'each project has its own image');
    await page.goto(`${url}/#/projects/${id}`);
    await open('Settings');
    await page.getByLabel('The name of the project').fill('Shop');
    await page.keyboard.press('Enter');
    await hasFocus(page.getByRole('heading', { level: 1, name: 'Projects' }));
    await header.getByRole('link', { name: 'Playground' }).click();
    await page.getByRole('heading', { name: 'Playground' }).waitFor();
    t.not(await field.inputValue(), id, 'it forgets a deleted project');
    t.ok(
      problems.every((problem) => /status of 404/.test(problem)),
      problems.join(),
    );
  });

  t.test('shows a heading and a way back on a missing page', async (t) => {
    const id = await api.project();
    const { page, problems } = await opened();
    await page.goto(`${url}/#/projects`);
    await signIn(page);
    await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor();
    for (const [path, back] of [
      ['nowhere', 'Playground'],
      ['sign-in/more', 'Playground'],
      ['projects/prj_0000000000000000', 'Projects'],
      [`projects/${id}/nowhere`, 'Shop'],
      [`projects/${id}/constructor`, 'Shop'],
      [`projects/${id}/presets/more`, 'Playground'],
    ] as const) {
      await page.goto(`${url}/#/${path}`);
      await hasFocus(page.getByRole('heading', { level: 1, name: 'Page not found' }));
      t.same(await findViolations(page), []);
      await page.getByRole('link', { name: /^Go to / }).click();
      await page.getByRole('heading', { level: 1, name: back }).waitFor();
    }
    t.same(problems, []);
  });

  t.test(
    'warns about a missing worker on the service page, and on all pages after signing in',
    async (t) => {
      const id = await api.project();
      const { page } = await opened();
      await page.goto(`${url}/#/service`);
      await page.getByText(/^No worker is running: prewarming and webhooks wait\./).waitFor();
      await page.getByRole('banner').getByText('ok', { exact: true }).waitFor();
      await page.goto(`${url}/#/sign-in`);
      await signIn(page);
      await page.waitForURL(`${url}/#/projects`);
      await page.getByRole('banner').getByText('no worker', { exact: true }).waitFor();
      await page.goto(`${url}/#/projects/${id}/prewarm`);
      await page.getByText(/^No worker is running: /).waitFor();
      t.same(await findViolations(page), []);
      const { db } = api.store;
      await db.collection('deployments').updateOne({}, { $currentDate: { workerSeenAt: true } });
      await page.getByRole('banner').getByText('ok', { exact: true }).waitFor();
      t.equal(await page.getByText(/^No worker is running: /).count(), 0);
    },
  );

  t.test('shows the same service state everywhere on a page', async (t) => {
    const { page } = await opened();
    await page.goto(`${url}/#/service`);
    await page.getByRole('heading', { name: 'Disk cache' }).waitFor();
    await page.getByRole('banner').getByText('ok', { exact: true }).waitFor();
    await page.route('**/api/health', (route) => route.abort());
    await page.getByRole('alert').getByText('The service does not respond').waitFor();
    t.equal(await page.getByText('ok', { exact: true }).count(), 0);
    t.equal(await page.getByText('no answer', { exact: true }).count(), 2);
    t.same(await findViolations(page), []);
    await page.unroute('**/api/health');
    await page.getByRole('banner').getByText('ok', { exact: true }).waitFor();
  });
});
