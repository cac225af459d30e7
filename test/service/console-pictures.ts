import { mkdir } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { picture } from '../../demo/origin/pictures.ts';
import { until } from '../until.ts';
import { loaded, show, signIn, startConsole, windows } from './console-page.ts';
import { startWorker } from './worker/worker.ts';

/**
 * `npm run docs:console` makes the screenshots of docs/console.md: each page once, at one of the
 * widths. With a folder as its argument, it captures every page in every window.
 */

const [folder] = process.argv.slice(2);
const docs = 'docs/console';
const started: (() => Promise<unknown>)[] = [];
const test = { teardown: (action: () => Promise<unknown>) => void started.unshift(action) };

let pages = 0;

/**
 * Captures a page for the documents in one window, the next window each time, or in all windows.
 */
async function capture(
  page: Page,
  name: string,
  ofPage = windows[pages++ % windows.length],
): Promise<void> {
  for (const window of windows) {
    if (folder === undefined && window !== ofPage) continue;
    await show(page, window);
    await page.evaluate('scrollTo(0, 0)');
    const file =
      folder === undefined
        ? `${docs}/${name}.webp`
        : `${folder}/${name}-${window.colorScheme}-${window.width}.webp`;
    await sharp(await page.screenshot({ animations: 'disabled' }))
      .resize({ width: 1000, withoutEnlargement: true })
      .webp({ quality: 55 })
      .toFile(file);
  }
  // Groups of parameters are open if the window is wide when the page opens.
  await page.setViewportSize({ width: 1440, height: 900 });
}

async function fillProject(api: Awaited<ReturnType<typeof startConsole>>['api'], id: string) {
  const put = (path: string, json: object) => api.call('PUT', `/projects/${id}/${path}`, { json });
  await put('presets/card', { parameters: { w: 400, h: 300, fit: 'cover' } });
  await put('presets/hero', { parameters: { w: 1600, q: 70 } });
  await put('layers/price', {
    text: { words: '19,90 €', size: 64, color: 'fff', background: 'c00' },
  });
  await put('origins/photos.example.com', { headers: { authorization: 'Bearer secret' } });
  await api.call('POST', `/projects/${id}/keys`, {
    json: { name: 'Shop backend', access: 'write' },
  });
}

async function captureAll(): Promise<void> {
  const photo = await picture('landscape.jpg');
  const { api, url, origin, source, opened } = await startConsole(test, { photo });
  const input = {
    name: 'My shop',
    origin: `${origin.url}/`,
    allowedOrigins: ['*.cdn.example.com'],
  };
  await startWorker(test, api.service);
  const created = await api.call('POST', '/projects', { json: input });
  const { id } = created.body.project;
  const { page } = await opened();

  const query = new URLSearchParams({ project: id, url: source, w: '900', h: '600', q: '60' });
  await page.goto(url);
  await page.getByRole('heading', { name: 'Next: a project' }).waitFor();
  await capture(page, 'welcome');
  await page.goto(`${url}/#/projects`);
  await page.getByLabel('API key').waitFor();
  await capture(page, 'sign-in');
  await signIn(page);
  await page.getByRole('link', { name: 'My shop' }).click();
  await page.getByLabel('Source image URL').fill('/landscape.jpg');
  await page.getByRole('region', { name: 'code for HTML' }).waitFor();
  await capture(page, 'first-picture');

  await page.goto(`${url}/#/?${query}&crop=500,200,1800,1500&fp=0.6,0.4`);
  for (const view of ['Compare', 'Crop', 'Focus', 'Formats']) {
    await page.getByRole('group', { name: 'View' }).getByText(view, { exact: true }).click();
    await page.locator('.box img').last().waitFor();
    if (view === 'Formats')
      await page
        .getByText(/^[\d,]+ ms$/)
        .nth(3)
        .waitFor();
    await page.getByRole('region', { name: 'code for HTML' }).waitFor();
    const first = view === 'Compare' ? windows[0] : undefined;
    await capture(page, `playground-${view.toLowerCase()}`, first);
  }
  await page.getByText('Compare', { exact: true }).click();
  await page.getByLabel('Source image URL').fill(`${origin.url}/missing.jpg`);
  await page.getByRole('alert').waitFor();
  await capture(page, 'playground-error');
  // The previews show the last image.
  await page.getByLabel('Source image URL').fill(source);
  await page.getByAltText('The result').waitFor();

  await fillProject(api, id);
  for (const [image, width] of [
    [source, 300],
    [source, 600],
    [source, 900],
    [`${origin.url}/missing.jpg`, 900],
    ['https://photos.example.org/a.jpg', 300],
  ] as const) {
    await fetch(`${url}/img/${encodeURIComponent(image)}?project=${id}&w=${width}`);
  }
  await page.goto(`${url}/#/projects`);
  await page.getByRole('link', { name: 'My shop' }).waitFor();
  await capture(page, 'projects');
  await page.getByRole('link', { name: 'My shop' }).click();
  await page.getByRole('heading', { name: 'Requests' }).waitFor();
  await capture(page, 'overview');
  const links = page.getByRole('navigation', { name: 'Project' }).getByRole('link');
  for (const name of (await links.allInnerTexts()).slice(2)) {
    await page
      .getByRole('navigation', { name: 'Project' })
      .getByRole('link', { name, exact: true })
      .click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
    if (name === 'Layers') {
      await page.getByRole('button', { name: 'Edit price' }).click();
      await page.getByAltText('With the layer').waitFor();
    }
    if (name === 'Activity') {
      await until('the activity of the last minute', async () => {
        await page.getByRole('button', { name: 'Load again' }).click();
        return (await page.getByText('Most requested sources').count()) > 0;
      });
    }
    if (name === 'Defaults') await page.getByAltText('With your changes').waitFor();
    await loaded(page);
    const wide = name === 'Layers' ? windows[0] : undefined;
    await capture(page, name.toLowerCase().replaceAll(' ', '-'), wide);
    if (name === 'Layers') await page.getByRole('button', { name: 'Cancel' }).click();
  }
  await page.getByRole('link', { name: 'Service', exact: true }).click();
  await page.getByRole('heading', { name: 'Disk cache' }).waitFor();
  await capture(page, 'service');
  await page.goto(`${url}/nothing`);
  await capture(page, 'error-page');
}

try {
  await mkdir(folder ?? docs, { recursive: true });
  await captureAll();
} finally {
  for (const end of started) await end();
}
