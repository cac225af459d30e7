import t from 'tap';
import type { ErrorCode } from '../../../contract/errors.ts';
import { redactText } from '../../../contract/redact.ts';
import {
  redactParameters,
  redactRequest,
  redactUrl,
} from '../../../server/image/redact-request.ts';

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
    t.notMatch(redactText(text), /SEC|RET|\p{C}/u, text);
    for (const url of [
      redactUrl(
        `/img/${text}`,
        'w=3&sig=SECRET&exp=1&t=SECRET&text.a=SECRET&fallback=https://u:SECRET@h/',
        '',
      ),
      redactUrl('/img/', `url=${encodeURIComponent(text)}&w=3&sig=SECRET`, ''),
      redactUrl(`/${text}`, 'w=3&key=SECRET', ''),
    ]) {
      t.notMatch(url, /SEC|RET|exp=|\p{C}/u, text);
      t.match(url, /w=3/);
    }
  }
  t.equal(redactUrl('/img/coast.jpg', 'width=abc&f=webp', ''), '/img/coast.jpg?fmt=webp&w=abc');
});

t.test("shows another service's URL and its refused option, without secrets", async (t) => {
  const encoded = Buffer.from('https://a.example/SECRET').toString('base64url');
  const shown = (urls: string, path: string, message = '') => {
    const error = { code: 'parameter_invalid', message } as const;
    return redactRequest({ path, query: 's=SECRET', source: null, host: { urls }, error });
  };
  const cases: readonly (readonly [string, string, string, string?, string?])[] = [
    ['cloudinary', '/demo/image/upload/r_max/a.jpg', '/demo/image/upload/r_max/a.jpg'],
    ['cloudinary', '/image/upload/s--SECRET--/w_2/a.jpg', '/image/upload/s--…/w_2/a.jpg'],
    ['cloudinary', '/image/upload/s%2d-SECRET--/w_2/a.jpg', '/image/upload/s--…/w_2/a.jpg'],
    [
      'cloudinary',
      '/image/upload/w_2,l_text:Arial_9:SECRET%2CSECRET/a.jpg',
      '/image/upload/w_2,l_text:…/a.jpg',
      'l_text:Arial_9:SECRET%2C has no equivalent here.',
      'l_text:… has no equivalent here.',
    ],
    ['cloudinary', `/image/upload/l_fetch:${encoded}/a.jpg`, '/image/upload/l_fetch:…/a.jpg'],
    ['imgproxy', `/SECRET/rs:fill:3:3/${encoded}.png`, '/…/rs:fill:3:3/…'],
    ['imgproxy', `/SECRET/wmu:${encoded}/w:3/plain/x.png`, '/…/wmu:…/w:3/plain/x.png'],
    ['imgproxy', '/unsafe/w%3A3/plain/a%2Fx.png@png', '/unsafe/w:3/plain/a/x.png'],
    ['imgproxy', '/unsafe/plain/https://SECRET@host', '/…'],
    ['imgproxy', '/unsafe/plain/https://u:SECRET@host', '/…'],
    ['imgproxy', '/SEC%2FRET/w:3/plain/x.png', '/…/w:3/plain/x.png'],
    [
      'imgproxy',
      '/w:3/SECRET/plain/x.png',
      '/…/…/plain/x.png',
      'SECRET is not an option.',
      '… is not an option.',
    ],
    ['thumbor', '/SECRET/3x3/a.png', '/…/3x3/a.png'],
    ['later', '/r_max/a.jpg', '/r_max/a.jpg', 'r has no equivalent here.'],
  ];
  for (const [urls, path, url, message, told = message] of cases) {
    t.match(shown(urls, path, message), { url, message: told ?? '' }, path);
  }
});

t.test('shows the message of an error, without secrets', async (t) => {
  const shown = (code: ErrorCode, message: string, urls?: 'imgproxy') =>
    redactRequest({
      path: '/SECRET/w:3/plain/x',
      query: '',
      source: null,
      host: urls === undefined ? null : { urls },
      error: { code, message },
    }).message;
  t.equal(shown('parameter_invalid', 'w must be a number.'), 'w must be a number.');
  t.equal(
    shown('source_not_found', 'a.example returned 404.', 'imgproxy'),
    'a.example returned 404.',
  );
  t.equal(shown('preset_not_found', 'no \u202Eeyj eyJSECRETSECRET.x.y'), 'no \u{fffd}eyj …');
  t.equal(shown('source_not_found', 'Without `SECRET`; encode it.'), 'Without …; encode it.');
  t.equal(shown('source_corrupt', 'x'.repeat(300)).length, 200);
});

t.test('shows equal parameters in the same way', async (t) => {
  const shown = (query: string) => redactParameters(new URLSearchParams(query));
  t.equal(shown('width=8&format=webp'), shown('f=webp&w=8&sig=x&utm_source=y'));
  t.equal(shown('layer=a&text.a=words'), 'layer=a');
  t.ok(shown(`download=${'x'.repeat(9_000)}`).length < 100);
});
