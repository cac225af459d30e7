import t from 'tap';
import { until } from '../until.ts';
import { noChromium } from './chromium.ts';
import {
  control,
  hasFocus,
  openOf,
  reported,
  signIn,
  startConsole,
  violationsOf,
} from './console-page.ts';

t.test('keys and signatures in the console, in a browser', { skip: noChromium }, async (t) => {
  const { api, url, source, opened } = await startConsole(t);
  t.test('keys and signatures', async (t) => {
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
    t.match(await reported(problems, 1), [/status of 400/]);
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
    t.same(problems, []);
  });
});
