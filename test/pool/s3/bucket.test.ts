import t from 'tap';
import { parseS3Location } from '../../../contract/s3-location.ts';
import { Bucket } from '../../../pool/s3/bucket.ts';
import { startTestS3, variables } from './server.ts';

const any = () => true;
const { signal } = new AbortController();

async function start(t: Tap, environment: Record<string, string> = variables) {
  Object.assign(process.env, environment);
  const server = await startTestS3(t);
  const bucket = new Bucket(parseS3Location(server.url));
  t.teardown(() => bucket.destroy());
  return { server, bucket };
}

type Tap = Parameters<typeof startTestS3>[0];

t.test('writes, reads and deletes objects under the prefix', async (t) => {
  const { server, bucket } = await start(t);
  const key = "a/b c+(1)'*!~ü.jpg";
  await bucket.put(key, Buffer.from('bytes'), signal);
  t.same([...server.objects.keys()], [`pre fix/${key}`]);
  t.equal(String(await bucket.get(key, any, signal)), 'bytes');
  t.equal(await bucket.get(key, (bytes) => bytes < 5, signal), null, 'an object above the limit');
  await bucket.delete(key, signal);
  t.equal(await bucket.get(key, any, signal), null);
  await bucket.delete(key, signal);
});

t.test('lists all pages of a prefix', async (t) => {
  const { server, bucket } = await start(t);
  server.pageSize = 2;
  const modifiedAt = Date.UTC(2026, 1, 1);
  for (const key of ['x/1', 'x/2', 'x/3', 'y/4']) {
    server.objects.set(`pre fix/${key}`, { body: Buffer.from('a'), modifiedAt });
  }
  const first = await bucket.list('x/', null, signal);
  t.same(first.objects, [
    { key: 'x/1', modifiedAt },
    { key: 'x/2', modifiedAt },
  ]);
  t.match(await bucket.list('x/', first.next, signal), {
    objects: [{ key: 'x/3' }],
    next: null,
  });
  t.match(await bucket.list('z', null, signal), { objects: [], next: null });
});

t.test("fails with the service's code, and no secret", async (t) => {
  const wrong = { ...variables, AWS_SECRET_ACCESS_KEY: 'another secret' };
  const { server, bucket } = await start(t, wrong);
  await t.rejects(bucket.get('a', any, signal), {
    status: 403,
    message: 'GET failed: 403 SignatureDoesNotMatch',
  });
  server.handler = (_, response) => response.writeHead(502).end('<html><a b></html>');
  await t.rejects(bucket.put('a', Buffer.from('b'), signal), { message: 'PUT failed: 502' });
  server.handler = (_, response) => response.writeHead(200).end('<!DOCTYPE x><x/>');
  await t.rejects(bucket.list('a', null, signal), /document type/);
  server.handler = (_, response) => response.writeHead(200).end('no XML');
  await t.rejects(bucket.list('a', null, signal), /not XML/);
  server.handler = (_, response) =>
    response.writeHead(301, { location: 'http://127.0.0.1/' }).end();
  await t.rejects(bucket.get('a', any, signal), { message: 'GET failed: 301' });
  server.handler = (_, response) => {
    response.writeHead(200, { 'content-length': '10' }).write('12345');
    setTimeout(() => response.destroy(), 10);
  };
  await t.rejects(bucket.get('a', any, signal), 'an object that ends early');
});
