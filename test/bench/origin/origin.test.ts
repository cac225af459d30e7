import t from 'tap';
import { startOrigin } from '../../../bench/origin/origin.ts';
import { picture, pictureNames } from '../../../bench/origin/pictures.ts';

t.test('the origin serves the pictures with their types, and a page of them', async (t) => {
  const origin = await startOrigin();
  t.teardown(() => origin.close());
  for (const [name, type] of [
    ['pulse.gif', 'image/gif'],
    ['emblem.svg', 'image/svg+xml'],
  ] as const) {
    const response = await fetch(`${origin.url}/${name}?query`);
    t.equal(response.headers.get('content-type'), type);
    t.ok(Buffer.from(await response.arrayBuffer()).equals(await picture(name)));
  }
  const front = await fetch(`${origin.url}/`);
  t.match(front.headers.get('content-type'), 'text/html');
  const page = await front.text();
  for (const name of pictureNames) t.match(page, `src="/${name}"`);
  for (const path of ['/nothing.jpg', '/toString', '/__proto__', '/pulse.gif/', '//pulse.gif']) {
    t.equal((await fetch(origin.url + path)).status, 404, path);
  }
  await t.rejects(startOrigin(Number(new URL(origin.url).port)), { code: 'EADDRINUSE' });
});
