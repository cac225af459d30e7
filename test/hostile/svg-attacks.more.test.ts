import { createServer } from 'node:http';
import type { Request } from 'playwright-core';
import t from 'tap';
import { listen } from '../listen.ts';
import { noChromium, startChromium } from '../service/chromium.ts';
import { startDelivery } from '../service/service.ts';
import { svgAttacks } from './inputs/svg-attacks.ts';

/** Marks the page where a script runs, and notifies its opener and the server. */
const mark = "fetch('URL/ran');document.documentElement.setAttribute('data-ran','')";

/** Runs in the page. */
const fireEvents = `for (const element of document.querySelectorAll('*')) {
  for (const type of ['click', 'mouseover', 'focus', 'focusin', 'load', 'error', 'beginEvent', 'activate', 'scroll', 'resize'])
    element.dispatchEvent(new MouseEvent(type));
}`;

const options = { skip: noChromium, timeout: 180_000 };

t.test('runs no script and sends no request in Chromium', options, async (t) => {
  const received: string[] = [];
  const documents = new Map<string, string>();
  const server = createServer(({ url = '' }, response) => {
    const document = documents.get(url);
    if (document === undefined) {
      if (url !== '/favicon.ico') received.push(url);
      return void response.writeHead(404).end();
    }
    const type = url.endsWith('.html') ? 'text/html' : 'image/svg+xml';
    response.setHeader('content-type', type);
    response.end(document);
  });
  const url = `http://127.0.0.1:${await listen(t, server)}`;
  const { service, origin, image } = await startDelivery(t);
  /** URLs of the delivered documents, with the policy that the saved copies lack. */
  const delivered: string[] = [];
  for (const [index, attack] of Object.values(svgAttacks).entries()) {
    const text = attack.replaceAll('RUN', mark.replaceAll('&', '&amp;').replaceAll('"', '&quot;'));
    const source = text.replaceAll('URL', `${url}/attack`);
    origin.serve(`/${index}.svg`, Buffer.from(source));
    const address = service.url + image(`/${index}.svg`, 'fmt=svg');
    const response = await fetch(address);
    t.equal(response.headers.get('content-type'), 'image/svg+xml');
    delivered.push(address);
    documents.set(`/raw-${index}.svg`, source);
    documents.set(`/clean-${index}.svg`, await response.text());
    for (const kind of ['raw', 'clean']) {
      const file = `${kind}-${index}.svg`;
      const embedded = `<img src="${file}"><object data="${file}"></object><iframe src="${file}"></iframe>`;
      documents.set(`/${kind}-${index}.html`, `<!doctype html>${embedded}`);
    }
  }
  const browser = await startChromium(t);
  const context = await browser.newContext();
  const page = await context.newPage();
  /** Opens a document, fires events at all its elements, and returns its requests and scripts. */
  const visit = async (address: string): Promise<readonly string[]> => {
    received.length = 0;
    const request = (attack: Request) => {
      const isOwn =
        attack.url() === address || /\.(?:svg|ico)$|^data:image\/png/.test(attack.url());
      if (!isOwn) received.push(attack.url());
    };
    page.on('request', request);
    await page.goto(address, { waitUntil: 'load' });
    await page.mouse.move(5, 5);
    await page.mouse.click(20, 20);
    await page.evaluate(fireEvents).catch(() => received.push('a navigation'));
    await page.waitForTimeout(60);
    if (page.url() !== address) received.push(page.url());
    const ran = await page
      .evaluate("document.documentElement.hasAttribute('data-ran')")
      .catch(() => received.push('a navigation'));
    if (ran === true) received.push('a script');
    page.off('request', request);
    return [...received];
  };
  const open = async (kind: string, index: number): Promise<readonly string[]> => [
    ...(await visit(`${url}/${kind}-${index}.svg`)),
    ...(await visit(`${url}/${kind}-${index}.html`)),
  ];
  // Start here, because a page can still send requests while the browser leaves it.
  for (const [index, name] of Object.keys(svgAttacks).entries()) {
    t.same(await open('clean', index), [], name);
    t.same(await visit(delivered[index] ?? ''), [], `${name}, as delivered`);
  }
  let harmful = 0;
  for (const index of Object.keys(svgAttacks).keys()) {
    // A raw attack can navigate while the test opens a document.
    const found = await open('raw', index).catch(() => ['a navigation']);
    harmful += found.length > 0 ? 1 : 0;
  }
  t.ok(harmful > 25, `${harmful} attacks work without the sanitiser`);
});
