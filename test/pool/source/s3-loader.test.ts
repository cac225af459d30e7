import { inspect } from 'node:util';
import t, { type Test } from 'tap';
import { parseS3Location } from '../../../contract/s3-location.ts';
import type { Credentials } from '../../../pool/s3/credentials.ts';
import { s3Loader } from '../../../pool/source/s3-loader.ts';
import { startTestS3, variables } from '../s3/server.ts';
import { client, expectFailure, openSources, startOrigin } from './origin.ts';

const secretAccessKey = 'secret-of-the-test';
const credentials = {
  accessKeyId: 'AKIDTEST',
  secretAccessKey,
  sessionToken: 'token-of-the-test',
};
const pathOfUrl = (path: string) => new URL(`https://photos.example${path}`);

/** Starts a bucket with a single object; other paths get separate responses. */
async function startBucket(t: Test) {
  return startOrigin(t, ({ url, headers }, response) => {
    const { authorization = '' } = headers;
    const isSigned = /^AWS4-HMAC-SHA256 Credential=AKIDTEST\/\d{8}\/us-east-1\/s3\/aws4_request,/;
    if (!isSigned.test(authorization)) return response.writeHead(400).end();
    if (url === '/media/shop/moved.jpg') {
      return response.writeHead(307, { location: '/media/shop/a.jpg' }).end();
    }
    if (url === '/media/shop/denied.jpg') return response.writeHead(403).end('<Code>AccessDenied');
    if (!/^\/media\/shop\/(a|a%20%2B%252F|e%CC%81|%C3%B6)\.jpg$/.test(url ?? '')) {
      return response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>');
    }
    if (headers['if-none-match'] === '"1"') return response.writeHead(304).end();
    return response.setHeader('etag', '"1"').end('picture');
  });
}

async function open(t: Test, trusted = true, privateSources: readonly string[] = []) {
  const bucket = await startBucket(t);
  const location = parseS3Location(`s3://media/shop?endpoint=http://127.0.0.1:${bucket.port}`);
  const findLoader = () =>
    s3Loader('bucket', { location, credentials: async () => credentials, trusted });
  const sources = openSources(t, { privateSources });
  const acquire = (path: string) => sources.acquire(pathOfUrl(path), client({ findLoader }));
  return { bucket, sources, findLoader, acquire };
}

t.test("maps a URL's path to an object under the prefix", async (t) => {
  const { bucket, sources, findLoader, acquire } = await open(t);
  const { bytes, validators } = await acquire('/a.jpg?v=2');
  t.equal(Buffer.from(bytes).toString(), 'picture');
  t.match(bucket.requests[0], {
    url: '/media/shop/a.jpg',
    headers: {
      host: `127.0.0.1:${bucket.port}`,
      'x-amz-security-token': credentials.sessionToken,
      'x-amz-content-sha256': /^[a-f\d]{64}$/,
    },
  });
  t.equal((await acquire('/a%20+%252F.jpg')).bytes.byteLength, 7);
  const answer = await sources.revalidate(pathOfUrl('/a.jpg'), validators, client({ findLoader }));
  t.equal(answer.bytes, null);
});

t.test('finds keys in either Unicode form', async (t) => {
  const { bucket, acquire } = await open(t);
  for (const [sent, found] of [
    ['/%C3%A9.jpg', '/media/shop/e%CC%81.jpg'],
    ['/o%CC%88.jpg', '/media/shop/%C3%B6.jpg'],
  ] as const) {
    t.equal((await acquire(sent)).bytes.byteLength, 7);
    t.equal(bucket.requests.at(-1)?.url, found);
  }
  const failure = await expectFailure(acquire('/%C3%A4.jpg'));
  t.match(failure, { code: 'source_not_found', message: /the bucket of photos\.example/ });
  t.equal(bucket.requests.length, 6, 'two per name');
});

