import { createServer, request as forward } from 'node:http';
import type { Page, Route } from 'playwright-core';
import t from 'tap';
import { listen } from '../listen.ts';
import { until } from '../until.ts';
import { noChromium } from './chromium.ts';
import { control, findViolations, hasFocus, openPage, startConsole } from './console-page.ts';
import { describeKeyboard } from './keyboard.ts';

/**
 * Collects everything that moves in the page, except the image in its box, even within half a
 * second of an input.
 */
const watchShifts = `globalThis.shifts = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    for (const { node } of entry.sources.filter(({ node }) => !node?.parentElement?.closest('.box'))) shifts.push(String(node?.outerHTML ?? node?.data).slice(0, 120));
  }
}).observe({ type: 'layout-shift', buffered: false });`;

const isIdle = (page: Page) =>
  until('the result', async () => {
    const busy = await page.locator('.result').getAttribute('aria-busy');
    return busy === 'false';
  });

t.test("shows the playground's image in a browser", { skip: noChromium }, async (t) => {
  const { api, url, origin, source, opened } = await startConsole(t);
  const project = await api.project();
  const open = async (page: Page, options: Record<string, string>) => {
    const base = page.url().startsWith('http') ? '' : url;
    await page.goto(
      `${base || url}/#/?${new URLSearchParams({ project, url: source, ...options })}`,
    );
    await page.getByRole('slider', { name: /^Divider/ }).waitFor();
  };
  const view = (page: Page, name: string) =>
    page.getByRole('group', { name: 'View' }).getByText(name, { exact: true }).click();

  t.test('moves the crop by pointer and by keyboard', async (t) => {
    const { page, problems } = await opened();
    await open(page, { w: '300', h: '300' });
    await view(page, 'Crop');
    const crop = control(page, 'crop');
    const area = page.getByRole('slider', { name: 'Crop', exact: true });
    await area.waitFor();
    t.equal(await area.getAttribute('aria-valuetext'), '1200 × 800 px at 0, 0');
    const corner = page.getByRole('slider', { name: 'Top left corner' });
    await corner.focus();
    for (const key of ['Shift+ArrowRight', 'ArrowRight', 'Shift+ArrowDown']) {
      await page.keyboard.press(key);
    }
    t.equal(await corner.getAttribute('aria-valuetext'), '132, 80');
    await hasFocus(corner);
    const outline = await page.evaluate('getComputedStyle(document.activeElement).outlineWidth');
    t.equal(outline, '3px', 'the focus is visible');
    await until('the parameter', async () => (await crop.inputValue()) === '132,80,1068,720');

    const frame = await page.locator('.frame').boundingBox();
    const box = await page.getByRole('slider', { name: 'Bottom right corner' }).boundingBox();
    if (frame === null || box === null) throw new Error('the frame is not shown');
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x - frame.width / 4, box.y, { steps: 4 });
    await page.mouse.move(
      box.x + box.width / 2 - frame.width / 2,
      box.y + box.height / 2 - frame.height / 4,
    );
    await page.mouse.up();
    const near = async (expected: readonly number[]) =>
      (await crop.inputValue())
        .split(',')
        .every((value, at) => Math.abs(Number(value) - (expected[at] ?? -9)) <= 4);
    await until('the corner', () => near([132, 80, 468, 520]));
    const middle = await area.boundingBox();
    if (middle === null) throw new Error('the area is not shown');
    await page.mouse.move(middle.x + middle.width / 2, middle.y + middle.height / 2);
    await page.mouse.down();
    await page.mouse.move(middle.x + middle.width / 2 + frame.width, middle.y + middle.height / 2);
    await page.mouse.up();
    await until('the area at the edge', () => near([732, 80, 468, 520]));
    await isIdle(page);
    t.match(await page.getByRole('region', { name: 'URL', exact: true }).innerText(), /crop=73\d_/);
    t.same(await findViolations(page), []);
    const remove = page.getByRole('button', { name: 'Remove crop' });
    await remove.click();
    t.equal(await crop.inputValue(), '');
    await hasFocus(remove);
    const at = (x: number, y: number) =>
      [frame.x + x * frame.width, frame.y + y * frame.height] as const;
    await page.mouse.click(...at(0.5, 0.5));
    t.equal(await crop.inputValue(), '', 'a click draws nothing');
    await page.mouse.move(...at(0.75, 0.75));
    await page.mouse.down();
    await page.mouse.move(...at(0.5, 0.5), { steps: 4 });
    await page.mouse.move(...at(0.25, 0.5));
    await page.mouse.up();
    await until('the drawn area', () => near([300, 400, 600, 200]));
    t.same(problems, []);
  });

  t.test('moves the focal point by pointer and by keyboard', async (t) => {
    const { page, problems } = await opened();
    await open(page, { w: '300' });
    await view(page, 'Focus');
    await page.getByText('Set w and h, or ar, first').waitFor();
    await control(page, 'h').fill('300');
    const point = page.getByRole('slider', { name: 'Focal point' });
    await point.focus();
    for (const key of ['ArrowRight', 'Shift+ArrowRight', 'ArrowUp', 'a']) {
      await page.keyboard.press(key);
    }
    t.equal(await point.getAttribute('aria-valuetext'), '61% from the left, 49% from the top');
    t.equal(await control(page, 'fp').inputValue(), '0.61,0.49');
    const frame = await page.locator('.frame').boundingBox();
    if (frame === null) throw new Error('the frame is not shown');
    await page.mouse.click(frame.x + frame.width / 4, frame.y + frame.height / 4);
    await until('the point', async () =>
      (await control(page, 'fp').inputValue())
        .split(',')
        .every((part) => Math.abs(Number(part) - 0.25) < 0.01),
    );
    await isIdle(page);
    t.same(await findViolations(page), []);
    t.same(problems, []);
  });

  t.test('accepts a crop, a focal point and a format from the keyboard only', async (t) => {
    const { page, problems } = await opened();
    const { press, tabTo, hasFocus, losses } = await describeKeyboard(page);
    await open(page, { w: '300', h: '300' });
    await tabTo('radio "Compare"', 80);
    await press('ArrowRight');
    await hasFocus('radio "Crop"');
    await page.getByRole('slider', { name: 'Crop', exact: true }).waitFor();
    await tabTo('slider "Bottom right corner"', 5);
    await press('Shift+ArrowLeft');
    await isIdle(page);
    t.equal(await control(page, 'crop').inputValue(), '0,0,1080,800');
    await tabTo('button "Remove crop"', 1);
    await press('Space');
    await hasFocus('button "Remove crop"');
    await page.keyboard.press('Shift+Tab');
    for (const name of ['Bottom right', 'Bottom left', 'Top right', 'Top left']) {
      await hasFocus(`slider "${name} corner"`);
      await page.keyboard.press('Shift+Tab');
    }
    await hasFocus('slider "Crop"');
    await page.keyboard.press('Shift+Tab');
    await press('ArrowRight');
    await page.getByRole('slider', { name: 'Focal point' }).waitFor();
    await tabTo('slider "Focal point"', 1);
    await press('ArrowLeft');
    t.equal(await control(page, 'fp').inputValue(), '0.49,0.5');
    await page.keyboard.press('Shift+Tab');
    await press('ArrowRight');
    await page.getByRole('button', { name: 'Use webp' }).waitFor();
    await tabTo('button "Use webp"', 3);
    await press('Enter');
    t.equal(await control(page, 'fmt').inputValue(), 'webp');
    await isIdle(page);
    t.same(await losses(), []);
    t.same(problems, []);
  });

  t.test('shows formats side by side with bytes and time, and uses one', async (t) => {
    const { page, problems } = await opened();
    await open(page, { w: '300' });
    await view(page, 'Formats');
    const formats = page.locator('.formats li');
    for (const name of ['jxl', 'avif', 'webp', 'jpeg']) {
      const format = formats.filter({ has: page.getByText(name, { exact: true }) });
      await format.getByText(/^\d[\d.]* K?B, −\d+%$/).waitFor();
      await format.getByText(/^[\d,]+ ms$/).waitFor();
      await format.getByText(/^(?:rendered now|held in memory|from the disk)$/).waitFor();
    }
    t.same(await findViolations(page), []);
    const use = page.getByRole('button', { name: 'Use webp' });
    await use.click();
    t.equal(await control(page, 'fmt').inputValue(), 'webp');
    t.equal(await use.getAttribute('aria-pressed'), 'true');
    t.same(problems, []);
  });

  t.test('shows status, code, sentence and next step of every failure in every view', async (t) => {
    const { page, problems } = await opened();
    origin.serve('/text.txt', Buffer.from('no image'));
    const [missing, text] = [`${origin.url}/missing.jpg`, `${origin.url}/text.txt`];
    const alerts = page.getByRole('alert');
    const shown = async (pattern: RegExp, count = 1) => {
      // Tiles can show the failure before the view does.
      await until(`${count} × ${pattern}`, async () => {
        const texts = await alerts.allInnerTexts();
        return texts.length === count && texts.every((text) => pattern.test(text));
      });
      t.same(await findViolations(page), []);
    };
    const failing = (status: number, code: string) => (route: Route) =>
      route.fulfill({
        status,
        contentType: 'application/json',
        body: JSON.stringify({ code, message: 'A sentence.', resolution_hint: 'A step.' }),
      });
    await open(page, { w: '300' });
    for (const name of ['Compare', 'Crop', 'Focus', 'Formats']) {
      await view(page, name);
      for (const [url, pattern] of [
        [
          missing,
          /was not found: 127\.0\.0\.1 returned 404\. Check that .+ \(404 source_not_found\)$/,
        ],
        [
          'https://photos.example/a.jpg',
          /not on .+ allowlist\. Add .+ \(403 source_not_allowed\)$/,
        ],
        [text, /\. Use a source in .+ \(415 source_unsupported\)$/],
      ] as const) {
        await page.getByLabel('Source image URL').fill(url);
        await shown(pattern);
      }
      await page.getByLabel('Source image URL').fill(source);
      await page.locator('.box img').first().waitFor();
      // The image is known, but the images and facts of the view fail.
      for (const [status, code] of [
        [413, 'source_too_large'],
        [503, 'overloaded'],
      ] as const) {
        const isOfView = name === 'Formats' ? /fmt=(?:jxl|avif|webp|jpeg)/ : /[?&](?:q=100|dpr=1)/;
        await page.route(isOfView, failing(status, code));
        await view(page, name === 'Compare' ? 'Crop' : 'Compare');
        await view(page, name);
        await shown(
          new RegExp(`A sentence\\. A step\\. \\(${status} ${code}\\)$`),
          name === 'Formats' ? 4 : 1,
        );
        await page.unroute(isOfView);
      }
      await view(page, name === 'Compare' ? 'Crop' : 'Compare');
      await view(page, name);
      await page.locator('.box img').first().waitFor();
    }
    await page.route(/\/img\//, (route) => route.abort());
    await control(page, 'w').fill('310');
    await shown(/^The service does not respond\. Check .+ \(no_response\)$/);
    t.ok(
      problems.every((problem) => /status of (?:40[34]|41[35]|503)|ERR_FAILED/.test(problem)),
      problems.join(),
    );
  });

  t.test('keeps the layout steady while sliders move', async (t) => {
    for (const width of [1440, 1024, 768, 360]) {
      const { page, problems } = await opened({ viewport: { width, height: 900 } });
      await open(page, { w: '320' });
      await isIdle(page);
      // Facts about the source can arrive after the image.
      await page.waitForLoadState('networkidle');
      if (width < 960) await page.getByText('Parameters', { exact: true }).click();
      await page.getByLabel('Find a parameter').fill('o');
      for (const name of ['q', 'dpr', 'brightness', 'rotate', 'hue']) {
        const slider = page.getByLabel(`${name}, as a slider`);
        await slider.focus();
        await page.evaluate(watchShifts);
        for (const key of ['ArrowRight', 'ArrowRight', 'PageUp', 'Home', 'ArrowRight']) {
          await page.keyboard.press(key);
        }
        await isIdle(page);
        await control(page, name).fill('');
        await isIdle(page);
        t.same(await page.evaluate('shifts.splice(0)'), [], `${name} at ${width} px`);
      }
      t.same(problems, []);
    }
  });

  t.test('opens behind a proxy with a path and another host name', async (t) => {
    const { port } = api.service;
    const proxy = createServer((request, response) => {
      const path = (request.url ?? '').replace(/^\/tools\/pictures/, '');
      const options = {
        port,
        path,
        method: request.method,
        headers: { accept: request.headers.accept },
      };
      request.pipe(
        forward(options, (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(response);
        }),
      );
    });
    const address = `http://localhost:${await listen(t, proxy)}/tools/pictures`;
    const { context } = await opened();
    const { page, problems } = await openPage(context, address);
    const base = source.replace(/\/landscape\.jpg$/, '/other.jpg');
    await page.goto(`${address}/#/?${new URLSearchParams({ project, url: base, w: '200' })}`);
    await page.getByRole('alert').waitFor();
    problems.splice(0);
    await page.getByRole('button', { name: 'landscape.jpg' }).click();
    await page.getByAltText('The result').waitFor();
    await page
      .getByLabel('Source image URL')
      .fill(`${address}/img/${encodeURIComponent(source)}?project=${project}&w=210`);
    t.equal(await page.getByLabel('Source image URL').inputValue(), source);
    await page.getByLabel('Source image URL').fill(base.replace('other.jpg', 'lantern.png'));
    await page.getByText('Sample images come from a program').waitFor();
    await page.getByLabel('Source image URL').fill('https://photos.example/a.jpg');
    const allow = page.getByRole('link', { name: 'Allow photos.example' });
    t.match(await allow.getAttribute('href'), /\/hosts\?host=photos\.example$/);
    t.same(await findViolations(page), []);
    t.ok(
      problems.every((problem) => /status of 40[34]/.test(problem)),
      problems.join(),
    );
  });
});
