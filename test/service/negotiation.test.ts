import sharp from 'sharp';
import t from 'tap';
import { picture, startTestOrigin } from './origin.ts';
import { startService } from './service.ts';

t.test('the client and the project decide what the query leaves open', async (t) => {
  const origin = await startTestOrigin(t);
  origin.serve('/a.jpg', await picture(1200, 800));
  const frames = Buffer.concat([Buffer.alloc(40 * 40 * 3, 20), Buffer.alloc(40 * 40 * 3, 220)]);
  origin.serve(
    '/a.gif',
    await sharp(frames, { raw: { width: 40, height: 80, channels: 3, pageHeight: 40 } })
      .gif()
      .toBuffer(),
  );
  const service = await startService(t);
  const project = await service.project();

  async function get(query: string, headers: Record<string, string>, path = '/a.jpg') {
    const response = await fetch(
      `${service.url}/img/${origin.url}${path}?project=${project}&${query}`,
      { headers },
    );
    const { format, width, pages } = await sharp(await response.arrayBuffer()).metadata();
    const type = response.headers.get('content-type');
    return { type, format, width, pages };
  }

  t.test('Accept with its weights', async (t) => {
    const cases: ReadonlyArray<readonly [accept: string, type: string]> = [
      ['image/avif,image/webp,image/apng,*/*;q=0.8', 'image/avif'],
      ['image/webp,*/*', 'image/webp'],
      ['image/avif;q=0, image/webp', 'image/webp'],
      ['image/avif;q=0.2, image/webp;q=0.9', 'image/webp'],
      ['IMAGE/WEBP', 'image/webp'],
      ['*/*', 'image/jpeg'],
      ['image/*', 'image/jpeg'],
      ['text/html, image/avif-sequence', 'image/jpeg'],
    ];
    for (const [accept, type] of cases) {
      t.equal((await get('w=60', { accept })).type, type, accept);
      t.equal((await get('w=60&fmt=auto', { accept })).type, type, accept);
    }
    t.equal((await get('w=60&fmt=png', { accept: 'image/avif' })).type, 'image/png', 'fmt wins');
    t.equal((await get('w=60&f=jpg', { accept: 'image/avif' })).type, 'image/jpeg');
  });

  t.test('an animation stays one', async (t) => {
    const accept = 'image/avif,image/webp';
    t.match(await get('w=20', { accept }, '/a.gif'), { type: 'image/webp', pages: 2, width: 20 });
    const own = await get('w=20', { accept: '*/*' }, '/a.gif');
    t.match(own, { type: 'image/gif', pages: 2 });
  });

  t.test('client hints, where the query is silent', async (t) => {
    const width = async (query: string, headers: Record<string, string>) =>
      (await get(query, { accept: '*/*', ...headers })).width;
    t.equal(await width('w=100', { 'sec-ch-dpr': '2' }), 100, 'as a srcset asks for it');
    t.equal(await width('w=100&dpr=auto', { 'sec-ch-dpr': '2' }), 200);
    t.equal(await width('w=100&dpr=AUTO', { dpr: '3' }), 300);
    const both = { 'sec-ch-dpr': '2', dpr: '3' };
    t.equal(await width('w=100&dpr=auto', both), 200, 'the newer name first');
    t.equal(await width('w=100&dpr=1', { 'sec-ch-dpr': '2' }), 100, 'the query wins');
    t.equal(await width('w=100&dpr=auto', { dpr: 'many' }), 100, 'not a number');
    t.equal(await width('q=80', { 'sec-ch-width': '320' }), 320);
    t.equal(await width('q=80', { width: '300' }), 320, 'up to the ladder');
    t.equal(await width('w=50', { width: '300' }), 50, 'the query wins');
    t.equal(await width('q=80', { 'viewport-width': '500', dpr: '1' }), 560, 'up to the ladder');
    t.equal(await width('q=80', { 'sec-ch-viewport-width': '320', dpr: '2' }), 640);
    t.equal(await width('q=80', { 'viewport-width': '5000' }), 1200, 'nothing is scaled up');
  });

  t.test('the project', async (t) => {
    const natural = await get('', { accept: '*/*' });
    t.match(natural, { format: 'jpeg', width: 1200 });
  });
});
