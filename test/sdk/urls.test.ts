import { deepStrictEqual } from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { checkImage } from '../../sdk/src/checks.ts';
import { createImageUrls, type ImageOptions, type PictureOptions } from '../../sdk/src/index.ts';
import { toTexts } from '../../sdk/src/url-text.ts';
import { readAddress, readOptions } from '../../server/image/address.ts';
import { parameterNames, parameters } from '../../server/image/parameters.ts';
import { propertyRuns } from '../extended.ts';
import { anyOptions, anySource } from './options.ts';

const baseUrl = 'https://images.example.com/base/';
const prefix = 'https://images.example.com/base/img/';
const project = 'prj_0123456789abcdef';
const urls = createImageUrls({ baseUrl, project, origin: 'https://shop.example.com/a/' });
const src = 'https://shop.example.com/a.jpg';

/** Returns the service's reading of a URL. */
function readByService(url: string) {
  const { pathname, search } = new URL(url);
  const address = readAddress(pathname.replace('/base', ''), search.slice(1));
  return { ...address, options: readOptions(address.parameters) };
}

const findMessage = (action: () => unknown): string | null => {
  try {
    action();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
};

t.test(
  'parses every URL that it writes, and the service accepts every option of the types',
  async (t) => {
    const property = fc.property(anySource, anyOptions, (source, options) => {
      const url = urls.url(source, options);
      deepStrictEqual(urls.parse(url), { src: source, options });
      const read = readByService(url);
      return (
        read.projectId === project &&
        read.source.href === new URL(source).href.replace(/#.*$/s, '') &&
        Object.keys(read.options).length === Object.keys(options).length
      );
    });
    t.doesNotThrow(() => fc.assert(property, { seed: 27, numRuns: propertyRuns(10_000) }));
  },
);

/** Values that an untyped JavaScript program can pass. */
const anyValue = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.array(fc.oneof(fc.double(), fc.integer({ min: -2, max: 3_000 })), { maxLength: 5 }),
  fc.constantFrom(
    '',
    ' ',
    '.',
    '-0',
    '1.0',
    '0.0',
    '01',
    '1e3',
    'AUTO',
    'Left Top',
    'WEBP',
    'TRUE',
  ),
  fc.constantFrom('#fff', 'ffff', 'TOMATO', 'tomatoe', 'https://a@b.example/', 'http:/a.example'),
  fc.constantFrom('\u200e', 'a'.repeat(64), 'ä'.repeat(200), '\u2026'.repeat(201), '１'),
);
const names = parameterNames.flatMap((name) => [name, ...parameters[name].aliases]);
const anyName = fc.constantFrom(...names, 'project', 'utm_source', 'constructor', '__proto__');

t.test('rejects the same options as the service, with the same messages', async (t) => {
  const refusals = new Set<string>();
  const property = fc.property(fc.array(fc.tuple(anyName, anyValue), { maxLength: 3 }), (pairs) => {
    const texts = toTexts(Object.fromEntries(pairs));
    const query = texts.map((pair) =>
      pair.map((text) => encodeURIComponent(text.toWellFormed())).join('='),
    );
    const refused = findMessage(() =>
      readOptions(
        readAddress(`/img/${src}`, [`project=${project}`, ...query].join('&')).parameters,
      ),
    );
    refusals.add(refused ?? 'none');
    return findMessage(() => checkImage(src, project, texts)) === refused;
  });
  fc.assert(property, { seed: 27, numRuns: propertyRuns(20_000) });
  t.ok(refusals.size > names.length, `${refusals.size} kinds of refusals`);
});

t.test('rejects sources and a missing project like the service', async (t) => {
  const sources = [
    '',
    ' ',
    'a.jpg',
    'ftp://a.example/',
    'https:a',
    'http:///',
    'https://a b/',
    '/a.jpg',
    ' /a b.jpg?c#d',
    '/',
    '//a/b.jpg',
    '/\\a.example/b.jpg',
    '/\t/a.example/b.jpg',
    '/\n\\a.example/b.jpg',
    ' https://a.example/',
  ];
  for (const source of [
    ...sources,
    'https://u@a.example/',
    `https://a.example/${'a'.repeat(8_192)}`,
  ]) {
    const refused = findMessage(() =>
      readAddress('/img/', `project=${project}&url=${encodeURIComponent(source)}`),
    );
    t.equal(
      findMessage(() => checkImage(source, project, [])),
      refused,
      source.slice(0, 40),
    );
  }
  t.equal(
    findMessage(() => checkImage(src, '', [])),
    findMessage(() => readAddress(`/img/${src}`, '')),
  );
  t.throws(() => urls.url(src, { w: 0 }), {
    message:
      'w must be a whole number from 1 to 10000, or a percentage of the source from 1p to 999p.',
  });
  const without = createImageUrls({ baseUrl, project });
  t.throws(() => without.url('a.jpg'), { message: /absolute http or https URL/ });
});

t.test('writes the options into the query in a fixed order', async (t) => {
  const options: ImageOptions = {
    w: 1 / 3 + 99,
    fp: [1 / 3, 0],
    flip: true,
    animated: false,
    h: undefined,
  };
  const query = `?project=${project}&animated=false&flip=true&fp=0.333333_0&w=99.333333`;
  t.throws(() => urls.url(src, options), { message: /^w must be/ });
  const expected = `${query.replace('99.333333', '99')}&`;
  t.equal(
    `${urls.url(src, { ...options, w: 99 })}&`,
    `${prefix}${encodeURIComponent(src)}${expected}`,
  );
  t.match(urls.url(src, { download: "it's (1)!*" }), /download=it%27s%20%281%29%21%2A$/);
});

t.test('makes relative sources absolute, and keeps sources of other kinds', async (t) => {
  const source = (given: string) => urls.parse(urls.url(given))?.src;
  t.equal(source('b.jpg?c=d#e'), 'https://shop.example.com/a/b.jpg?c=d#e');
  t.equal(source('/b.jpg'), 'https://shop.example.com/b.jpg');
  t.equal(source('//cdn.example.com/b.jpg'), 'https://cdn.example.com/b.jpg');
  t.equal(source('HTTP://cdn.example.com/é.jpg'), 'HTTP://cdn.example.com/é.jpg');
  const passing = createImageUrls({
    baseUrl,
    project,
    passthrough: (passed) => passed.startsWith('/dev/'),
  });
  for (const invalid of [
    'data:image/png;base64,AA==',
    'blob:https://a/b',
    urls.url(src, { w: 5 }),
    '/dev/a.jpg',
  ]) {
    t.equal(passing.url(invalid, { w: 8 }), invalid);
    t.equal(passing.srcset(invalid), '');
    t.match(passing.picture(invalid), { sources: [], img: { src: invalid, srcset: undefined } });
    t.equal(await passing.facts(invalid), null);
    t.equal(await passing.placeholder(invalid), null);
  }
});

t.test("writes and parses a path on the project's site", async (t) => {
  const { url, parse } = createImageUrls({ baseUrl, project });
  for (const path of ['/', '/a.jpg', '/é (1).jpg?c=d&w=4', '/a//b.jpg']) {
    const written = url(path, { w: 8 });
    t.same(parse(written), { src: path, options: { w: 8 } });
    t.equal(readByService(written).source.href, path);
  }
  t.same(parse(`${prefix}?url=/a.jpg&project=${project}`), { src: '/a.jpg', options: {} });
  t.same(parse(`${prefix}/a%20b.jpg?project=${project}`), { src: '/a%20b.jpg', options: {} });
  for (const path of ['//a.example/b.jpg', '/\\a.example/b.jpg', '/\t/a.example/b.jpg']) {
    t.throws(() => url(path), TypeError, path);
  }
});

t.test('offers no format that makes a still image of an animation', async (t) => {
  const listFormats = (given: string, options: PictureOptions = {}) =>
    urls.picture(given, options).sources.map(({ type }) => type.replace('image/', ''));
  const all = ['avif', 'webp'];
  for (const [given, options, expected] of [
    ['/a.jpg', {}, all],
    ['/a.GIF?b=c#d', {}, ['webp']],
    ['/a.webp', {}, ['webp']],
    ['/a.gif/b', {}, all],
    ['/a?b=c.gif', {}, all],
    ['/a.gif', { sourceFrames: 1 }, all],
    ['/a', { sourceFrames: 20 }, ['webp']],
    ['/a.gif', { animated: false }, all],
    ['/a.gif', { page: 0 }, all],
    ['/a.gif', { formats: ['avif'] }, ['avif']],
  ] as const) {
    t.same(listFormats(given, options), expected, `${given} ${JSON.stringify(options)}`);
  }
  t.notMatch(String(urls.picture('/a.gif', { sourceFrames: 20 }).img.srcset), 'sourceFrames');
});

t.test('parses exactly the forms of URLs that exist', async (t) => {
  const read = (rest: string) => urls.parse(prefix + rest);
  const query = `project=${project}`;
  t.same(read(`${src}?${query}&width=5&f=webp&flip=&blur=1&extend=1,2,3,4&exp=1&sig=a#b`), {
    src,
    options: { w: 5, fmt: 'webp', flip: true, blur: 1, extend: [1, 2, 3, 4] },
  });
  t.same(read(`https:/shop.example.com/a.jpg?${query}`), { src, options: {} });
  t.same(read(`?url=${encodeURIComponent(src)}&${query}`), { src, options: {} });
  t.same(read(`${src}?${query}&__proto__=1,2&constructor=3`)?.options.constructor, 3);
  t.equal(read(`?${query}`), null);
  t.equal(read(`%zz?${query}`), null);
  t.equal(read(`${src}?project=prj_another0000000`), null);
  t.equal(urls.parse(src), null);
});
