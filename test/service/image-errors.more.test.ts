import { readFile } from 'node:fs/promises';
import t from 'tap';
import { noChromium, startChromium } from './chromium.ts';
import { startFrontEnd } from './front-end.ts';
import { eachHttpServer } from './http-servers.ts';
import { picture } from './origin.ts';

const guide = 'docs/errors.md';

const inBrowser = noChromium === false;
if (!inBrowser) t.pass('in a browser', { skip: noChromium });
else
  eachHttpServer("tells another origin's page why its image failed", async (t, server) => {
    const service = await startFrontEnd(t, server.environment);
    const { origin, project } = service;
    origin.serve('/a.jpg', await picture(40, 30));
    origin.serve('/page', (_, response) => {
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>A shop</title>');
    });
    const browser = await startChromium(t);
    const page = await browser.newPage();
    const blocked: string[] = [];
    page.on('requestfailed', (request) => blocked.push(request.failure()?.errorText ?? ''));
    await page.goto(`http://localhost:${origin.port}/page`);
    const toImageUrl = (path: string) =>
      `${service.url}/img/${origin.url}${path}?project=${project}`;
    /** Loads an image as a page does. */
    const load = (url: string) =>
      page.evaluate(`
        const image = document.createElement('img');
        image.src = ${JSON.stringify(url)};
        image.decode().then(() => true, () => false)`);
    t.equal(await load(toImageUrl('/a.jpg')), true);
    t.equal(await load(toImageUrl('/missing.jpg')), false);
    t.same(blocked, ['net::ERR_BLOCKED_BY_ORB'], 'the browser hides the response');
    const seen = await page.evaluate(async (url) => {
      const { status, headers } = await fetch(url);
      return [status, headers.get('x-image-error'), headers.has('x-request-id')];
    }, toImageUrl('/missing.jpg'));
    t.same(seen, [
      404,
      'source_not_found; message="The source was not found: 127.0.0.1 returned 404."',
      true,
    ]);

    const warned = page.waitForEvent('console', (message) => message.type() === 'warning');
    const [example = ''] = /image\.onerror = .*;/.exec(await readFile(guide, 'utf8')) ?? [];
    await page.evaluate(`
      const image = document.createElement('img');
      ${example}
      image.src = ${JSON.stringify(toImageUrl('/missing.jpg'))};`);
    t.match((await warned).text(), /^source_not_found; message="/, 'the example of the page');
  });
