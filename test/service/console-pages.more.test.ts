import type { Locator } from 'playwright-core';
import t from 'tap';
import { noChromium } from './chromium.ts';
import {
  hasFocus,
  overflows,
  phone,
  signIn,
  startConsole,
  unexplained,
  violationsOf,
} from './console-page.ts';

/** The distances between lists and the text of their rows, in px. */
const gapsOf = (lists: Locator): Promise<number[]> =>
  lists.evaluateAll((all) =>
    all.flatMap((list) =>
      [...list.children].map(
        (row) => row.getBoundingClientRect().left - list.getBoundingClientRect().left,
      ),
    ),
  );

t.test('every page of the console in a browser', { skip: noChromium }, async (t) => {
  const { api, url, opened } = await startConsole(t);
  t.test('every page on a narrow phone in dark mode, with a long name', async (t) => {
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
    const { page, problems } = await opened({ ...phone, viewport: { width: 360, height: 740 } });
    await page.goto(`${url}/#/projects`);
    t.same(await unexplained(page), [], 'signing in');
    await signIn(page);
    const add = page.getByRole('button', { name: 'New project' });
    await add.click();
    t.same(await unexplained(page), [], 'a new project');
    await page.getByRole('button', { name: 'Cancel' }).click();
    const topOf = async (one: Locator) => (await one.boundingBox())?.y ?? 0;
    const link = page.getByRole('link', { name: long.slice(0, 80) });
    t.ok((await topOf(add)) < (await topOf(link)), 'the button is above the list');
    await link.click();
    const list = page.getByRole('navigation', { name: 'Project' }).getByRole('listitem');
    await list.first().waitFor();
    const names = await list.allInnerTexts();
    for (const name of names) {
      await page
        .getByRole('navigation', { name: 'Project' })
        .getByRole('link', { name, exact: true })
        .click();
      await page.getByRole('heading', { level: 1 }).waitFor();
      t.ok(
        (await gapsOf(page.locator('.rows'))).every((gap) => gap >= 16),
        `${name}: rows are inset`,
      );
      for (const graph of await page.locator('.graph').all()) {
        t.match(await graph.locator('.axis-y').innerText(), /[1-9].*\n0/, `${name}: a scale`);
        t.match(await graph.locator('.axis-x').innerText(), /\S\n(?:today|now)$/);
        t.match(await graph.innerText(), /\bper (?:day|second)\b|B\b/);
      }
      const adds = page.getByRole('button', { name: /^New / });
      if ((await adds.count()) > 0) await adds.click();
      t.notOk(await overflows(page), name);
      t.same(await unexplained(page), [], name);
      t.same(await violationsOf(page), [], name);
      if (
        (await adds.count()) === 0 &&
        (await page.getByRole('button', { name: 'Cancel' }).count()) > 0
      ) {
        await page.getByRole('button', { name: 'Cancel' }).click();
      }
    }
    t.same(problems, []);
  });

  t.test('a page that does not exist has a heading and a way back', async (t) => {
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
      await hasFocus(page.getByRole('heading', { level: 1, name: 'There is no such page' }));
      t.same(await violationsOf(page), []);
      await page.getByRole('link', { name: /^Go to / }).click();
      await page.getByRole('heading', { level: 1, name: back }).waitFor();
    }
    t.same(problems, []);
  });

  t.test(
    'shows a missing worker on the service page, and on all pages after signing in',
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
      t.same(await violationsOf(page), []);
      const { db } = api.store;
      await db.collection('deployments').updateOne({}, { $currentDate: { workerSeenAt: true } });
      await page.getByRole('banner').getByText('ok', { exact: true }).waitFor();
      t.equal(await page.getByText(/^No worker is running: /).count(), 0);
    },
  );

  t.test('the state of the service is one', async (t) => {
    const { page } = await opened();
    await page.goto(`${url}/#/service`);
    await page.getByRole('heading', { name: 'Disk cache' }).waitFor();
    await page.getByRole('banner').getByText('ok', { exact: true }).waitFor();
    await page.route('**/api/health', (route) => route.abort());
    await page.getByRole('alert').getByText('The service does not answer').waitFor();
    t.equal(await page.getByText('ok', { exact: true }).count(), 0);
    t.equal(await page.getByText('no answer', { exact: true }).count(), 2);
    t.same(await violationsOf(page), []);
    await page.unroute('**/api/health');
    await page.getByRole('banner').getByText('ok', { exact: true }).waitFor();
  });
});
