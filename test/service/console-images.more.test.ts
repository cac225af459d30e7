import t from 'tap';
import { sourceTag } from '../../pool/inputs.ts';
import { purgeGroup } from '../../store/generations.ts';
import { until } from '../until.ts';
import { hookSecret } from '../worker/receiver.ts';
import { noChromium } from './chromium.ts';
import {
  control,
  createOpener,
  findViolations,
  hasFocus,
  phone,
  reported,
  signIn,
  startConsole,
} from './console-page.ts';
import { startWorker } from './worker/worker.ts';

t.test(
  "manages a project's images in the console, in a browser",
  { skip: noChromium },
  async (t) => {
    const { api, url, origin, source, opened } = await startConsole(t, {
      environment: { SERVICE_HOOK_SECRET: hookSecret },
    });
    const worker = await startWorker(t, api.service);

    t.test('manages layers, private sources and freshness', async (t) => {
      const id = await api.project();
      const { page, problems } = await opened();
      await page.goto(`${url}/#/projects/${id}/layers`);
      await signIn(page);
      await page.getByRole('button', { name: 'New layer' }).click();
      const form = page.getByRole('form', { name: 'New layer' });
      const seen = { size: '8%', weight: 700, background: '000a', padding: '2%' };
      for (const [label, value] of [
        ['Color', 'fff'],
        ['Size', seen.size],
        ['Background', seen.background],
      ] as const) {
        t.equal(
          await control(form, label).inputValue(),
          value,
          'a new text is visible on any image',
        );
      }
      t.equal(await form.getByLabel('Color, in a colour picker').inputValue(), '#ffffff');
      await form.getByLabel('Layer name').fill('price');
      await form.getByLabel('Find a field').fill('opacity');
      await page.keyboard.press('Enter');
      t.ok(await control(form, 'Opacity').isVisible(), 'a search opens its group');
      await form.getByLabel('Find a field').fill('');
      await form.getByLabel('Words', { exact: true }).fill('19,90 €');
      await form.getByLabel('Image for the preview').fill(source);
      const drawn = page.getByAltText('With the layer');
      await drawn.waitFor();
      const shown = await drawn.getAttribute('src');
      for (const viewport of [phone.viewport, { width: 1280, height: 900 }]) {
        await page.setViewportSize(viewport);
        await until('the page scrolls', async () => {
          await page.evaluate('scrollTo(0, 500)');
          return Number(await page.evaluate('scrollY')) > 400;
        });
        const box = await drawn.boundingBox();
        const isInView = box !== null && box.y >= 0 && box.y + box.height <= viewport.height * 0.6;
        t.ok(isInView, `the preview stays in view at ${viewport.width} px`);
      }
      t.notOk(await control(form, 'Background').isVisible(), 'rarely used groups are closed');
      await control(form, 'Color').fill('c00');
      await control(form, 'Size').fill('80');
      await until(
        'the picture with the change',
        async () => (await drawn.getAttribute('src')) !== shown,
      );
      await control(form, 'Color').fill('no colour');
      await form.getByText('Preview failed: text.color must be').waitFor();
      await form.getByRole('button', { name: 'Create layer' }).click();
      await hasFocus(control(form, 'Color'));
      t.ok(problems.splice(0).every((problem) => /status of 400/.test(problem)));
      await control(form, 'Color').fill('c00');
      const fonts = control(form, 'Font').locator('option');
      await fonts.nth(1).waitFor({ state: 'attached' });
      t.same(await fonts.allInnerTexts(), ['default', 'Open Sans']);
      await control(form, 'Words').fill('你好');
      const warning = page.getByText('words has characters that no font contains');
      await warning.waitFor();
      const [above, below] = [await drawn.boundingBox(), await warning.boundingBox()];
      t.ok(above && below && below.y >= above.y + above.height, 'beside the picture');
      t.same(await findViolations(page), []);
      await form.getByLabel('Layer name').fill('greeting');
      await form.getByRole('button', { name: 'Create layer' }).click();
      await page.getByText('greeting saved').waitFor();
      await warning.waitFor();
      await api.call('DELETE', `/projects/${id}/layers/greeting`);
      await page.reload();
      await page.getByRole('button', { name: 'New layer' }).click();
      await form.getByLabel('Layer name').fill('price');
      await control(form, 'Words').fill('19,90 €');
      await control(form, 'Color').fill('c00');
      await control(form, 'Size').fill('80');
      await control(form, 'Font').selectOption('Open Sans');
      await form.getByRole('button', { name: 'Create layer' }).click();
      await page.getByText('price saved').waitFor();
      await hasFocus(page.locator('#layers-price'));
      const stored = async () => (await api.call('GET', `/projects/${id}/layers`)).body.layers;
      await until('the draft is deleted', async () => (await stored()).length === 1);
      t.same(await stored(), [
        {
          name: 'price',
          text: { words: '19,90 €', ...seen, size: 80, color: 'c00', font: 'Open Sans' },
        },
      ]);

      const tab = await page.context().newPage();
      await tab.goto(`${url}/#/projects/${id}/layers`);
      await signIn(tab);
      await tab.getByRole('button', { name: 'New layer' }).click();
      await tab
        .getByRole('form', { name: 'New layer' })
        .getByLabel('Words', { exact: true })
        .fill('a');
      await tab.getByLabel('Image for the preview').fill(source);
      await tab.getByAltText('With the layer').waitFor();
      t.equal((await stored()).length, 2);
      await tab.close();
      await until(
        'the draft of a closed tab is deleted',
        async () => (await stored()).length === 1,
      );

      await page.getByRole('button', { name: 'New layer' }).click();
      await form.getByLabel('Layer name').fill('badge');
      await form.getByLabel('What is drawn').selectOption('image');
      await form.getByLabel('URL', { exact: true }).fill(source);
      await control(form, 'Offset x').fill('10%');
      await form.getByText('Effects', { exact: true }).click();
      await control(form, 'Blend').selectOption('soft-light');
      await form.getByRole('button', { name: 'Create layer' }).click();
      await page.getByText('badge saved').waitFor();
      t.same((await stored())[0], {
        name: 'badge',
        image: { url: source, offsetX: '10%', blend: 'soft-light' },
      });

      const open = createOpener(page);
      await open('Private sources');
      await page.getByRole('button', { name: 'New private source' }).click();
      await page.getByLabel('Host', { exact: true }).fill('photos.example.com');
      await page.getByLabel('Headers').fill('Authorization: Bearer a:b\nX-Shop: 1');
      t.same(await findViolations(page), []);
      await page.getByRole('button', { name: 'Create private source' }).click();
      await page.getByText('headers: authorization, x-shop').waitFor();
      await page.getByRole('button', { name: 'Edit photos.example.com' }).click();
      await page.getByLabel('How its images are fetched').selectOption('s3');
      await page.getByLabel('Location').fill('s3://bucket/prefix?region=eu-central-1');
      await page.getByLabel('Access key id').fill('an-id');
      await page.getByLabel('Secret access key').fill('a-secret');
      await page.getByRole('button', { name: 'Change photos.example.com' }).click();
      await page.getByText('s3://bucket/prefix').waitFor();
      t.notMatch(await page.content(), /a-secret|Bearer a:b/, 'secrets are not shown');
      await page.getByRole('button', { name: 'Delete photos.example.com …' }).click();
      await page.getByRole('button', { name: 'Delete photos.example.com', exact: true }).click();
      await page.getByText('No private sources yet').waitFor();

      await open('Freshness');
      await page.getByLabel('Source age').fill('origin');
      await page.getByLabel('Browser age').fill('60');
      await page.getByRole('button', { name: 'Save 2 changes' }).click();
      await page.getByText('Saved. Images follow it').waitFor();
      const freshness = async () =>
        (await api.call('GET', `/projects/${id}/freshness`)).body.freshness;
      t.match(await freshness(), { sourceAge: 'origin', browserAge: 60 });
      await page.getByLabel('Source age').fill('soon');
      await page.getByRole('button', { name: 'Save 1 change' }).click();
      await hasFocus(page.getByLabel('Source age'));
      await page
        .getByText('It must be a whole number from 1 to 31536000, "origin" or empty')
        .waitFor();
      await page.getByText('until the service revalidates a source; empty for never').waitFor();
      t.match(await reported(problems, 1), [/status of 400/]);
      await page.getByLabel('Source age').fill('');
      await page.getByRole('button', { name: 'Save 1 change' }).click();
      await until('no age', async () => (await freshness()).sourceAge === null);
      t.same(problems, []);
    });

    t.test('prewarms, purges and limits', async (t) => {
      const id = await api.project();
      const { page, problems } = await opened();
      const open = createOpener(page);
      await page.goto(`${url}/#/projects/${id}`);
      await signIn(page);
      await open('Prewarm');
      const prewarm = page.locator('main');
      await prewarm.getByLabel('Sources').fill(source);
      await prewarm.getByLabel('Widths').fill('50\n60');
      await prewarm.getByLabel('auto').uncheck();
      await prewarm.getByLabel('webp').check();
      await prewarm.getByText('1 source × 2 images = 2 images').waitFor();
      await prewarm.getByRole('button', { name: 'Prewarm' }).click();
      await prewarm.getByText('1 source, 2 images accepted').waitFor();
      await prewarm.getByText('All done.').waitFor();
      t.equal(worker.logged('source prewarmed').length, 1);
      const warm = `${url}/img/${encodeURIComponent(source)}?project=${id}&w=60&fmt=webp`;
      t.equal((await fetch(warm)).headers.get('x-cache'), 'memory');
      t.same(await findViolations(page), []);

      await control(prewarm, 'Images').selectOption('variants');
      const variant = (n: number) =>
        prewarm.getByRole('group', { name: `Variant ${n}`, exact: true });
      await control(variant(1), 'w').fill('70');
      await control(variant(1), 'fmt').selectOption('webp');
      await prewarm.getByRole('button', { name: 'Add a variant' }).click();
      await hasFocus(control(variant(2), 'w'));
      await page.keyboard.type('80');
      await prewarm.getByText('1 source × 4 images = 4 images').waitFor();
      t.same(await findViolations(page), []);
      await prewarm.getByRole('button', { name: 'Prewarm' }).click();
      await prewarm.getByText('1 source, 4 images accepted').waitFor();
      await prewarm.getByText('All done.').waitFor();
      for (const [query, accept] of [
        ['w=70&fmt=webp', '*/*'],
        ['w=80', 'image/avif,image/webp,*/*'],
        ['w=80', 'image/webp,*/*'],
        ['w=80', '*/*'],
      ] as const) {
        const path = `/img/${encodeURIComponent(source)}?project=${id}&${query}`;
        const response = await fetch(url + path, { headers: { accept } });
        t.equal(response.headers.get('x-cache'), 'memory', `${query} for ${accept}`);
      }
      await prewarm.getByRole('button', { name: 'Remove Variant 2' }).click();
      await hasFocus(control(variant(1), 'w'));

      await open('Purge');
      const purge = page.locator('main');
      let purgeCalls = 0;
      page.on('request', (request) => {
        if (request.url().endsWith('/purge')) purgeCalls += 1;
      });
      const storedPurges = async () => (await api.store.projects.find(id))?.generations;
      const purgeSources = purge.getByRole('button', { name: 'Purge sources' });
      await purge.getByLabel('Sources').fill(`${source}\nhttps://other.example/a.jpg`);
      await purgeSources.click();
      await purge.getByRole('alert').getByText('sources[1]').waitFor();
      t.match(await reported(problems, 1), [/status of 400/]);
      t.equal(await storedPurges(), undefined);
      // A path on the project's origin.
      await purge.getByLabel('Sources').fill(`${source}\n\n/a,b.jpg\n`);
      await purgeSources.click();
      await purge.getByText('The images of 2 sources are purged').waitFor();
      t.equal(await purge.getByLabel('Sources').inputValue(), '');
      const groups = [source, 'http://127.0.0.1/a,b.jpg'].map((sourceUrl) =>
        purgeGroup(sourceTag(new URL(sourceUrl))).slice(0, 3),
      );
      t.same(Object.keys((await storedPurges())?.groups ?? {}).sort(), groups.sort());
      await purge.getByText('The purge is in effect').waitFor();
      await until('it is rendered again', async () => {
        const response = await fetch(warm);
        return response.headers.get('x-cache') === 'miss';
      });
      const askAll = purge.getByRole('button', { name: 'Purge all images …' });
      await askAll.click();
      t.same(await findViolations(page), []);
      await purge.getByRole('button', { name: 'Cancel' }).click();
      t.notOk((await storedPurges())?.all);
      await askAll.click();
      await purge.getByRole('button', { name: 'Purge all images', exact: true }).click();
      await purge.getByText('All images are purged').waitFor();
      await hasFocus(askAll);
      t.not((await storedPurges())?.all, 0);
      t.equal(purgeCalls, 3, 'none without a confirmation');

      await open('Limits');
      const usage = page.locator('main');
      await usage.getByLabel('Renders per day').fill('500');
      await usage.getByRole('button', { name: 'Save 1 change' }).click();
      await usage.getByText('Saved. Above a daily limit').waitFor();
      const { limits } = (await api.store.projects.find(id)) ?? {};
      t.match(limits, { rendersPerDay: 500, bytesPerDay: null });
      t.same(problems, []);
      await page.route('**/limits', (route) => route.fulfill({ status: 503, body: '{}' }));
      await page.reload();
      await usage.getByRole('alert').waitFor();
      t.equal(await usage.getByRole('button', { name: 'Save' }).count(), 0, 'not loaded');
      t.equal(await usage.getByLabel('Renders per day').count(), 0);
      t.match(await reported(problems, 1), [/status of 503/]);
      await page.unroute('**/limits');
      t.same(problems, []);
    });

    t.test('manages webhooks', async (t) => {
      const id = await api.project();
      const { page, problems } = await opened();
      await page.goto(`${url}/#/projects/${id}/webhooks`);
      await signIn(page);
      await page.getByText('No callbacks in the last day').waitFor();
      const json = { sources: [source], callbackUrl: `${origin.url}/hook?secret=x` };
      t.equal((await api.call('POST', `/projects/${id}/prewarm`, { json })).status, 202);
      await until('the failed attempt', async () => {
        await page.getByRole('button', { name: 'Load again' }).click();
        return (await page.getByText('1 failed attempt: ').count()) === 1;
      });
      t.match(await page.getByRole('listitem').last().innerText(), `${origin.url}/hook`);
      t.notMatch(await page.content(), 'secret=x');
      t.same(await findViolations(page), []);
      t.same(problems, []);
    });
  },
);
