import { inspect } from 'node:util';
import t from 'tap';
import { parseS3Location } from '../../../contract/s3-location.ts';
import { objectPath } from '../../../pool/s3/object-url.ts';
import { type SignedRequest, sign } from '../../../pool/s3/sign.ts';

// Examples in "Signature Calculations for the Authorization Header" in Amazon S3's API reference.
const example = {
  region: 'us-east-1',
  credentials: {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  },
  now: Date.UTC(2013, 4, 24),
};
const bucket = 'https://examplebucket.s3.amazonaws.com/';

async function computeSignature(
  request: Pick<SignedRequest, 'method' | 'url'> & Partial<SignedRequest>,
) {
  const { authorization = '' } = await sign({ ...example, ...request });
  return /Signature=(.*)/.exec(authorization)?.[1];
}

t.test('matches the published example signatures', async (t) => {
  const put = await computeSignature({
    method: 'PUT',
    url: new URL(`${bucket}test%24file.text`),
    headers: {
      date: 'Fri, 24 May 2013 00:00:00 GMT',
      'x-amz-storage-class': 'REDUCED_REDUNDANCY',
    },
    bodyDigest: '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
  });
  t.equal(put, '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd');
  const list = await computeSignature({
    method: 'GET',
    url: new URL(`${bucket}?max-keys=2&prefix=J`),
  });
  t.equal(list, '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7');
});

t.test('signs a session token and conditional headers', async (t) => {
  const headers = await sign({
    ...example,
    credentials: { ...example.credentials, sessionToken: 'token' },
    method: 'GET',
    url: new URL(`${bucket}a`),
    headers: { 'if-none-match': '"x"' },
  });
  t.equal(headers['x-amz-security-token'], 'token');
  const signed = 'host;if-none-match;x-amz-content-sha256;x-amz-date;x-amz-security-token';
  t.match(headers['authorization'], `SignedHeaders=${signed},`);
  t.notMatch(JSON.stringify(headers), example.credentials.secretAccessKey);
});

t.test('rejects credentials that no header accepts and does not show them', async (t) => {
  const secret = 'secret-of-the-test';
  const refused = [
    { accessKeyId: `AKID\n${secret}` },
    { accessKeyId: `AKID€${secret}` },
    { sessionToken: `token\n${secret}` },
    { sessionToken: `${secret}\0` },
  ];
  for (const changes of refused) {
    const credentials = { ...example.credentials, ...changes };
    const url = new URL(`${bucket}a`);
    const error = await sign({ ...example, credentials, method: 'GET', url }).catch((e) => e);
    t.match(error, { message: 'the credentials cannot be sent in headers' });
    t.notMatch(inspect(error, { depth: null, showHidden: true }), secret);
  }
});

t.test('names the exact object key in the path', async (t) => {
  const virtual = parseS3Location('s3://bucket/pre%20fix?region=eu-west-1');
  t.equal(
    objectPath(virtual, "a'b(+)/ü//%2F?x#y.jpg"),
    '/pre%20fix/a%27b%28%2B%29/%C3%BC//%252F%3Fx%23y.jpg',
  );
  const path = parseS3Location('s3://bucket?endpoint=http://10.0.0.1:9000/s3/');
  t.equal(objectPath(path, '~a*'), '/s3/bucket/~a%2A');
  for (const key of ['', '.', 'a/../..', '..', '\ud800']) {
    t.throws(() => objectPath(path, key), RangeError, JSON.stringify(key));
  }
});
