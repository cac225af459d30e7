import t from 'tap';
import { canonicalAuthority } from '../../contract/hosts.ts';
import { parseOrigin, readOriginHeaders } from '../../contract/origins.ts';
import { parseEncryptionKey } from '../../contract/settings/lists.ts';
import { loadSettings } from '../../contract/settings/load.ts';

t.test('returns a canonical host with its port', async (t) => {
  const forms: ReadonlyArray<readonly [text: string, form: string | null]> = [
    ['Photos.Example.COM.', 'photos.example.com'],
    ['bücher.example:8443', 'xn--bcher-kva.example:8443'],
    ['a.example:443', 'a.example'],
    ['a.example:80', 'a.example'],
    ['127.1:81', '127.0.0.1:81'],
    ['[::1]:9000', '[::1]:9000'],
    ['[::1]', '[::1]'],
    ...['', '*.a.example', 'a.example:', 'a.example:0', 'a.example:65536', 'a.example:1:2'].map(
      (text) => [text, null] as const,
    ),
    ...['::1', 'https://a.example', 'a.example/b', 'u@a.example', 'a b', 'a.example:08'].map(
      (text) => [text, null] as const,
    ),
  ];
  for (const [text, form] of forms) t.equal(canonicalAuthority(text), form, text);
});

t.test('parses origins', async (t) => {
  t.same(parseOrigin('Static.example=file:///srv/my%20pictures%2C%20old/'), {
    host: 'static.example',
    projectId: null,
    target: { kind: 'folder', folder: '/srv/my pictures, old/' },
  });
  const headers = 'Authorization=Basic%20YTpi+/8=&X-Token=a%2Cb';
  t.same(parseOrigin(`api.example:8443@prj_0123456789abcdef=headers:${headers}`), {
    host: 'api.example:8443',
    projectId: 'prj_0123456789abcdef',
    target: {
      kind: 'headers',
      headers: { authorization: 'Basic YTpi+/8=', 'x-token': 'a,b' },
    },
  });
  t.match(parseOrigin('photos.example=s3://bucket/a?region=eu-central-1'), {
    target: { kind: 's3', location: { bucket: 'bucket', prefix: 'a/', region: 'eu-central-1' } },
  });
});

t.test('rejects other texts', async (t) => {
  const texts = [
    'static.example',
    '=file:///srv',
    '*.example=file:///srv',
    'a.example=',
    'a.example=/srv',
    'a.example=file:///',
    'a.example=file:////',
    'a.example=file:///srv/..',
    'a.example=file://host/srv',
    'a.example=file:srv',
    'a.example=file:///srv?a',
    'a.example=file:///srv#a',
    'a.example=file:///srv%2fpictures',
    'a.example=file:///srv%00',
    'a.example=https://b.example/',
    'a.example=s3://bucket',
    'a.example=s3://key:secret@bucket?region=a',
    'a.example=headers:',
    'a.example=headers:Authorization',
    'a.example=headers:Authorization=',
    'a.example=headers:A=%zz',
    'a.example=headers:A=a%0d%0aB:%20c',
    'a.example=headers:Host=b.example',
    'a.example@prj_1=file:///srv',
    'a.example@=file:///srv',
  ];
  for (const text of texts) t.equal(parseOrigin(text), null, text);
});

