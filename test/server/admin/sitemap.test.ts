import { gzipSync } from 'node:zlib';
import t from 'tap';
import { findSiteImages } from '../../../server/admin/sitemap.ts';
import { sourceSettings, startOrigin } from '../../pool/source/origin.ts';
import { project as newProject } from '../../project.ts';

const namespaces =
  'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"';

/** Starts a site with these documents, and returns what is found from `/sitemap.xml`. */
async function read(documents: Readonly<Record<string, string | Buffer>>, start = '/sitemap.xml') {
  const site = await startOrigin(t, ({ url = '' }, response) => {
    const body = documents[url];
    const text = typeof body === 'string' ? body.replaceAll('SITE', site.url('').origin) : body;
    if (text === undefined) response.writeHead(404).end();
    else response.end(text);
  });
  const project = newProject({ allowedOrigins: ['127.0.0.1'] });
  const settings = { ...sourceSettings, baseUrl: 'https://img.example' };
  const found = await findSiteImages(new URL(start, site.url()), project, settings, () => {});
  const paths = found.images.map((image) => image.replace(site.url('').origin, ''));
  return { ...found, paths, asked: site.requests.map(({ url }) => url) };
}

const sitemap = (...urls: readonly string[]) =>
  `<?xml version="1.0"?><urlset ${namespaces}>${urls.join('')}</urlset>`;

t.test('finds the images of sitemaps, indexes and pages', async (t) => {
  const { paths, skipped, unreadable, asked } = await read({
    '/sitemap.xml': `<sitemapindex ${namespaces}><sitemap><loc>SITE/a.xml</loc></sitemap><sitemap><loc>
      SITE/b.xml.gz</loc></sitemap><sitemap><loc>SITE/none.xml</loc></sitemap><sitemap><loc>SITE/sitemap.xml</loc></sitemap></sitemapindex>`,
    '/a.xml': sitemap(
      `<url><loc>SITE/listed</loc><image:image><image:loc>SITE/1.jpg?a=1&amp;b=2</image:loc></image:image>
       <image:image><image:loc><![CDATA[SITE/2.jpg]]></image:loc></image:image></url>`,
      '<url><loc>SITE/page</loc></url>',
      '<url><loc>http://other.example/page</loc></url>',
    ),
    '/b.xml.gz': gzipSync(
      sitemap('<url><loc>/x</loc><image:image><image:loc>/3.jpg</image:loc></image:image></url>'),
    ),
    '/page': `<html><meta property="og:image" content="SITE/4.jpg"><img alt=a src='/5.jpg?a&amp;b'>
      <IMG SRC=6.jpg><img src="data:image/png;base64,AA"><img src="https://cdn.example/7.jpg">
      <img src="https://img.example/img/http%3A%2F%2F127.0.0.1%2F8.jpg?project=p&w=3"><img`,
  });
  t.same(paths, [
    '/1.jpg?a=1&b=2',
    '/2.jpg',
    '/3.jpg',
    '/4.jpg',
    '/5.jpg?a&b',
    '/6.jpg',
    'http://127.0.0.1/8.jpg',
  ]);
  t.equal(skipped, 1);
  t.match(unreadable, [/none\.xml: The source was not found/, /other\.example is not on the/]);
  t.same(asked, ['/sitemap.xml', '/a.xml', '/b.xml.gz', '/none.xml', '/page']);
});

t.test('bounds a site, and refuses what is no sitemap', async (t) => {
  const many = Array.from({ length: 10_001 }, (_, index) => `<image:loc>/${index}.jpg</image:loc>`);
  const large = await read({ '/sitemap.xml': sitemap(`<url><loc>/</loc>${many.join('')}</url>`) });
  t.equal(large.images.length, 10_000);
  t.same(large.exceeded, ['images']);
  for (const [text, message] of [
    ['<urlset><url>', /not a valid sitemap/],
    ['<!DOCTYPE a [<!ENTITY b "c">]><urlset>&b;</urlset>', /not a valid sitemap/],
  ] as const) {
    await t.rejects(read({ '/sitemap.xml': text }), { message }, text);
  }
  const inside = read({}, '//10.0.0.1/sitemap.xml');
  await t.rejects(inside, { message: /10\.0\.0\.1 is not on the project/ });
});
