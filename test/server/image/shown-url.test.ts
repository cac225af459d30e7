import t from 'tap';
import type { ErrorCode } from '../../../contract/errors.ts';
import {
  shownParameters,
  shownRequest,
  shownSource,
  shownText,
  shownUrl,
} from '../../../server/image/shown-url.ts';

t.test('shows the parts that identify a source, and no secrets', async (t) => {
  const sources = [
    ['https://a.example/a%20b.jpg?v=2&file=x.png', 'https://a.example/a%20b.jpg?v=2&file=x.png'],
    ['https://a.example/a@2x.png?20260101', 'https://a.example/a@2x.png?20260101'],
    ['https://u:SECRET@a.example:81/a', 'https://a.example:81/a'],
    ['https://a.example/a?id=4&t=SECRET', 'https://a.example/a?id=4&t=…'],
    ['https://a.example/a?SECRET', 'https://a.example/a?…'],
    [
      'https://a.example/a?X-Amz-Signature=SECRET&id=SECRET',
      'https://a.example/a?X-Amz-Signature=…&id=…',
    ],
    ['https://a.example/a?sv=1&sig=SECRET', 'https://a.example/a?sv=…&sig=…'],
    ['https://a.example/a;jsessionid=SECRET/b', 'https://a.example/a;jsessionid=…/b'],
    ['https://a.example/eyJSECRETSECRET.eyJSECRET.SECRET/b', 'https://a.example/…/b'],
    ['https://a.example/p/https://u:SECRET@b.example/a', 'https://a.example/p/https://b.example/a'],
    [
      'https://a.example/p/https%3A%2F%2Fu%3ASECRET%40b.example%2Fa%3Ft%3DSECRET',
      'https://a.example/p/https://b.example/a?t=…',
    ],
    ['https://a.example/p?src=https://b.example/?t=SECRET', 'https://a.example/p?src=…'],
    ['https://a.example/a.jpg%3Ft=SECRET', 'https://a.example/a.jpg…'],
    ['https://a.example/a.jpg%25253ft%25253DSECRET', 'https://a.example/a.jpg…'],
    ['https://a.example/a.jpg%23SECRET', 'https://a.example/a.jpg…'],
    ['https://a.example/p/u:SECRET@b.example/a', 'https://a.example/p/…@b.example/a'],
    ['https://a.example/u%253ASECRET%2540b.example%252Fa', 'https://a.example/…@b.example%252Fa'],
    ['https://a.example/a?id=4%26t%3DSECRET', 'https://a.example/a?id=…'],
    ['https://a.example/a?id=4%252526t=SECRET', 'https://a.example/a?id=…'],
  ];
  for (const [source = '', shown] of sources) t.equal(shownSource(new URL(source)), shown);
  t.equal(shownSource(new URL(`https://a.example/${'x'.repeat(5_000)}`)).length, 300);
});

t.test('shows long paths in linear time', async (t) => {
  const parts = [
    'eyJ',
    'eyJaaaaaaaa',
    ':',
    ':@',
    '%25',
    '%3a@',
    ';a',
    'a.',
    '%3F',
    'http%3A%2F%2F',
  ];
  for (const part of parts) {
    const url = new URL(`https://a.example/${part.repeat(16_000 / part.length)}`);
    const start = performance.now();
    for (let i = 0; i < 30; i += 1) shownSource(url);
    t.ok(performance.now() - start < 1_000, part);
  }
});

t.test('shows no secret from a text that is not a source', async (t) => {
  const once = encodeURIComponent('https://u:SEC/RET@h.example/a.jpg?token=SECRET');
  const texts = [
    once,
    encodeURIComponent(once),
    encodeURIComponent(encodeURIComponent(encodeURIComponent(encodeURIComponent(once)))),
    'https://u:SECRET@h.example/a.jpg',
    'http://u:pa/SECRET@h/a',
    'u:SECRET@h/a',
    '//u:SECRET@h/a',
    'ftp://u:SECRET@h/a',
    '/coast.jpg?t=SECRET',
    '%E0%A4%A?SECRET',
    'https:/u:SECRET@h/a#SECRET',
    '\u0000\u202Ea.jpg?SECRET',
    'https://h.example/a.jpg%253Ftoken%253DSECRET',
    '/coast.jpg?name=x@SECRET',
    '//u:SEC?RET@h/a',
  ];
  for (const text of texts) {
    t.notMatch(shownText(text), /SEC|RET|\p{C}/u, text);
    for (const url of [
      shownUrl(
        `/img/${text}`,
        'w=3&sig=SECRET&exp=1&t=SECRET&text.a=SECRET&fallback=https://u:SECRET@h/',
        '',
      ),
      shownUrl('/img/', `url=${encodeURIComponent(text)}&w=3&sig=SECRET`, ''),
      shownUrl(`/${text}`, 'w=3&key=SECRET', ''),
    ]) {
      t.notMatch(url, /SEC|RET|exp=|\p{C}/u, text);
      t.match(url, /w=3/);
    }
  }
  t.equal(
    shownUrl('/SIGNATURE/w:3/plain/x', 's=SECRET', 'https://a.example/x', false),
    'https://a.example/x',
  );
  t.equal(shownUrl('/SIGNATURE/w:3', '', '', false), '…');
  t.equal(shownUrl('/img/coast.jpg', 'width=abc&f=webp', ''), '/img/coast.jpg?fmt=webp&w=abc');
});

t.test('shows the message of an error, without secrets', async (t) => {
  const host = { host: 'img.example', base: null, updatedAt: new Date(0) };
  const shown = (code: ErrorCode, message: string, urls?: 'imgproxy') =>
    shownRequest({
      path: '/SECRET/w:3/plain/x',
      query: '',
      source: null,
      project: urls === undefined ? null : { hosts: { 'img,example': { ...host, urls } } },
      error: { code, message },
    }).message;
  t.equal(shown('parameter_invalid', 'w must be a number.'), 'w must be a number.');
  t.equal(shown('parameter_invalid', 'SECRET is not an option.', 'imgproxy'), '');
  t.equal(
    shown('source_not_found', 'a.example answered 404.', 'imgproxy'),
    'a.example answered 404.',
  );
  t.equal(shown('preset_not_found', 'no \u202Eeyj eyJSECRETSECRET.x.y'), 'no \u{fffd}eyj …');
  t.equal(shown('source_not_found', 'Without `SECRET`; encode it.'), 'Without …; encode it.');
  t.equal(shown('source_corrupt', 'x'.repeat(300)).length, 200);
});

t.test('shows equal parameters in the same way', async (t) => {
  const shown = (query: string) => shownParameters(new URLSearchParams(query));
  t.equal(shown('width=8&format=webp'), shown('f=webp&w=8&sig=x&utm_source=y'));
  t.equal(shown('layer=a&text.a=words'), 'layer=a');
  t.ok(shown(`download=${'x'.repeat(9_000)}`).length < 100);
});
