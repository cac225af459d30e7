import sharp from 'sharp';
import t from 'tap';
import { until } from '../until.ts';
import { startFrontEnd } from './front-end.ts';
import { picture } from './origin.ts';

t.test('delivers the same image for all notations of a source', async (t) => {
  const { url, origin, project, store } = await startFrontEnd(t);
  const body = await picture(400, 300);
  origin.serve('/a.jpg', body);
  origin.serve('/a%20b/c.jpg', body);
  const tail = `project=${project}&w=100&fmt=png`;

  const source = `${origin.url}/a.jpg`;
  const notations: ReadonlyArray<readonly [name: string, target: string]> = [
    ['direct', `/img/${source}?${tail}`],
    ['collapsed by a proxy', `/img/${source.replace('://', ':/')}?${tail}`],
    ['encoded', `/img/${encodeURIComponent(source)}?${tail}`],
    ['as a parameter', `/img/?url=${encodeURIComponent(source)}&${tail}`],
    ['as a parameter, without a slash', `/img?url=${encodeURIComponent(source)}&${tail}`],
    ['as an unencoded parameter', `/img/?${tail}&url=${source}`],
    ['with a fragment', `/img/${encodeURIComponent(`${source}#x`)}?${tail}`],
    ['with the scheme in capitals', `/img/${source.replace('http', 'HTTP')}?${tail}`],
    ['in the path, before a parameter', `/img/${source}?url=http://127.0.0.1:1/&${tail}`],
  ];
  for (const [name, target] of notations) {
    const response = await fetch(url + target);
    t.equal(response.status, 200, name);
    const { width, height } = await sharp(await response.arrayBuffer()).metadata();
    t.same([width, height], [100, 75], name);
  }
  t.equal(origin.requests.get('/a.jpg'), 1, 'one source, one variant, one request');

  t.test("delivers the same image for a path on the project's site", async (t) => {
    const { _id: id } = await store.projects.create({
      orgId: 'org_0000000000000000',
      name: 'Site',
      origin: `${origin.url}/en/`,
      allowedOrigins: ['127.0.0.1'],
    });
    const ofSite = `project=${id}&w=100&fmt=png`;
    const absolute = await fetch(`${url}/img/${source}?${ofSite}`);
    const tag = absolute.headers.get('etag');
    for (const target of [
      `/img/?url=/a.jpg&${ofSite}`,
      `/img/%2Fa.jpg?${ofSite}`,
      `/img//a.jpg?${ofSite}`,
    ]) {
      const response = await fetch(url + target);
      t.same([response.status, response.headers.get('etag')], [200, tag], target);
    }
    await store.projects.removeHost(id, '127.0.0.1');
    await until(
      'the host is removed',
      async () => (await fetch(`${url}/img/?url=/a.jpg&${ofSite}`)).status === 403,
    );
    const elsewhere = await fetch(`${url}/img/?url=%2F%2Flocalhost%2Fa.jpg&${ofSite}`);
    t.equal(elsewhere.status, 400);
  });

  t.test("keeps a source's query and encoding", async (t) => {
    const withQuery = encodeURIComponent(`${source}?version=2&w=7`);
    const response = await fetch(`${url}/img/${withQuery}?${tail}`);
    t.equal(response.status, 200);
    t.equal((await sharp(await response.arrayBuffer()).metadata()).width, 100);
    t.equal(origin.requests.get('/a.jpg?version=2&w=7'), 1);

    for (const written of [
      `/img/${origin.url}/a%20b/c.jpg?${tail}`,
      `/img/${encodeURIComponent(`${origin.url}/a%20b/c.jpg`)}?${tail}`,
    ]) {
      t.equal((await fetch(url + written)).status, 200, written);
    }
    t.equal(origin.requests.get('/a%20b/c.jpg'), 1);
  });
});
