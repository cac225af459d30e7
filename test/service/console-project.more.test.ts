import type { Locator, Page } from 'playwright-core';
import t from 'tap';
import { sourceTag } from '../../pool/inputs.ts';
import { until } from '../until.ts';
import { hookSecret } from '../worker/receiver.ts';
import { noChromium, startChromium } from './chromium.ts';
import {
  control,
  focused,
  openPage,
  overflows,
  pagesOf,
  phone,
  signIn,
  violationsOf,
} from './console-page.ts';
import { startControl } from './control/control.ts';
import { picture, startTestOrigin } from './origin.ts';
import { startWorker } from './worker/worker.ts';

const hasFocus = (control: Locator) =>
  until('the focus', () =>
    control.evaluate((element) => element === element.ownerDocument.activeElement),
  );

/** Opens a page of a project by the list of them. */
const openOf = (page: Page) => async (name: string) => {
  const list = page.getByRole('navigation', { name: 'Project' });
  await list.getByRole('link', { name, exact: true }).click();
  await hasFocus(page.getByRole('heading', { level: 1, name }));
};

t.test('the pages of a project in a browser', { skip: noChromium }, async (t) => {
  const origin = await startTestOrigin(t);
  origin.serve('/landscape.jpg', await picture(1200, 800));
  const api = await startControl(t, {
    SERVICE_POOL_THREADS: '1',
    SERVICE_HOOK_SECRET: hookSecret,
  });
  const { url } = api.service;
  const worker = await startWorker(t, api.service);
  const browser = await startChromium(t);
  const source = `${origin.url}/landscape.jpg`;
  const opened = pagesOf(t, browser, url);

  t.test('an operator', async (t) => {
    await api.project();
    const { context, page, problems } = await opened();
    await page.goto(`${url}/#/projects`);
    await signIn(page, 'sk_wrong');
    await page.getByRole('alert').getByText('not known or has been revoked').waitFor();
    t.match(problems.splice(0), [/status of 401/]);
    await signIn(page);
    await page.getByRole('link', { name: 'Shop' }).waitFor();

    t.equal(await page.getByRole('form', { name: 'New project' }).count(), 0, 'not yet open');
    await page.getByRole('button', { name: 'New project' }).click();
    const form = page.getByRole('form', { name: 'New project' });
    await hasFocus(form.getByLabel('Name'));
    await page.getByRole('button', { name: 'Cancel' }).click();
    await hasFocus(page.getByRole('button', { name: 'New project' }));
    await page.keyboard.press('Enter');
    await form.getByLabel('Name').fill('<b>Mine</b>');
    await control(form, 'Origin').fill(`${origin.url}/`);
    await form.getByLabel('Allowed origins').fill('a.example\n*.b.example');
    await form.getByRole('button', { name: 'Create' }).click();
    await hasFocus(page.getByRole('heading', { level: 1, name: '<b>Mine</b>' }));
    t.match(await page.title(), /^<b>Mine<\/b> · /);
    const open = openOf(page);
    const id = page.url().split('/').at(-1) ?? '';
    const stored = async () => (await api.call('GET', `/projects/${id}`)).body.project;
    t.same((await stored()).allowedOrigins, ['127.0.0.1', 'a.example', '*.b.example']);

    await page.getByRole('heading', { name: 'Requests' }).waitFor();
    await open('Allowed hosts');
    await page.getByRole('button', { name: 'Remove a.example' }).click();
    await page.getByText('a.example is removed').waitFor();
    await until('the focus', async () => (await focused(page)) === 'title');
    await page.getByLabel('Host to allow').fill('Bücher.example');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Remove xn--bcher-kva.example' }).waitFor();
    await until('the focus on what was added', async () =>
      String(await focused(page)).startsWith('host-xn--bcher-kva'),
    );
    await page.getByLabel('Host to allow').fill('no/host');
    await page.keyboard.press('Enter');
    await hasFocus(page.getByLabel('Host to allow'));
    t.match(problems.splice(0), [/status of 400/]);
    t.same((await stored()).allowedOrigins, ['127.0.0.1', '*.b.example', 'xn--bcher-kva.example']);

    await open('Defaults');
    const defaults = page.locator('main');
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
    t.equal(page.url(), `${url}/#/projects/${id}/defaults`);
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

    await open('Presets');
    t.equal(await page.getByLabel('Preset name').count(), 0, 'forms open when asked for');
    await page.getByRole('button', { name: 'New preset' }).click();
    const presets = page.locator('main');
    const storedPresets = async () =>
      (await api.call('GET', `/projects/${id}/presets`)).body.presets;
    const presetName = presets.getByLabel('Preset name');
    await hasFocus(presetName);
    await presetName.fill('Card');
    t.equal(await page.getByLabel('q, as a slider').inputValue(), '35', 'the new default');
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
    await until('the focus', async () => (await focused(page)) === 'presets-card');
    t.equal(await presetName.count(), 0, 'the form is closed');
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
    await hasFocus(presets.getByRole('button', { name: 'Keep' }));
    await page.keyboard.press('Enter');
    await hasFocus(presets.getByRole('button', { name: 'Delete card …' }));
    await page.keyboard.press('Enter');
    t.same(await violationsOf(page), []);
    await presets.getByRole('button', { name: 'Delete card' }).click();
    await presets.getByText('card is deleted').waitFor();
    await until('the focus', async () => (await focused(page)) === 'title');
    t.same(await storedPresets(), []);

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
    t.equal(worker.logged('a source is warm').length, 1);
    const warm = `${url}/img/${encodeURIComponent(source)}?project=${id}&w=60&fmt=webp`;
    t.equal((await fetch(warm)).headers.get('x-cache'), 'memory');
    t.same(await violationsOf(page), []);

    await control(prewarm, 'Images').selectOption('variants');
    const variant = (n: number) =>
      prewarm.getByRole('group', { name: `Variant ${n}`, exact: true });
    await control(variant(1), 'w').fill('70');
    await control(variant(1), 'fmt').selectOption('webp');
    await prewarm.getByRole('button', { name: 'Add a variant' }).click();
    await hasFocus(control(variant(2), 'w'));
    await page.keyboard.type('80');
    await prewarm.getByText('1 source × 4 images = 4 images').waitFor();
    t.same(await violationsOf(page), []);
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
    t.equal(await focused(page), 'title');
    t.not((await storedPurges())?.all, 0);
    t.equal(purgeCalls, 3, 'none without a confirmation');

    await open('Limits');
    const usage = page.locator('main');
    await usage.getByLabel('Renders per day').fill('500');
    await usage.getByRole('button', { name: 'Save limits' }).click();
    await usage.getByText('The limits are saved').waitFor();
    const { limits } = (await api.store.projects.find(id)) ?? {};
    t.same(limits, { rendersPerDay: 500, bytesPerDay: null });
    t.same(problems, []);
    await page.route('**/limits', (route) => route.fulfill({ status: 503, body: '{}' }));
    await page.reload();
    await usage.getByRole('alert').waitFor();
    t.equal(await usage.getByRole('button', { name: 'Save limits' }).count(), 0, 'not loaded');
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

  t.test('layers, private sources and freshness', async (t) => {
    const id = await api.project();
    const { page, problems } = await opened();
    await page.goto(`${url}/#/projects/${id}/layers`);
    await signIn(page);
    await page.getByRole('button', { name: 'New layer' }).click();
    const form = page.getByRole('form', { name: 'New layer' });
    await form.getByLabel('Layer name').fill('price');
    await form.getByLabel('Words', { exact: true }).fill('19,90 €');
    await form.getByLabel('Picture for the preview').fill(source);
    const drawn = page.getByAltText('With the layer');
    await drawn.waitFor();
    const shown = await drawn.getAttribute('src');
    await control(form, 'Color').fill('c00');
    await control(form, 'Size').fill('80');
    await until(
      'the picture with the change',
      async () => (await drawn.getAttribute('src')) !== shown,
    );
    await form.getByLabel('Font', { exact: true }).fill('No Such Font');
    await form.getByText('Not drawn: text.font must be one of the fonts').waitFor();
    await form.getByRole('button', { name: 'Create layer' }).click();
    await hasFocus(form.getByLabel('Font', { exact: true }));
    t.ok(problems.splice(0).every((problem) => /status of 400/.test(problem)));
    await form.getByLabel('Font', { exact: true }).fill('');
    t.same(await violationsOf(page), []);
    await form.getByRole('button', { name: 'Create layer' }).click();
    await page.getByText('price is saved').waitFor();
    await hasFocus(page.locator('#layers-price'));
    const stored = async () => (await api.call('GET', `/projects/${id}/layers`)).body.layers;
    await until('the draft is deleted', async () => (await stored()).length === 1);
    t.same(await stored(), [{ name: 'price', text: { words: '19,90 €', size: 80, color: 'c00' } }]);
    await page.getByRole('button', { name: 'New layer' }).click();
    await form.getByLabel('Layer name').fill('badge');
    await form.getByLabel('What is drawn').selectOption('image');
    await form.getByLabel('URL', { exact: true }).fill(source);
    await control(form, 'Offset x').fill('10%');
    await form.getByRole('button', { name: 'Create layer' }).click();
    await page.getByText('badge is saved').waitFor();
    t.same((await stored())[0], { name: 'badge', image: { url: source, offsetX: '10%' } });

    const open = openOf(page);
    await open('Private sources');
    await page.getByRole('button', { name: 'New private source' }).click();
    await page.getByLabel('Host', { exact: true }).fill('photos.example.com');
    await page.getByLabel('Headers').fill('Authorization: Bearer a:b\nX-Shop: 1');
    t.same(await violationsOf(page), []);
    await page.getByRole('button', { name: 'Create private source' }).click();
    await page.getByText('headers: authorization, x-shop').waitFor();
    await page.getByRole('button', { name: 'Edit photos.example.com' }).click();
    await page.getByLabel('How its pictures are fetched').selectOption('s3');
    await page.getByLabel('Location').fill('s3://bucket/prefix?region=eu-central-1');
    await page.getByLabel('Access key id').fill('an-id');
    await page.getByLabel('Secret access key').fill('a-secret');
    await page.getByRole('button', { name: 'Change photos.example.com' }).click();
    await page.getByText('s3://bucket/prefix').waitFor();
    t.notMatch(await page.content(), /a-secret|Bearer a:b/, 'secrets are not shown');
    await page.getByRole('button', { name: 'Delete photos.example.com …' }).click();
    await page.getByRole('button', { name: 'Delete photos.example.com', exact: true }).click();
    await page.getByText('There is none yet').waitFor();

    await open('Freshness');
    await page.getByLabel('Source age').fill('origin');
    await page.getByLabel('Browser age').fill('60');
    await page.getByRole('button', { name: 'Save freshness' }).click();
    await page.getByText('Saved. Images follow it').waitFor();
    const freshness = async () =>
      (await api.call('GET', `/projects/${id}/freshness`)).body.freshness;
    t.same(await freshness(), { sourceAge: 'origin', browserAge: 60 });
    await page.getByLabel('Source age').fill('soon');
    await page.getByRole('button', { name: 'Save freshness' }).click();
    await hasFocus(page.getByLabel('Source age'));
    t.match(problems.splice(0), [/status of 400/]);
    await page.getByLabel('Source age').fill('');
    await page.getByRole('button', { name: 'Save freshness' }).click();
    await until('no age', async () => (await freshness()).sourceAge === null);
    t.same(problems, []);
  });

  t.test('keys, signatures and webhooks', async (t) => {
    const id = await api.project();
    const { page, problems } = await opened();
    const open = openOf(page);
    await page.goto(`${url}/#/projects/${id}/keys`);
    await signIn(page);
    await page.getByRole('button', { name: 'New key' }).click();
    await hasFocus(page.getByLabel('Name'));
    await page.getByLabel('Name').fill('shop backend');
    t.same(await violationsOf(page), []);
    await page.keyboard.press('Enter');
    const shown = page.getByRole('region', { name: 'The new key', exact: true });
    await hasFocus(shown);
    const key = await page.getByRole('region', { name: 'secret', exact: true }).innerText();
    t.match(key, /^sk_[\w-]{43}$/);
    t.equal((await api.call('GET', `/projects/${id}`, { key })).status, 200);
    t.equal((await api.call('DELETE', `/projects/${id}/domains?host=a`, { key })).status, 403);
    t.same(await violationsOf(page), []);
    await open('Limits');
    await open('Keys');
    await page.getByText('shop backend', { exact: true }).waitFor();
    t.notMatch(await page.content(), key, 'it is shown once');
    await page.getByRole('button', { name: 'Revoke shop backend …' }).click();
    await page.getByRole('button', { name: 'Revoke shop backend', exact: true }).click();
    await page.getByText('shop backend is revoked').waitFor();
    await until('the end of the key', async () => {
      return (await api.call('GET', `/projects/${id}`, { key })).status === 401;
    });

    await open('Signing');
    const target = `/img/${encodeURIComponent(source)}?project=${id}&w=40`;
    const statusOf = async (path: string) => (await fetch(url + path)).status;
    await page.getByLabel('TTL seconds').fill('600');
    await page.getByRole('button', { name: 'Require signatures' }).click();
    await hasFocus(page.getByRole('region', { name: 'The new secret', exact: true }));
    await until('a signature is needed', async () => (await statusOf(target)) === 403);
    const sign = page.getByRole('form', { name: 'Sign one URL' });
    await control(sign, 'URL').fill(target);
    await sign.getByRole('button', { name: 'Sign' }).click();
    const signed = page.getByRole('region', { name: 'signed URL' });
    t.equal(await statusOf(await signed.innerText()), 200);
    t.same(await violationsOf(page), []);
    await control(sign, 'URL').fill('/api/health');
    await sign.getByRole('button', { name: 'Sign' }).click();
    await hasFocus(control(sign, 'URL'));
    t.match(problems.splice(0), [/status of 400/]);
    const old = await signed.innerText();
    await page.getByRole('button', { name: 'Replace the secret …' }).click();
    await page.getByRole('button', { name: 'Replace the secret', exact: true }).click();
    await page.getByText('one is being replaced').waitFor();
    t.equal(await statusOf(old), 200);
    await page.getByRole('button', { name: 'Revoke the old secret …' }).click();
    await page.getByRole('button', { name: 'Revoke the old secret', exact: true }).click();
    await page.getByText('Only the new secret is valid').waitFor();
    await until('the old secret ends', async () => (await statusOf(old)) === 403);
    await open('Layers');
    await page.getByRole('button', { name: 'New layer' }).click();
    await page.getByText('accepts signed URLs only').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await open('Signing');
    await page.getByRole('button', { name: 'Accept unsigned URLs …' }).click();
    await page.getByRole('button', { name: 'Accept unsigned URLs', exact: true }).click();
    await page.getByRole('button', { name: 'Require signatures' }).waitFor();
    await until('no signature is needed', async () => (await statusOf(target)) === 200);

    await open('Webhooks');
    await page.getByText('There was none in the last day').waitFor();
    const json = { sources: [source], callbackUrl: `${origin.url}/hook?secret=x` };
    t.equal((await api.call('POST', `/projects/${id}/prewarm`, { json })).status, 202);
    await until('the failed attempt', async () => {
      await page.getByRole('button', { name: 'Load again' }).click();
      return (await page.getByText('1 failed attempt: ').count()) === 1;
    });
    t.match(await page.getByRole('listitem').last().innerText(), `${origin.url}/hook`);
    t.notMatch(await page.content(), 'secret=x');
    t.same(await violationsOf(page), []);
    t.same(problems, []);
  });

  t.test('another name, and the end of a project', async (t) => {
    const id = await api.project();
    const { page, problems } = await opened();
    await page.goto(`${url}/#/projects/${id}/settings`);
    await signIn(page);
    await page.getByLabel('Name', { exact: true }).fill('Other shop');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    t.equal((await api.call('GET', `/projects/${id}`)).body.project.name, 'Other shop');
    const remove = page.getByRole('button', { name: 'Delete the project' });
    const typed = page.getByLabel('The name of the project');
    await typed.fill('Other');
    t.ok(await remove.isDisabled(), 'the whole name is needed');
    t.same(await violationsOf(page), []);
    await typed.fill('Other shop');
    await page.keyboard.press('Enter');
    await hasFocus(page.getByRole('heading', { level: 1, name: 'Projects' }));
    t.equal((await api.call('GET', `/projects/${id}`)).status, 404);
    t.equal(await page.getByText(id).count(), 0);
    t.same(problems, []);
  });

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
    await signIn(page);
    await page.getByRole('link', { name: long.slice(0, 80) }).click();
    const list = page.getByRole('navigation', { name: 'Project' }).getByRole('listitem');
    await list.first().waitFor();
    const names = await list.allInnerTexts();
    for (const name of names) {
      await page
        .getByRole('navigation', { name: 'Project' })
        .getByRole('link', { name, exact: true })
        .click();
      await page.getByRole('heading', { level: 1 }).waitFor();
      const adds = page.getByRole('button', { name: /^New / });
      if ((await adds.count()) > 0) await adds.click();
      t.notOk(await overflows(page), name);
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
