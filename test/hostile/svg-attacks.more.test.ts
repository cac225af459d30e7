import { createServer } from 'node:http';
import t from 'tap';
import { openContainer } from '../../pool/formats/source-formats.ts';
import { svgOutput } from '../../pool/rendering/encode/svg/output.ts';
import { plainVariant } from '../../pool/variant.ts';
import { listen } from '../listen.ts';
import { startChromium } from '../service/chromium.ts';
import { svgAttacks } from './inputs/svg-attacks.ts';

/** Marks the page where a script runs, and notifies its opener and the server. */
const mark = "fetch('URL/ran');document.documentElement.setAttribute('data-ran','')";

t.test('runs no script and sends no request in Chromium', { timeout: 180_000 }, async (t) => {
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
  for (const [index, attack] of Object.values(svgAttacks).entries()) {
    const text = attack.replaceAll('RUN', mark.replaceAll('&', '&amp;').replaceAll('"', '&quot;'));
    const source = text.replaceAll('URL', `${url}/attack`);
    const output = svgOutput(openContainer(Buffer.from(source)), {
      ...plainVariant,
      formats: ['svg'],
    });
    documents.set(`/raw-${index}.svg`, source);
    documents.set(`/clean-${index}.svg`, String(output?.body));
    for (const kind of ['raw', 'clean']) {
      const image = `${kind}-${index}.svg`;
      const embedded = `<img src="${image}"><object data="${image}"></object><iframe src="${image}"></iframe>`;
      documents.set(`/${kind}-${index}.html`, `<!doctype html>${embedded}`);
    }
  }
  const browser = await startChromium(t);
  const context = await browser.newContext();
  const page = await context.newPage();
  /** Opens an attack, and returns its requests and scripts. */
  const open = async (kind: string, index: number): Promise<readonly string[]> => {
    received.length = 0;
    for (const extension of ['svg', 'html']) {
      await page.goto(`${url}/${kind}-${index}.${extension}`, { waitUntil: 'load' });
      await page.mouse.move(5, 5);
      await page.mouse.click(20, 20);
      await page.waitForTimeout(60);
      const ran = await page.evaluate("document.documentElement.hasAttribute('data-ran')");
      if (ran === true) received.push('a script');
    }
    return [...received];
  };
  // Start here, because a page can still send requests while the browser leaves it.
  for (const [index, name] of Object.keys(svgAttacks).entries()) {
    t.same(await open('clean', index), [], name);
  }
  let harmful = 0;
  for (const index of Object.keys(svgAttacks).keys()) {
    harmful += (await open('raw', index)).length > 0 ? 1 : 0;
  }
  t.ok(harmful > 10, `${harmful} attacks work without the sanitiser`);
});
