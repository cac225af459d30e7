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
  t.equal(
    redactUrl('/SIGNATURE/w:3/plain/x', 's=SECRET', 'https://a.example/x', false),
    'https://a.example/x',
  );
  t.equal(redactUrl('/SIGNATURE/w:3', '', '', false), '…');
  t.equal(redactUrl('/img/coast.jpg', 'width=abc&f=webp', ''), '/img/coast.jpg?fmt=webp&w=abc');
});

t.test('shows the message of an error, without secrets', async (t) => {
  const host = { host: 'img.example', base: null, updatedAt: new Date(0) };
  const shown = (code: ErrorCode, message: string, urls?: 'imgproxy') =>
    redactRequest({
      path: '/SECRET/w:3/plain/x',
      query: '',
      source: null,
      project: urls === undefined ? null : { hosts: { 'img,example': { ...host, urls } } },
      error: { code, message },
    }).message;
  t.equal(shown('parameter_invalid', 'w must be a number.'), 'w must be a number.');
  t.equal(shown('parameter_invalid', 'SECRET is not an option.', 'imgproxy'), '');
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
