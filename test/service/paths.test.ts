import sharp from 'sharp';
import t from 'tap';
import { picture, startTestOrigin } from './origin.ts';
import { startService } from './service.ts';

t.test('every way to write the source leads to the same picture', async (t) => {
  const origin = await startTestOrigin(t);
  const body = await picture(400, 300);
  origin.serve('/a.jpg', body);
  origin.serve('/a%20b/c.jpg', body);
  const service = await startService(t);
  const project = await service.project();
  const tail = `project=${project}&w=100&fmt=png`;

  const source = `${origin.url}/a.jpg`;
  const ways: ReadonlyArray<readonly [name: string, target: string]> = [
    ['direct', `/img/${source}?${tail}`],
    ['collapsed by a proxy', `/img/${source.replace('://', ':/')}?${tail}`],
    ['encoded', `/img/${encodeURIComponent(source)}?${tail}`],
    ['as a parameter', `/img/?url=${encodeURIComponent(source)}&${tail}`],
    ['as a parameter, without a slash', `/img?url=${encodeURIComponent(source)}&${tail}`],
    ['as an unencoded parameter', `/img/?${tail}&url=${source}`],
    ['with a fragment, which no server sees', `/img/${encodeURIComponent(`${source}#x`)}?${tail}`],
    ['with the scheme in capitals', `/img/${source.replace('http', 'HTTP')}?${tail}`],
    [
      'in the path though a parameter is there too',
      `/img/${source}?url=http://127.0.0.1:1/&${tail}`,
    ],
  ];
  for (const [name, target] of ways) {
    const response = await fetch(service.url + target);
    t.equal(response.status, 200, name);
    const { width, height } = await sharp(await response.arrayBuffer()).metadata();
    t.same([width, height], [100, 75], name);
  }
  t.equal(origin.requests.get('/a.jpg'), 1, 'one source, one variant, one request');

  t.test('what belongs to the source stays with it', async (t) => {
    const withQuery = encodeURIComponent(`${source}?version=2&w=7`);
    const response = await fetch(`${service.url}/img/${withQuery}?${tail}`);
    t.equal(response.status, 200);
    t.equal((await sharp(await response.arrayBuffer()).metadata()).width, 100);
    t.equal(origin.requests.get('/a.jpg?version=2&w=7'), 1);

    for (const written of [
      `/img/${origin.url}/a%20b/c.jpg?${tail}`,
      `/img/${encodeURIComponent(`${origin.url}/a%20b/c.jpg`)}?${tail}`,
    ]) {
      t.equal((await fetch(service.url + written)).status, 200, written);
    }
    t.equal(origin.requests.get('/a%20b/c.jpg'), 1);
  });
});