t.test('reads no other object', async (t) => {
  const { bucket, acquire } = await open(t);
  const refused = [
    '/',
    '/..%2fother.jpg',
    '/%2e%2e%2fother.jpg',
    '/x%2f..%2f..%2fother.jpg',
    '/..%5cother.jpg',
    '/x%2f%2f..%2f..%2fother.jpg',
    '/x%2f..',
    '/x%2f.%2f..',
    '/.%2f',
    '/..%2f..%2fmedia%2fshop%2fa.jpg',
    '/a%5cb.jpg',
    '/a.jpg%00',
    '/%0d%0aHost:%20a',
    '/%e0.jpg',
    '/%c0%ae%c0%ae/a.jpg',
    '/%',
    `/${'é'.repeat(520)}`,
  ];
  for (const path of refused) {
    t.equal((await expectFailure(acquire(path))).code, 'source_not_found', path);
  }
  t.equal(bucket.requests.length, 0, 'no request is sent');
  const below = ['/../other.jpg', '/%2e%2e/other.jpg', '/%252e%252e/other.jpg', '/..\\other.jpg'];
  for (const path of below) {
    t.equal((await expectFailure(acquire(path))).code, 'source_not_found', path);
  }
  for (const { url } of bucket.requests) t.match(url, /^\/media\/shop\/(?!.*\.\.)/);
});

t.test('fetches keys that URLs cannot contain', async (t) => {
  const server = await startTestS3(t);
  const location = parseS3Location(server.url);
  const loader = s3Loader('bucket', {
    location,
    credentials: async () => ({
      accessKeyId: variables.AWS_ACCESS_KEY_ID,
      secretAccessKey: variables.AWS_SECRET_ACCESS_KEY,
    }),
    trusted: true,
  });
  const sources = openSources(t);
  const keys = ['./a', 'a/../b', 'a/./b', 'a//b', '/a', 'a/b', 'ü/../%2e/é (1)'];
  for (const key of keys) {
    const body = Buffer.from(`object ${key}`);
    server.objects.set(`pre fix/${key}`, { body, modifiedAt: 0 });
  }
  for (const key of keys) {
    const url = pathOfUrl(`/${encodeURIComponent(key)}`);
    const { bytes } = await sources.acquire(url, client({ findLoader: () => loader }));
    t.equal(Buffer.from(bytes).toString(), `object ${key}`);
  }
});

t.test("names the URL's host in errors, and no secrets", async (t) => {
  const { bucket, acquire } = await open(t);
  const failures = {
    '/missing.jpg': 'source_not_found',
    '/denied.jpg': 'source_forbidden',
    '/moved.jpg': 'source_unreachable',
  };
  for (const [path, code] of Object.entries(failures)) {
    const error = await expectFailure(acquire(path));
    t.equal(error.code, code);
    t.match(error.message, /the bucket of photos\.example/);
    t.notMatch(error.message, /127\.0\.0\.1|AKID|secret|media/);
  }
  t.equal(bucket.requests.length, 3, 'a redirect is not followed');
  const failing: Readonly<Record<string, () => Promise<Credentials>>> = {
    'the role has ended': async () => {
      throw new Error('the role has ended');
    },
    'the credentials cannot be sent in headers': async () => {
      return { ...credentials, accessKeyId: `AKIDTEST\n${secretAccessKey}` };
    },
  };
  for (const [reason, get] of Object.entries(failing)) {
    const location = parseS3Location('s3://media?region=eu-central-1');
    const findLoader = () => s3Loader('none', { location, credentials: get, trusted: true });
    const error = await expectFailure(
      openSources(t).acquire(pathOfUrl('/a.jpg'), client({ findLoader })),
    );
    t.match(error, { code: 'source_unreachable', message: /no valid credentials/ });
    t.match(error.cause, { message: reason });
    t.notMatch(inspect(error, { depth: null, showHidden: true }), /AKID|secret-of/);
  }
});

t.test('accepts a private endpoint only from the operator', async (t) => {
  const untrusted = await open(t, false);
  t.equal((await expectFailure(untrusted.acquire('/a.jpg'))).code, 'source_blocked');
  t.equal(untrusted.bucket.requests.length, 0);
  const named = await open(t, false, ['127.0.0.0/8:*']);
  t.equal((await named.acquire('/a.jpg')).bytes.byteLength, 7);

  const { sources, bucket, acquire } = await open(t);
  await acquire('/a.jpg');
  const direct = sources.acquire(bucket.url('/media/shop/a.jpg'), client());
  t.equal((await expectFailure(direct)).code, 'source_blocked', 'not by its own URL');
});