t.test('accepts only harmless headers with safe values', async (t) => {
  t.same(readOriginHeaders([['User-Agent', 'a b']]), { 'user-agent': 'a b' });
  t.same(readOriginHeaders([['Cookie', 'a=b; c=d']]), { cookie: 'a=b; c=d' });
  const reserved =
    'Host Content-Length Transfer-Encoding TE Trailer Connection Keep-Alive Upgrade Expect Proxy-Authorization Accept-Encoding Range If-None-Match If-Range CDN-Loop Traceparent';
  const names = ['', 'a b', 'a:', 'a\r\nb', 'é', ':path', ...reserved.split(' ')];
  for (const name of names) t.equal(readOriginHeaders([[name, 'a']]), null, name);
  const values = ['', ' a', 'a ', 'a\r\nb: c', 'a\nb', 'a\0', 'é', 'a\tb', '\x7f'];
  for (const value of values) t.equal(readOriginHeaders([['a', value]]), null, value);
  t.equal(readOriginHeaders([]), null);
  t.equal(
    readOriginHeaders([
      ['a', 'b'],
      ['A', 'c'],
    ]),
    null,
    'a name twice',
  );
  const many = (count: number) =>
    Array.from({ length: count }, (_, index) => [`a${index}`, 'b'] as const);
  t.ok(readOriginHeaders(many(16)));
  t.equal(readOriginHeaders(many(17)), null);
  t.ok(readOriginHeaders([['a', 'b'.repeat(8_187)]]));
  t.equal(readOriginHeaders([['a', 'b'.repeat(8_188)]]), null);
  t.same(Object.keys(readOriginHeaders([['__proto__', 'a']]) ?? {}), ['__proto__']);
});

t.test('requires an id and 32 bytes in keys', async (t) => {
  const secret = Buffer.alloc(32, 7).toString('base64');
  t.same(parseEncryptionKey(`2026-11:${secret}`), { id: '2026-11', secret });
  const short = Buffer.alloc(31).toString('base64');
  const texts = [
    secret,
    `:${secret}`,
    `A:${secret}`,
    `a.b:${secret}`,
    `a:${short}`,
    `a:${secret}=`,
  ];
  for (const text of texts) t.equal(parseEncryptionKey(text), null, text);
});

t.test('rejects a malformed setting and hides its value', async (t) => {
  const secret = 'c2VjcmV0LW9mLXRoZS10ZXN0';
  const settings = [
    { SERVICE_ORIGINS: `a.example=headers:Host=${secret}` },
    { SERVICE_ORIGINS: `a.example=file:///srv,A.example=headers:X-Token=${secret}` },
    { SERVICE_ENCRYPTION_KEYS: `a:${secret}` },
  ];
  for (const environment of settings) {
    try {
      loadSettings(environment);
      t.fail('accepted');
    } catch (error) {
      t.match(String(error), /SERVICE_(ORIGINS|ENCRYPTION_KEYS) must be a comma-separated/);
      t.notMatch(String(error), secret);
    }
  }
});

t.test('names an invalid entry of the setting and hides its target', async (t) => {
  const secret = 'c2VjcmV0LW9mLXRoZS10ZXN0';
  const folder = 'b.example=file:///srv';
  const messages: Readonly<Record<string, string>> = {
    [`${folder},A.Example.=headers:Host=${secret}`]: 'entry 2 (a.example) is not valid',
    [`a.example:8443@prj_0123456789abcdef=file://${secret}`]:
      'entry 1 (a.example:8443) is not valid',
    [`${secret}@a.example=file:///srv`]: 'entry 1 is not valid',
    [`a.example=s3://${secret}`]: 'entry 1 (a.example) is not valid',
    [`, ${folder}, B.example=headers:X-Token=${secret}`]: 'entry 2 (b.example) repeats another one',
    [`user:${secret}@a.example=${folder}`]: 'entry 1 is not valid',
    [`a.example=headers:X-Token=a,${secret}=`]: 'entry 2 is not valid',
    [`a.example=headers:X-Token=a,${secret}`]: 'entry 2 is not valid',
    [`a.example=headers:X-Token=a,${secret}==&X-B=headers:`]: 'entry 2 is not valid',
    [`${secret} ,a.example=file:///srv`]: 'entry 1 is not valid',
  };
  for (const [list, message] of Object.entries(messages)) {
    try {
      loadSettings({ SERVICE_ORIGINS: list });
      t.fail(`${list} is accepted`);
    } catch (error) {
      t.ok(String(error).endsWith(`percent-encoded; ${message}`), String(error));
      t.notMatch(String(error), new RegExp(secret, 'i'));
    }
  }
});
