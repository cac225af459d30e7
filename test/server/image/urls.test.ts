import { readFile, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import t from 'tap';
import { dialects, type UrlDialect } from '../../../urls/src/index.ts';
import { usedCpuMs } from '../../clock.ts';
import { propertyRuns } from '../../extended.ts';
import { rootPath } from '../../root.ts';
import { temporaryFolder } from '../../temporary-root.ts';
import { dialectNames, urlExamples } from '../../url-examples.ts';
import { longUrls, urlUnits } from './long-urls.ts';
import { outcome } from './url-outcome.ts';

t.test("reads the URLs of Next's optimiser", async (t) => {
  const at = (query: string) => outcome('next', `/_next/image?${query}`);
  const of = (source: string, rest = 'dpr=1&fmt=auto&q=75&w=640') => `${source} ${rest}`;
  for (const [query, expected] of [
    ['url=%2Fa.jpg&w=640&q=75', of('https://shop.example/a.jpg')],
    ['url=/a%20b.jpg%3Fv=2%23x&w=640&q=75', of('https://shop.example/a%20b.jpg?v=2')],
    ['url=https%3A%2F%2Fa.example%2Fx.png&w=640&q=75', of('https://a.example/x.png')],
    ['q=075&w=00640&url=%2Fa.jpg&dpl=dpl_1', of('https://shop.example/a.jpg')],
    ['url=/a.jpg&w=640&q=75&utm_source=x', of('https://shop.example/a.jpg')],
    ['url=/a.jpg&w=640&q=75&h=9', `${of('https://shop.example/a.jpg')} h`],
    ['w=640&q=75', 'source_missing: url is required.'],
    ['url=&w=640&q=75', 'source_missing: url is required.'],
    ['url=/a.jpg&q=75', 'parameter_invalid: w is required.'],
    ['url=/a.jpg&w=640', 'parameter_invalid: q is required.'],
    ['url=/a.jpg&w=640&w=9&q=75', 'parameter_invalid: w is given more than once.'],
    ['url=/a.jpg&url=/b.jpg&w=640&q=75', 'parameter_invalid: url is given more than once.'],
    ['url=/a.jpg&w=1.5&q=75', 'parameter_invalid: w must be a whole number.'],
    ['url=/a.jpg&w=-1&q=75', 'parameter_invalid: w must be a whole number.'],
    [
      'url=/a.jpg&w=0&q=75',
      'parameter_invalid: w must be a whole number from 1 to 10000, or a percentage of the source from 1p to 999p.',
    ],
    ['url=/a.jpg&w=640&q=101', /^parameter_invalid: q must be a whole number from 1 to 100/],
    ['url=//a.example/b&w=640&q=75', 'source_invalid: url must not begin with two slashes.'],
    ['url=/%5Ca.example/b&w=640&q=75', 'source_invalid: url must not begin with two slashes.'],
    ['url=ftp://a.example/b&w=640&q=75', /^source_invalid: The source must be an absolute/],
    ['url=a.jpg&w=640&q=75', /^source_invalid: The source must be an absolute/],
    [
      'url=/_next/image&w=640&q=75',
      'source_invalid: url must not be a URL of the optimiser itself.',
    ],
    [`url=/${'a'.repeat(3_072)}&w=640&q=75`, /^source_invalid: url has more than 3072/],
    [`${'a&'.repeat(100)}url=/a.jpg`, /^parameter_invalid: The query has more than 100/],
  ] as const) {
    const found = at(query);
    if (typeof expected === 'string') t.equal(found, expected, query.slice(0, 80));
    else t.match(found, expected, query.slice(0, 80));
  }
  t.match(
    outcome('next', '/a.jpg?w=8'),
    /^source_missing: The host serves images at \/_next\/image/,
  );
  t.equal(
    outcome('next', '/docs/_next/image/?url=/../a.jpg&w=8&q=9', 'https://cdn.example/x/'),
    "source_invalid: The path leads out of the host's base.",
  );
  t.equal(
    outcome('next', '/docs/_next/image?url=/y/a.jpg&w=8&q=9', 'https://cdn.example/x'),
    of('https://cdn.example/x/y/a.jpg', 'dpr=1&fmt=auto&q=9&w=8'),
  );
  t.match(outcome('later', '/a.jpg'), /^source_invalid: This release does not support/);
});

t.test('reads at most 100 query parameters of every service', async (t) => {
  for (const [kind, examples] of Object.entries(urlExamples)) {
    t.ok(examples.length > 2, kind);
    for (const { url } of examples) {
      const separator = url.includes('?') ? '&' : '?';
      const found = outcome(kind, url + separator + 'x=1&'.repeat(100));
      t.equal(found, 'parameter_invalid: The query has more than 100 parameters.', url);
    }
  }
});

t.test("runs the example of the package's README", async (t) => {
  const readme = await readFile(join(rootPath, 'urls/README.md'), 'utf8');
  const [, code = ''] = /```js\n(.*?)```/s.exec(readme) ?? [];
  const [, url = '', expected = ''] = /`rewrite\('(.*?)'\)` returns\n`(.*?)`/s.exec(readme) ?? [];
  // Beside this file, compiled or not.
  const extension = extname(import.meta.url);
  const entry = new URL(`../../../urls/src/index${extension}`, import.meta.url).href;
  const file = join(await temporaryFolder(t), 'rewrite.mjs');
  await writeFile(file, code.replace("'@image-delivery/urls'", `'${entry}'`));
  const { rewrite } = await import(pathToFileURL(file).href);
  t.equal(rewrite(url), expected);
  t.throws(() => rewrite(`${url}&txt=9`), { code: 'parameter_invalid', message: /^txt has no/ });
});

/** Returns true if the outcome is a source on a http server, or an error. */
const isExpected = (found: string): boolean => /^\w+: |^https?:\/\/[^/]+/.test(found);

for (const kind of dialectNames) {
  t.test(`reads a source on an http server, or refuses, for any URL: ${kind}`, async () => {
    const examples = urlExamples[kind];
    const piece = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...urlUnits));
    const cut = fc.tuple(fc.constantFrom(...examples), fc.nat(), fc.array(piece, { maxLength: 8 }));
    const property = fc.property(cut, ([{ url }, place, pieces]) => {
      const at = 1 + (place % url.length);
      const text = pieces.join('');
      return [url.slice(0, at) + text, url.slice(0, at) + text + url.slice(at)].every((changed) =>
        isExpected(outcome(kind, changed)),
      );
    });
    fc.assert(property, { seed: 51, numRuns: propertyRuns(2_000) });
  });

  t.test(`reads 8 KB of anything in a bounded time: ${kind}`, async (t) => {
    let count = 0;
    const unexpected: string[] = [];
    for (const url of longUrls(kind)) {
      count += 1;
      const before = usedCpuMs();
      const found = outcome(kind, url);
      const isSlow = usedCpuMs() - before > 10;
      // Quadratic time at this length takes 20 ms or more.
      for (let i = 0; isSlow && i < 50; i += 1) outcome(kind, url);
      const [path = '', query = ''] = url.split(/\?(.*)/s);
      const isRead = /^https?:/.test(found);
      const { readSignature }: UrlDialect = dialects[kind];
      if (isRead) readSignature?.(path, query);
      const ms = usedCpuMs() - before;
      const isRefused =
        /^(?:source_(?:missing|invalid|not_found)|parameter_invalid): .{1,2000}$/su.test(found);
      if (ms < 1_000 && (isRead || isRefused)) continue;
      unexpected.push(`${Math.round(ms)} ms, ${url.slice(0, 100)}: ${found.slice(0, 200)}`);
    }
    t.same(unexpected, []);
    t.ok(count > 200, `${count} URLs`);
  });
}
