import type { Locator } from 'playwright-core';
import t from 'tap';
import { until } from '../until.ts';
import { noChromium } from './chromium.ts';
import {
  control,
  createOpener,
  findViolations,
  focused,
  hasFocus,
  openPage,
  reported,
  signIn,
  startConsole,
} from './console-page.ts';

t.test('manages a project in the console, in a browser', { skip: noChromium }, async (t) => {
  const { api, url, origin, opened } = await startConsole(t);
  t.test('guides an operator from sign-in to a new project', async (t) => {
    const { createdAt } = (await api.call('GET', `/projects/${await api.project()}`)).body.project;
    const { context, page, problems } = await opened({ timezoneId: 'Pacific/Auckland' });
    await page.goto(`${url}/#/projects`);
    await signIn(page, 'sk_wrong');
    await page.getByRole('alert').getByText('unknown or revoked').waitFor();
    t.match(await reported(problems, 1), [/status of 401/]);
    await signIn(page);
    await page.getByRole('link', { name: 'Shop' }).waitFor();
    const [, month, day, year] = /^(\w{3})\w* (\d+), (\d+)$/.exec(createdAt) ?? [];
    await page.getByText(`created ${day} ${month} ${year}`).waitFor();

    t.equal(await page.getByRole('form', { name: 'New project' }).count(), 0, 'not yet open');
    await page.getByRole('button', { name: 'New project' }).click();
    const form = page.getByRole('form', { name: 'New project' });
    await hasFocus(form.getByLabel('Name'));
    await page.getByRole('button', { name: 'Cancel' }).click();
    await hasFocus(page.getByRole('button', { name: 'New project' }));
    await page.keyboard.press('Enter');
    await form.getByLabel('Name').fill('<b>Mine</b>');
    await control(form, 'Origin').fill('www.example.com');
    await form.getByRole('button', { name: 'Create' }).click();
    await form
      .getByText(/^It must be an absolute URL.+did you mean https:.+www.example.com\?/)
      .waitFor();
    await hasFocus(control(form, 'Origin'));
    t.match(await reported(problems, 1), [/status of 400/]);
    await control(form, 'Origin').fill(`${origin.url}/`);
    await form.getByLabel('Allowed hosts').fill('a.example\n*.b.example');
    await form.getByRole('button', { name: 'Create' }).click();
    await hasFocus(page.getByRole('heading', { level: 1, name: '<b>Mine</b>' }));
    t.match(await page.title(), /^<b>Mine<\/b> · Image delivery$/);
    const open = createOpener(page);
    const id = page.url().split('/').at(-1) ?? '';
    const stored = async () => (await api.call('GET', `/projects/${id}`)).body.project;
    t.same((await stored()).allowedOrigins, ['127.0.0.1', 'a.example', '*.b.example']);

    await page.getByRole('heading', { name: 'Deliver the first image' }).waitFor();
    await page.goto(`${url}/#/projects/${id}/hosts?host=photos.example`);
    t.equal(await page.getByLabel('Host to allow').inputValue(), 'photos.example');
    await open('Limits');
    await open('Allowed hosts');
    await page.getByRole('button', { name: 'Remove a.example' }).click();
    await page.getByText('a.example removed').waitFor();
    await until('the focus', async () => (await focused(page)) === 'title');
    await page.getByLabel('Host to allow').fill('Bücher.example');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Remove xn--bcher-kva.example' }).waitFor();
    await until('the focus on what was added', async () =>
      String(await focused(page)).startsWith('host-xn--bcher-kva'),
    );
    await page.getByLabel('Host to allow').fill('no/host');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await hasFocus(page.getByLabel('Host to allow'));
    t.match(await reported(problems, 1), [/status of 400/]);
    t.same((await stored()).allowedOrigins, ['127.0.0.1', '*.b.example', 'xn--bcher-kva.example']);

    await open('Defaults');
    const defaults = page.locator('main');
    await page.getByRole('button', { name: 'landscape.jpg' }).click();
    const readBytes = async (title: string) =>
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
      t.match(dialogs.splice(0), [/unsaved changes/]);
    }
    t.equal(page.url(), `${url}/#/projects/${id}/defaults`);
    t.equal(await control(defaults, 'Default quality').inputValue(), '35');
    await until('the preview shows what the change does', async () => {
      const [saved, changed] = [await readBytes('Saved'), await readBytes('With your changes')];
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
    await presets.locator('summary', { hasText: 'Crop' }).click();
    await presets.locator('summary', { hasText: 'Colour' }).click();
    await control(presets, 'flip').selectOption('on');
    await control(presets, 'bg').fill('000');
    const create = presets.getByRole('button', { name: 'Create preset' });
    /** Returns a control's help and error. */
    const readDescription = async (field: Locator) => {
      const ids = ((await field.getAttribute('aria-describedby')) ?? '').split(' ');
      const texts = ids.map((descriptionId) => page.locator(`[id="${descriptionId}"]`).innerText());
      return (await Promise.all(texts)).join(' ');
    };
    t.match(await readDescription(presetName), /^A lower-case letter, then up to 39/);
    await create.click();
    await presets.getByRole('alert').getByText('the name of a preset must').waitFor();
    await until(
      'the focus',
      async () => (await focused(page)) === (await presetName.getAttribute('id')),
    );
    t.match(await readDescription(presetName), /^It must start with a lower-case letter/);
    await presetName.fill('card');
    await control(presets, 'crop').fill('1,2');
    await create.click();
    await presets.getByRole('alert').getByText('parameters.crop must').waitFor();
    const crop = control(presets, 'crop');
    t.match(await readDescription(crop), /^It must be left,top,width,height/);
    t.equal(await crop.getAttribute('aria-invalid'), 'true');
    t.equal(await presetName.getAttribute('aria-invalid'), null);
    t.match(await reported(problems, 2), [/status of 400/, /status of 400/]);
    t.same(await findViolations(page), []);
    await crop.fill('');
    await create.click();
    await presets.getByText('card saved').waitFor();
    await until('the focus', async () => (await focused(page)) === 'presets-card');
    t.equal(await presetName.count(), 0, 'the form is closed');
    const [card] = await storedPresets();
    t.same(card, { name: 'card', parameters: { w: 400, fit: 'cover', bg: '000', flip: true } });
    await presets.getByRole('button', { name: 'Edit card' }).click();
    t.equal(await control(presets, 'flip').inputValue(), '1');
    await control(presets, 'w').fill('401');
    await page.evaluate(`new MutationObserver((_, observer) => {
      if (document.querySelector('[aria-label="Change card"]') !== null) return;
      observer.disconnect();
      window.asksToLeave = !dispatchEvent(new Event('beforeunload', { cancelable: true }));
    }).observe(document.body, { childList: true, subtree: true })`);
    await presets.getByRole('button', { name: 'Change card' }).click();
    await presets.getByText('w=401').waitFor();
    t.equal(await page.evaluate('asksToLeave'), false, 'asks nothing once the form is closed');
    t.same(await storedPresets(), [{ ...card, parameters: { ...card.parameters, w: 401 } }]);
    await page.reload();
    await presets.getByRole('button', { name: 'Delete card …' }).click();
    await hasFocus(presets.getByRole('button', { name: 'Cancel' }));
    await page.keyboard.press('Enter');
    await hasFocus(presets.getByRole('button', { name: 'Delete card …' }));
    await page.keyboard.press('Enter');
    t.same(await findViolations(page), []);
    await presets.getByRole('button', { name: 'Delete card' }).click();
    await presets.getByText('card deleted').waitFor();
    await until('the focus', async () => (await focused(page)) === 'title');
    t.same(await storedPresets(), []);

    await page.getByRole('link', { name: 'Service', exact: true }).click();
    await page.getByRole('heading', { name: 'Disk cache' }).waitFor();
    t.same(await findViolations(page), []);
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

  t.test('renames and deletes a project', async (t) => {
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
    t.same(await findViolations(page), []);
    await typed.fill('Other shop');
    await page.keyboard.press('Enter');
    await hasFocus(page.getByRole('heading', { level: 1, name: 'Projects' }));
    t.equal((await api.call('GET', `/projects/${id}`)).status, 404);
    t.equal(await page.getByText(id).count(), 0);
    t.same(problems, []);
  });
});
