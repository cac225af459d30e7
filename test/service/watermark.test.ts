import t from 'tap';
import { backgroundHeader, backgroundToken } from '../../contract/secrets.ts';
import { findDeployment } from '../../store/deployment.ts';
import { near, pixels } from '../pool/rendering/pictures.ts';
import { until } from '../until.ts';
import { prefix, rootKey, send } from './control/control.ts';
import { startFrontEnd } from './front-end.ts';
import { solid, startTestOrigin } from './origin.ts';

t.test("draws the project's watermark on all its images", async (t) => {
  const service = await startFrontEnd(t, {
    SERVICE_ROOT_API_KEY: rootKey,
    SERVICE_SOURCE_TIMEOUT_MS: '3000',
  });
  const { origin, store } = service;
  const elsewhere = await startTestOrigin(t);
  origin.serve('/a.png', await solid(200, 100, 'white'));
  origin.serve('/b.png', await solid(200, 100, 'blue'));
  elsewhere.serve('/mark.png', await solid(10, 10, 'red'));
  // The allowlist does not include the watermark's host, localhost.
  const project = await service.createProject('127.0.0.1');
  const call = (method: string, path: string, json?: object) =>
    send(service.port, method, `${prefix}/projects/${path}`, { json });
  const patch = (settings: object, id = project) => call('PATCH', `${id}/settings`, settings);
  const current = async () => (await call('GET', project)).body;
  const set = async (settings: object) => t.match(await patch(settings), { status: 200 });
  const at = (path: string) => `http://localhost:${elsewhere.port}${path}`;
  /** Sets a watermark in the store, without the check of the control plane. */
  const setUnchecked = (path: string) =>
    store.projects.updateSettings(project, { watermarkUrl: at(path) });
  const load = (path: string, query = '') =>
    fetch(`${service.url}/img/${origin.url}${path}?project=${project}&fmt=png${query}`);
  /** Sends a background request. */
  const prewarm = async (target: string) => {
    const { backgroundSecret } = await findDeployment(store.db);
    const headers = { [backgroundHeader]: backgroundToken(backgroundSecret, target, Date.now()) };
    return fetch(service.url + target, { headers });
  };
  const read = async (response: Response) => pixels(new Uint8Array(await response.arrayBuffer()));
  const watermarkUrl = at('/mark.png');

  t.same((await read(await load('/a.png'))).at(190, 90), [255, 255, 255, 255]);
  await set({ watermarkUrl, watermarkEnabled: true, watermarkOpacity: 100, watermarkMargin: 5 });

  const marked = await load('/a.png');
  t.equal(marked.headers.get('x-cache'), 'miss', 'a change of the watermark changes the image');
  const { at: pixel } = await read(marked);
  // 20 percent of the width, southeast, 5 pixels from the edges.
  t.same(pixel(194, 94), [255, 0, 0, 255]);
  t.same(pixel(155, 55), [255, 0, 0, 255]);
  for (const [x, y] of [
    [196, 96],
    [153, 90],
    [190, 53],
  ] as const) {
    t.same(pixel(x, y), [255, 255, 255, 255], `${x}, ${y}`);
  }
  t.same((await read(await load('/b.png', '&w=100'))).at(92, 42), [255, 0, 0, 255]);
  t.equal(elsewhere.requests.get('/mark.png'), 1, 'it is fetched once for several images');

  await set({ watermarkPosition: 'northwest', watermarkOpacity: 50, watermarkScale: 50 });
  t.ok(near((await read(await load('/a.png'))).at(6, 6), [255, 127, 127, 255]));

  t.test('rejects an unusable watermark with the reason, and changes nothing', async (t) => {
    const before = await current();
    elsewhere.serve('/page.png', (_, response) => {
      response.setHeader('content-type', 'text/html').end('<!doctype html><p>Log in');
    });
    elsewhere.serve('/cut.png', (await solid(300, 300, 'red')).subarray(0, 90));
    elsewhere.serve('/locked.png', (_, response) => void response.writeHead(401).end());
    elsewhere.serve('/inside.png', (_, response) => {
      response.writeHead(302, { location: 'http://10.0.0.1/mark.png' }).end();
    });
    elsewhere.serve('/never.png', () => {});
    const cases: ReadonlyArray<readonly [path: string, reason: RegExp]> = [
      ['/none.png', /not found: localhost returned 404/],
      ['/page.png', /is an HTML page; its content type is text\/html/],
      ['/cut.png', /PNG/],
      ['/locked.png', /requires a login: localhost returned 401/],
      ['/inside.png', /10\.0\.0\.1 \(private\) is not public/],
      ['/never.png', /did not arrive within 3000 ms/],
    ];
    for (const [path, reason] of cases) {
      const { status, body } = await patch({ watermarkUrl: at(path), watermarkMargin: 1 });
      t.same([status, body.code], [400, 'invalid_request'], path);
      t.match(
        body.message,
        /^watermarkUrl must be an image that can be fetched\. The source/,
        path,
      );
      t.match(body.message, reason);
    }
    const { status, body } = await patch({ watermarkUrl: `http://127.0.0.1:${service.port}/img/` });
    t.same([status, body.code], [400, 'invalid_request'], 'the service itself');
    const unknown = await patch({ watermarkUrl: at('/mark.png') }, 'prj_0000000000000000');
    t.same([unknown.status, unknown.body.code], [404, 'project_not_found']);
    t.same(await current(), before);
  });

  t.test('delivers unmarked images if the watermark breaks later', async (t) => {
    elsewhere.serve('/fragile.png', await solid(10, 10, 'red'));
    await set({
      watermarkUrl: at('/fragile.png'),
      watermarkPosition: 'southeast',
      watermarkScale: 50,
    });
    const intact = await load('/a.png', '&w=160');
    t.equal(intact.headers.get('cache-control'), 'public, max-age=31536000, immutable');
    // This simulates a successful check. The service still holds the bytes from the earlier check.
    await setUnchecked('/gone.png');
    let requests = 0;
    elsewhere.serve('/gone.png', (_, response) => {
      requests += 1;
      response.writeHead(503).end();
    });
    const unmarked = async (query: string) => {
      const response = await load('/a.png', query);
      t.equal(response.status, 200, query);
      t.equal(response.headers.get('cache-control'), 'no-store', query);
      return response;
    };
    await until(
      'the change is visible',
      async () => (await load('/a.png')).headers.get('cache-control') === 'no-store',
    );
    for (const query of ['', '&w=100', '&w=50', '']) {
      const { at: pixel, width, height } = await read(await unmarked(query));
      t.same(pixel(width - 8, height - 8), [255, 255, 255, 255], query);
    }
    t.equal((await unmarked('&w=50')).headers.get('x-cache'), 'memory', 'they are rendered once');
    t.equal(requests, 1, 'the watermark is fetched once');
    const lines = service.log.filter(({ msg }) => /without watermark/.test(msg));
    t.equal(lines.length, 1, 'it is logged once a minute');
    t.match(lines[0], {
      project,
      code: 'source_unreachable',
      reason: /^The watermark cannot be used\. .*localhost returned 503\.$/,
    });

    const prewarming = await prewarm(`/img/${origin.url}/a.png?project=${project}&w=70`);
    t.equal(prewarming.status, 502, 'prewarming fails');

    elsewhere.serve('/gone.png', await solid(10, 10, 'red'));
    let marked: Response | undefined;
    await until('it works again', async () => {
      marked = await load('/a.png', '&w=100');
      return marked.headers.get('cache-control') !== 'no-store';
    });
    t.equal(marked?.headers.get('x-cache'), 'miss', 'images without the watermark were not cached');
    const { at: pixel } = await read(await load('/a.png', '&w=100'));
    t.ok(near(pixel(92, 42), [255, 127, 127, 255]));
  });

  t.test('delivers unmarked images if the watermark does not decode', async (t) => {
    elsewhere.serve('/text.png', Buffer.from('no picture'));
    elsewhere.serve('/cut2.png', (await solid(300, 300, 'red')).subarray(0, 90));
    for (const path of ['/text.png', '/cut2.png']) {
      await setUnchecked(path);
      await until(path, async () => {
        const response = await load('/b.png', '&w=70');
        t.equal(response.status, 200);
        return response.headers.get('cache-control') === 'no-store';
      });
    }
  });

  t.test('restores the earlier images when a project disables its watermark', async (t) => {
    await set({ watermarkEnabled: false });
    const plain = await load('/a.png');
    t.equal(plain.headers.get('x-cache'), 'memory');
    t.same((await read(plain)).at(190, 90), [255, 255, 255, 255]);
  });

  t.test('does not render fallbacks in prewarming', async (t) => {
    const fallback = encodeURIComponent(`${origin.url}/a.png`);
    const target = `/img/${origin.url}/none.png?project=${project}&fallback=${fallback}`;
    t.equal((await prewarm(target)).status, 404);
    t.equal((await fetch(service.url + target)).status, 200);
  });
});
