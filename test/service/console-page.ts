import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { patienceMs, until } from '../until.ts';
import { startChromium } from './chromium.ts';
import { rootKey, startControl } from './control/control.ts';
import { picture, startTestOrigin } from './origin.ts';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
export const phone = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' } as const;

/** Opens a page and collects its console messages and its requests to other hosts. */
export async function openPage(context: BrowserContext, url: string) {
  const page = await context.newPage();
  page.setDefaultTimeout(patienceMs);
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => problems.push(`${message.type()}: ${message.text()}`));
  page.on('request', (request) => {
    if (!/^(?:blob|data):/.test(request.url()) && !request.url().startsWith(`${url}/`)) {
      problems.push(`a request to another host: ${request.url()}`);
    }
  });
  return { page, problems };
}

/**
 * Returns a browser's messages. It reports a failed request after the page receives the response.
 */
export async function reported(problems: string[], count: number): Promise<string[]> {
  await until('the messages of the browser', () => problems.length >= count);
  return problems.splice(0);
}

/** Waits until no part of a page waits for its data. */
export const loaded = (page: Page) =>
  until('the data of the page', async () => (await page.getByText('Loading …').count()) === 0);

/** Returns the violations of accessibility rules that axe finds. */
export async function findViolations(page: Page): Promise<string[]> {
  await loaded(page);
  await page.evaluate(`typeof axe === 'undefined' && (() => { ${axe} })()`);
  const { violations }: { violations: { id: string; nodes: { html: string }[] }[] } =
    await page.evaluate('axe.run()');
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`,
  );
}

/**
 * Returns the labels of fields that lack an explanation, or of typed fields that lack an example.
 */
export async function unexplained(page: Page): Promise<string[]> {
  await loaded(page);
  return page.evaluate(`[...document.querySelectorAll('.field')].flatMap((field) => {
    const help = field.querySelector('.help:not(.error)')?.textContent ?? '';
    const typed = field.querySelector('textarea, input:not([type=range], [type=checkbox], [type=color])');
    const hasExample = typed === null || typed.value !== '' ||
      /Example: |e\\.g\\. |^Type /.test(help + ' ' + typed.placeholder);
    return help !== '' && hasExample ? [] : [field.querySelector('label, legend').textContent];
  })`);
}

/** Returns true if a page is wider than its window. */
export const overflows = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');

/** Widths and themes of the page checks. */
export const windows = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [1440, 1024, 768, 360].map((width) => ({ width, colorScheme })),
);

/** Opens a page in a window of this width and theme. */
export async function show(
  page: Page,
  { width, colorScheme }: (typeof windows)[number],
): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize({ width, height: width < 500 ? 740 : 900 });
}

/** Lists a page's faults in all windows: overflow and axe violations. */
export async function findFaults(page: Page): Promise<string[]> {
  const faults: string[] = [];
  for (const window of windows) {
    await show(page, window);
    const found = await findViolations(page);
    if (await overflows(page)) found.push('it is wider than the window');
    faults.push(...found.map((fault) => `${window.width} px, ${window.colorScheme}: ${fault}`));
  }
  return faults;
}

/** Returns the focused element's id or text. */
export const focused = (page: Page) =>
  page.evaluate('document.activeElement.id || document.activeElement.innerText');

export async function signIn(page: Page, key = rootKey): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.keyboard.press('Enter');
}

/** Returns the control with exactly this label. */
export const control = (parent: Page | Locator, label: string) =>
  parent.getByLabel(label, { exact: true });

/** Waits until an element receives the focus. */
export const hasFocus = (element: Locator) =>
  until('the focus', () =>
    element.evaluate((target) => target === target.ownerDocument.activeElement),
  );

/** Opens a page of a project by the list of them. */
export const createOpener = (page: Page) => async (name: string) => {
  const list = page.getByRole('navigation', { name: 'Project' });
  // On a phone the list opens on request.
  const isOpen = await list.locator('details').evaluate((details) => details.hasAttribute('open'));
  if (!isOpen) await list.locator('summary').click();
  await list.getByRole('link', { name, exact: true }).click();
  await hasFocus(page.getByRole('heading', { level: 1, name }));
  await loaded(page);
};

interface Test {
  teardown(action: () => Promise<unknown>): void;
}

interface ConsoleOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** The JPEG at `source`. */
  readonly photo?: Buffer | undefined;
}

/**
 * Starts a service with an origin, and a browser that opens its console, each page in a separate
 * context.
 */
export async function startConsole(t: Test, { environment = {}, photo }: ConsoleOptions = {}) {
  const origin = await startTestOrigin({ teardown: (action) => t.teardown(async () => action()) });
  origin.serve('/landscape.jpg', photo ?? (await picture(1200, 800)));
  const api = await startControl(t, { SERVICE_POOL_THREADS: '1', ...environment });
  const { url } = api.service;
  const browser = await startChromium(t);
  const opened = async (options: BrowserContextOptions = {}) => {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 900 },
      // axe would see the colours of a transition.
      reducedMotion: 'reduce',
      ...options,
    });
    t.teardown(() => context.close());
    return { context, ...(await openPage(context, url)) };
  };
  return { api, url, origin, source: `${origin.url}/landscape.jpg`, opened };
}
