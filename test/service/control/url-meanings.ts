import type { Test } from 'tap';
import type { Control } from './control.ts';

/** Checks the meaning of URLs at a delivery host and at other hosts. */
export async function urlMeanings(t: Test, { call, project, issue }: Control): Promise<void> {
  const id = await project();
  const base = 'https://cdn.example.com/media/';
  const domain = { host: 'cdn.example.com' };
  t.equal((await call('POST', `/projects/${id}/domains`, { json: domain })).status, 200);
  const host = await call('PUT', `/projects/${id}/hosts/next.shop.example`, {
    json: { base, urls: 'next' },
  });
  t.equal(host.status, 200);
  const key = await issue(id, 'read');
  const explain = (query: Readonly<Record<string, string>>) =>
    call('GET', `/projects/${id}/url-meaning?${new URLSearchParams(query)}`, { key });
  const path = '/_next/image?url=%2Fa.jpg&w=640&q=75';

  const ofHost = await explain({ url: `https://Next.shop.example${path}&other=1` });
  t.match(ofHost.body.urlMeaning, {
    source: `${base}a.jpg`,
    native: `/img/${encodeURIComponent(`${base}a.jpg`)}?project=${id}&dpr=1&fmt=auto&q=75&w=640`,
    ignored: ['other'],
  });
  const { origin } = (await call('GET', `/projects/${id}`)).body.project;
  const elsewhere = await explain({ url: `https://www.example${path}`, urls: 'next' });
  t.match(elsewhere.body.urlMeaning, {
    source: new URL('/a.jpg', origin).href,
    native: `/img/%2Fa.jpg?project=${id}&dpr=1&fmt=auto&q=75&w=640`,
  });
  const recognised = await explain({ url: `https://www.example${path}` });
  t.same(recognised.body, elsewhere.body);
  const url = 'https://iiif.example/a.jpg/pct:0,0,50,50/max/0/default.jpg';
  t.match((await explain({ url, urls: 'iiif' })).body.urlMeaning, { native: null, options: [] });
  const sized = await explain({ url, urls: 'iiif', width: '600', height: '400' });
  t.match(
    sized.body.urlMeaning.options.find(({ name }: { name: string }) => name === 'crop'),
    { value: '0,0,300,200' },
  );

  for (const [query, message] of [
    [{}, /url is required/],
    [{ url, urls: 'other' }, /urls must be one of native, /],
    [{ url, width: '0' }, /width must be/],
    [{ url: 'a.jpg' }, /url: The URL must be absolute/],
    [{ url: path.replace('w=640', 'w=0'), urls: 'next' }, /url: w must be a whole number/],
  ] as const) {
    const { status, body } = await explain(query);
    t.match({ status, ...body }, { status: 400, code: 'invalid_request', message });
  }
  await call('DELETE', `/projects/${id}/hosts/next.shop.example`);
}
