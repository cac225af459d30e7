import t from 'tap';
import { until } from '../until.ts';
import { noChromium } from './chromium.ts';
import {
  control,
  createOpener,
  findViolations,
  hasFocus,
  reported,
  signIn,
  startConsole,
} from './console-page.ts';
import { baseUrl } from './control/control.ts';

t.test(
  'manages keys and signatures in the console, in a browser',
  { skip: noChromium },
  async (t) => {
    const { api, url, source, opened } = await startConsole(t);
    t.test('manages keys and signatures', async (t) => {
      const id = await api.project();
      const { page, problems } = await opened();
      const open = createOpener(page);
      await page.goto(`${url}/#/projects/${id}/keys`);
      await signIn(page);
      await page.getByRole('button', { name: 'New key' }).click();
      await hasFocus(page.getByLabel('Name'));
      await page.getByLabel('Name').fill('shop backend');
      t.same(await findViolations(page), []);
      await page.keyboard.press('Enter');
      const shown = page.getByRole('region', { name: 'The new key', exact: true });
      await hasFocus(shown);
      const key = await page.getByRole('region', { name: 'secret', exact: true }).innerText();
      t.match(key, /^sk_[\w-]{43}$/);
      t.equal((await api.call('GET', `/projects/${id}`, { key })).status, 200);
      t.equal((await api.call('DELETE', `/projects/${id}/domains?host=a`, { key })).status, 403);
      t.same(await findViolations(page), []);
      await open('Limits');
      await open('Keys');
      await page.getByText('shop backend', { exact: true }).waitFor();
      t.notMatch(await page.content(), key, 'it is shown once');
      await page.getByRole('button', { name: 'Revoke shop backend …' }).click();
      await page.getByRole('button', { name: 'Revoke shop backend', exact: true }).click();
      await page.getByText('shop backend revoked').waitFor();
      await until('the end of the key', async () => {
        return (await api.call('GET', `/projects/${id}`, { key })).status === 401;
      });

      await open('Signing');
      const target = `/img/${encodeURIComponent(source)}?project=${id}&w=40`;
      const fetchStatus = async (path: string) => (await fetch(url + path)).status;
      for (let n = 0; n < 3; n += 1) t.equal(await fetchStatus(target), 200);
      await page.getByLabel('Validity in seconds').fill('600');
      const ask = page.getByRole('button', { name: 'Require signatures …' });
      await ask.click();
      await page.getByText('Unsigned requests in the last hour: 3.', { exact: true }).waitFor();
      await hasFocus(page.getByRole('button', { name: 'Cancel' }));
      t.same(await findViolations(page), []);
      await page.keyboard.press('Enter');
      await hasFocus(ask);
      t.equal((await api.store.projects.find(id))?.requireSignedUrls, false, 'it asks first');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Require signatures', exact: true }).click();
      await hasFocus(page.getByRole('region', { name: 'The new secret', exact: true }));
      await until('a signature is needed', async () => (await fetchStatus(target)) === 403);
      const sign = page.getByRole('form', { name: 'Sign one URL' });
      await control(sign, 'URL').fill(target);
      await sign.getByRole('button', { name: 'Sign' }).click();
      const signed = page.getByRole('region', { name: 'signed URL' });
      t.equal(await fetchStatus(await signed.innerText()), 200);
      t.same(await findViolations(page), []);
      await control(sign, 'URL').fill('/api/health');
      await sign.getByRole('button', { name: 'Sign' }).click();
      await hasFocus(control(sign, 'URL'));
      t.match(await reported(problems, 1), [/status of 400/]);
      const old = await signed.innerText();
      await page.getByRole('button', { name: 'Replace the secret …' }).click();
      await page.getByRole('button', { name: 'Replace the secret', exact: true }).click();
      await page.getByText('one is being replaced').waitFor();
      t.equal(await fetchStatus(old), 200);
      await page.getByRole('button', { name: 'Revoke the old secret …' }).click();
      await page.getByRole('button', { name: 'Revoke the old secret', exact: true }).click();
      await page.getByText('Only the new secret is valid').waitFor();
      await until('the old secret ends', async () => (await fetchStatus(old)) === 403);

      await open('Layers');
      await page.getByRole('button', { name: 'New layer' }).click();
      const layer = page.getByRole('form', { name: 'New layer' });
      await layer.getByLabel('Layer name').fill('price');
      await layer.getByLabel('Words', { exact: true }).fill('19,90 €');
      await layer.getByLabel('Image for the preview').fill(source);
      await page.getByAltText('With the layer').waitFor();
      await page.getByRole('button', { name: 'Cancel' }).click();
      await open('Defaults');
      await page.getByLabel('Image for the preview').fill(source);
      await page.getByAltText('With your changes').waitFor();
      await page.goto(`${url}/#/?project=${id}&url=${encodeURIComponent(source)}&w=60`);
      await page.getByAltText('The result').waitFor();
      await page.getByText('accepts signed URLs only').waitFor();
      const address = page.getByRole('region', { name: 'URL', exact: true });
      const ofProxy = await address.innerText();
      t.equal(await fetchStatus(ofProxy.replace(baseUrl, '')), 200, 'the URL is signed');
      const code = page.getByRole('group', { name: 'Code for' });
      t.same(await code.getByRole('radio').count(), 1, 'other code would make unsigned URLs');
      await page.getByRole('region', { name: 'code for Signed' }).waitFor();
      t.same(await findViolations(page), []);
      await page.goto(`${url}/#/projects/${id}/signing`);
      await page.getByRole('button', { name: 'Accept unsigned URLs …' }).click();
      await page.getByRole('button', { name: 'Accept unsigned URLs', exact: true }).click();
      await page.getByRole('button', { name: 'Require signatures …' }).waitFor();
      await until('no signature is needed', async () => (await fetchStatus(target)) === 200);
      t.same(problems, []);
    });
  },
);
