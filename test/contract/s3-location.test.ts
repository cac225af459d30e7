import t from 'tap';
import { parseS3Location } from '../../contract/s3-location.ts';

const aws = { bucket: 'bucket', prefix: '', region: 'eu-west-1', style: 'virtual' };

t.test('completes locations with the defaults of AWS or another service', async (t) => {
  t.match(parseS3Location('s3://bucket?region=eu-west-1'), {
    ...aws,
    endpoint: 'https://s3.eu-west-1.amazonaws.com',
  });
  t.match(parseS3Location('s3://bucket/a/b%20c/?region=cn-north-1'), {
    prefix: 'a/b c/',
    endpoint: 'https://s3.cn-north-1.amazonaws.com.cn',
  });
  t.equal(parseS3Location('s3://a.bucket?region=eu-west-1').style, 'path');
  t.match(parseS3Location('s3://bucket/?endpoint=http%3A%2F%2F%5B%3A%3A1%5D%3A9000%2F'), {
    endpoint: 'http://[::1]:9000',
    region: 'us-east-1',
    style: 'path',
  });
  const r2 = 's3://bucket?endpoint=https://x.r2.cloudflarestorage.com&region=auto&style=virtual';
  t.match(parseS3Location(r2), { region: 'auto', style: 'virtual' });
});

t.test('rejects other texts, and keeps them out of the error', async (t) => {
  const invalid = {
    'not an s3:// URL': ['https://bucket', 's3:bucket', 's3://bucket?region=a#secret'],
    credentials: ['s3://secret:secret@bucket?region=a', 's3://secret@bucket?region=a'],
    bucket: ['s3://?region=a', 's3://B?region=a', 's3://a..b?region=a', 's3://secret:80?region=a'],
    'no region': ['s3://bucket', 's3://bucket/a?region='],
    'region is': ['s3://bucket?region=secret.example', 's3://bucket?region=a/b'],
    'parameters are': ['s3://bucket?region=a&key=secret'],
    'style is': ['s3://bucket?region=a&style=secret'],
    'an IP address': ['s3://bucket?endpoint=http://127.1/&style=virtual'],
    endpoint: [
      's3://bucket?endpoint=https://secret:secret@example.com',
      's3://bucket?endpoint=ftp://secret.example',
      's3://bucket?endpoint=https://example.com/%3Fsecret',
      's3://bucket?endpoint=',
    ],
    prefix: [
      's3://bucket/a/../b?region=a',
      's3://bucket//a?region=a',
      's3://bucket/%2e%2E?region=a',
      's3://bucket/a%00?region=a',
      's3://bucket/%ff?region=a',
      `s3://bucket/${'a'.repeat(512)}?region=a`,
    ],
  };
  for (const [reason, texts] of Object.entries(invalid)) {
    for (const text of texts) {
      const message = new RegExp(`^(?!.*secret).*${reason}`);
      t.throws(() => parseS3Location(text), { name: 'RangeError', message }, text);
    }
  }
});
