import fc from 'fast-check';
import t from 'tap';
import { ServiceError } from '../../../contract/errors.ts';
import { type ContentType, entityTag, type Image } from '../../../pool/image.ts';
import { isNotModified } from '../../../server/http/responses.ts';
import { cachingHeaders } from '../../../server/image/caching.ts';
import { fileName, sourceFile } from '../../../server/image/download.ts';
import { imageErrorHeaders } from '../../../server/image/image-errors.ts';
import {
  backgroundResponse,
  imageBytes,
  imageHeaders,
  imageResponse,
} from '../../../server/image/response.ts';

const body = Buffer.from('a picture');
const image: Image = {
  body,
  contentType: 'image/webp',
  etag: entityTag(body),
  width: 4,
  height: 3,
  fetchedAt: [1],
};
const unsigned = { expires: Number.POSITIVE_INFINITY, freshness: undefined, report: undefined };
const forever = cachingHeaders(unsigned, { tier: 'miss' }, 0);
const timings = { fetch: 12.345, transform: 7 };
const headers = imageHeaders(image, { tier: 'miss', timings }, forever, {
  file: null,
  tags: [],
  vary: 'Accept',
  warnings: '',
});

t.test('writes an error header as a bounded item of RFC 9651', async (t) => {
  const readHeader = (message: string) =>
    new Map(imageErrorHeaders(new ServiceError('source_not_found', message))).get(
      'x-image-error',
    ) ?? '';
  t.equal(readHeader('Not found.'), 'source_not_found; message="Not found."');
  t.equal(readHeader('a "b" \\c é\n😀'), 'source_not_found; message="a \\"b\\" \\\\c ????"');
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 2_000 }), (message) => {
      const header = readHeader(message);
      const isItem = /^source_not_found; message="(?:[ !#-[\]-~]|\\["\\])*"$/.test(header);
      return isItem && header.length < 1_100;
    }),
  );
  t.match(readHeader('"'.repeat(501)), /\.\.\."$/, 'it ends with dots if it is cut');
});

t.test('names a download safely for every system', async (t) => {
  const written = (text: string, contentType: ContentType = 'image/webp') => {
    const name = fileName.parse(text) ?? '';
    const file = { disposition: 'attachment' as const, name };
    const urlHeaders = { file, tags: [], vary: '', warnings: '' };
    const all = imageHeaders(
      { ...image, contentType },
      { tier: 'miss', timings },
      forever,
      urlHeaders,
    );
    const header = Object.fromEntries(all)['content-disposition'] ?? '';
    const [, ascii, extended = ascii ?? ''] =
      /^attachment; filename="([ !#$&-[\]-~]+)"(?:; filename\*=UTF-8''([\w!#$&+.^`|~%-]+))?$/.exec(
        header,
      ) ?? [];
    return [ascii, decodeURIComponent(extended)];
  };
  const names: readonly (readonly [text: string, name: string, ascii?: string])[] = [
    ['a', 'a.webp'],
    ['a.webp', 'a.webp'],
    ['a.WebP', 'a.WebP'],
    ['a.jpg', 'a.webp'],
    ['scan.1.tiff', 'scan.1.webp'],
    ['v1.2', 'v1.2.webp'],
    ["it's (1) *", "it's (1) -.webp"],
    ['Größe 5 €.png', 'Größe 5 €.webp', 'Gro_e 5 _.webp'],
    ['写真', '写真.webp', '__.webp'],
    ['50%20', '50%20.webp', '50_20.webp'],
    ['../../etc/passwd', '-..-etc-passwd.webp'],
    ['C:\\con', 'C--con.webp'],
    ['a"; filename="b.exe', 'a-; filename=-b.exe.webp'],
    ['a\r\nset-cookie: b=c', 'aset-cookie- b=c.webp'],
    ['a\0b\u202egpj.exe', 'abgpj.exe.webp'],
    [' .a. ', 'a.webp'],
    ['\ud83d\ude00'.repeat(200), `${'\ud83d\ude00'.repeat(50)}.webp`, `${'_'.repeat(50)}.webp`],
  ];
  for (const [text, name, ascii = name] of names) t.same(written(text), [ascii, name], text);
  t.same(written('a.jpeg', 'image/jpeg')[1], 'a.jpeg');
  t.same(written('a.jpeg', 'image/avif')[1], 'a.avif');
  t.same(written('a.jpeg', 'text/plain; charset=utf-8')[1], 'a.txt');
  t.same(written('a', 'application/json')[1], 'a.json');
  t.notOk(
    headers.some(([name]) => name === 'content-disposition'),
    'no header without the parameter',
  );
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }), (text) => {
      const [ascii, name = ''] = fileName.parse(text) === undefined ? [''] : written(text);
      return ascii !== undefined && !/[\p{Cc}/\\]|^\./u.test(name);
    }),
  );
});

t.test("proposes the source's name by default", async (t) => {
  const name = (path: string) => sourceFile(new URL(path, 'https://shop.example/'))?.name ?? null;
  const long = name(`/${'%C3%BC'.repeat(3_400)}.jpg`) ?? '';
  t.ok(long.startsWith('üü') && Buffer.byteLength(long) <= 200, 'a name of 10 kB');
  for (const [path, expected] of [
    ['/shoes/red%20shoe.jpg?v=2', 'red shoe.jpg'],
    ['/a%2F..%2Fb.jpg', 'a-..-b.jpg'],
    ['/%22%3B%20filename%3D%22b.exe', '-; filename=-b.exe'],
    ['/a%0D%0Aset-cookie:b', 'aset-cookie-b'],
    ['/a%E2%80%AEgpj.exe', 'agpj.exe'],
    ['/%FFa%', '\ufffda%'],
    ['/', null],
    ['/a/', null],
    ['/..%2F', '-'],
    ['/%00%E2%80%AE', null],
  ] as const) {
    t.equal(name(path), expected, path);
  }
});

t.test('returns 204 and no image for a background request', async (t) => {
  const { status, headers: sent, body } = backgroundResponse(headers);
  t.same([status, body], [204, null]);
  t.notOk(sent.some(([name]) => name === 'content-type'));
  t.match(Object.fromEntries(sent), { 'x-cache': 'miss', etag: image.etag });
});

t.test('matches weak tags, lists and * in If-None-Match', async (t) => {
  const tag = '"abc"';
  const readings = {
    '': false,
    '"abc"': true,
    'W/"abc"': true,
    '"abd"': false,
    abc: false,
    '*': true,
    ' * ': true,
    '"x", "abc"': true,
    '"x","y" , W/"abc"': true,
    '"x", "y"': false,
    'w/"abc"': false,
    '"abc': false,
    '"ABC"': false,
    ',,': false,
    [`${'"x",'.repeat(99)}"abc"`]: true,
    [`${'"x",'.repeat(100)}"abc"`]: false,
  };
  for (const [header, matches] of Object.entries(readings)) {
    t.equal(isNotModified(header, tag), matches, header);
  }
});

t.test('selects the response by If-None-Match', async (t) => {
  const whole = { status: 200, headers, body };
  for (const tag of ['', '"other"']) t.same(imageResponse(image, headers, tag), whole);
  const known = imageResponse(image, headers, image.etag);
  t.match(known, { status: 304, body });
  t.equal(imageBytes('GET', known), 0, 'the body is not sent');
  const names = known.headers.map(([name]) => name);
  // RFC 9110, 15.4.5.
  for (const name of ['etag', 'cache-control', 'vary']) t.ok(names.includes(name), name);
  t.notOk(names.includes('content-type'));
});
