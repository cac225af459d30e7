import { createHmac } from 'node:crypto';
import { createServer } from 'node:net';
import t, { type Test } from 'tap';
import { parseS3Location } from '../../../contract/s3-location.ts';
import { encodeFile } from '../../../pool/cache/file.ts';
import { objectKey } from '../../../pool/cache/object-key.ts';
import { SharedCache, type SharedCacheSettings } from '../../../pool/cache/shared-cache.ts';
import { stopTimers } from '../../clock.ts';
import { until } from '../../until.ts';
import { refusing, silent, startTestS3, variables } from '../s3/server.ts';
import { picture, toKey } from './pictures.ts';

const { signal } = new AbortController();
const key = toKey('a');
const object = `pre fix/${objectKey('prj_1', key)}`;
/** A timeout that only a silent server exceeds. */
const timeoutMs = 60_000;

interface Options extends Partial<Omit<SharedCacheSettings, 'sharedCacheUrl'>> {
  readonly url?: string;
  readonly secret?: string | null;
}

async function start(t: Test, { url, secret = 'of the deployment', ...settings }: Options = {}) {
  Object.assign(process.env, variables);
  const server = await startTestS3(t);
  const changes: string[] = [];
  const cache = new SharedCache(
    {
      sharedCacheUrl: parseS3Location(url ?? server.url),
      sharedCacheTimeoutMs: timeoutMs,
      sharedCacheQueueBytes: 1e6,
      ...settings,
    },
    {
      onSharedCacheChange: (operation, error) =>
        changes.push(`${operation} ${error === null ? 'works' : 'fails'}`),
      deploymentSecret: async () => secret,
    },
  );
  t.teardown(() => cache.close());
  // The first read of a process loads the key.
  await cache.read(toKey('another'), 'prj_1', signal);
  server.requests.length = 0;
  const read = () => cache.read(key, 'prj_1', signal);
  const stored = () => until('it is stored', () => server.objects.get(object)?.body);
  const put = (body: Buffer) => server.objects.set(object, { body, modifiedAt: 0 });
  return { server, cache, changes, read, stored, put };
}

/** Computes the authentication code independently of the code under test. */
function authenticated(file: Buffer): Buffer {
  const hmac = (secret: string | Buffer, text: string | Buffer) =>
    createHmac('sha256', secret).update(text).digest();
  const macKey = hmac('of the deployment', 'objects of the shared cache');
  return Buffer.concat([hmac(macKey, file.subarray(0, 48)), file]);
}

const createFile = (image = picture(100)) => authenticated(Buffer.concat(encodeFile(key, image)));

t.test('reads images that another machine wrote', async (t) => {
  const { cache, read, stored } = await start(t);
  t.equal(await read(), null);
  cache.write(key, 'prj_1', picture(1_000));
  await stored();
  t.match(await read(), picture(1_000));
  t.match(cache.stats(), {
    reads: { hit: 1, miss: 2, error: 0 },
    writes: { stored: 1 },
    queuedBytes: 0,
    available: { read: true, write: true },
  });
});

t.test(
  'treats damaged and incomplete objects, and objects of other images, as misses',
  async (t) => {
    const { cache, read, put } = await start(t);
    const file = createFile();
    const damaged = Buffer.from(file);
    damaged[damaged.length - 1] = 0xff;
    const other = authenticated(Buffer.concat(encodeFile(toKey('b'), picture(100))));
    const bodies = [damaged, file.subarray(0, -1), other, Buffer.from('x'), Buffer.alloc(0)];
    for (const body of bodies) {
      put(body);
      t.equal(await read(), null);
    }
    t.match(cache.stats().reads, { hit: 0, damaged: bodies.length });
  },
);

t.test('treats objects that this deployment did not write as misses', async (t) => {
  const { cache, read, put } = await start(t);
  const object = createFile();
  put(object);
  t.match(await read(), picture(100), 'its own');
  const macBytes = 32;
  const stolenMac = (other: Buffer) =>
    Buffer.concat([object.subarray(0, macBytes), other.subarray(macBytes)]);
  const bodies = {
    'without a code': object.subarray(macBytes),
    'with an empty code': Buffer.concat([Buffer.alloc(macBytes), object.subarray(macBytes)]),
    'with another body': stolenMac(createFile(picture(100, 'b'))),
    'of another type': stolenMac(createFile({ ...picture(100), contentType: 'image/png' })),
    'shorter than a code': object.subarray(0, 31),
  };
  for (const [name, body] of Object.entries(bodies)) {
    put(body);
    t.equal(await read(), null, name);
  }
  t.match(cache.stats().reads, { hit: 1, damaged: Object.keys(bodies).length });
  const other = await start(t, { secret: 'of another deployment' });
  other.put(object);
  t.equal(await other.read(), null);
});

t.test('ignores the bucket if the deployment secret is missing', async (t) => {
  const { server, cache, read } = await start(t, { secret: null });
  t.equal(await read(), null);
  cache.write(key, 'prj_1', picture(100));
  t.match(cache.stats(), {
    reads: { skipped: 2, error: 0 },
    writes: { dropped: 1 },
    available: { read: true, write: true },
  });
  t.same(server.requests, []);
});

t.test('limits reads that wait for the deployment secret, too', async (t) => {
  Object.assign(process.env, variables);
  const server = await startTestS3(t);
  server.handler = silent;
  let load = (_: string) => {};
  const secret = new Promise<string>((resolve) => {
    load = resolve;
  });
  const cache = new SharedCache(
    {
      sharedCacheUrl: parseS3Location(server.url),
      sharedCacheTimeoutMs: timeoutMs,
      sharedCacheQueueBytes: 1e6,
    },
    { onSharedCacheChange: () => {}, deploymentSecret: () => secret },
  );
  t.teardown(() => cache.close());
  const client = new AbortController();
  const keys = Array.from({ length: 300 }, (_, index) => toKey(String(index)));
  const reads = keys.map((key) => cache.read(key, 'prj_1', client.signal));
  load('of the deployment');
  await until('a request', () => server.requests.length > 0);
  t.equal(cache.stats().reads.skipped, 300 - 256);
  client.abort();
  await Promise.all(reads);
});

t.test(
  'delays a request by at most the timeout if the service is silent, and soon not at all',
  async (t) => {
    const tick = stopTimers(t);
    const { server, cache, changes, read } = await start(t);
    server.handler = silent;
    for (let count = 1; count <= 5; count += 1) {
      const image = read();
      await until('a request arrives', () => server.requests.length === count);
      tick(timeoutMs);
      t.equal(await image, null);
    }
    t.equal(await read(), null, 'without a response, and without a timer');
    t.equal(server.requests.length, 5);
    t.match(cache.stats(), { reads: { timeout: 5, skipped: 1 }, available: { read: false } });
    t.same(changes, ['read fails']);
  },
);

t.test('uses a connection that took longer than the timeout for the next read', async (t) => {
  const tick = stopTimers(t);
  const { server, cache, read, put } = await start(t);
  put(createFile());
  let slow: unknown = null;
  let respond = () => {};
  let isReused = false;
  server.handler = ({ socket }, response) => {
    isReused ||= socket === slow;
    if (slow !== null) return void response.end(createFile());
    slow = socket;
    respond = () => void response.end(createFile());
  };
  const first = read();
  await until('it is requested', () => slow !== null);
  tick(timeoutMs);
  t.equal(await first, null);
  respond();
  await until('the connection is used again', async () => {
    t.match(await read(), picture(100));
    return isReused;
  });
  t.match(cache.stats().reads, { timeout: 1, error: 0 });
});

t.test('writes a key once at a time', async (t) => {
  const { server, cache } = await start(t);
  const waiting: (() => void)[] = [];
  server.handler = (_, response) => void waiting.push(() => response.end());
  for (const tag of ['old', 'new']) cache.write(key, 'prj_1', picture(10, tag));
  cache.write(toKey('b'), 'prj_1', picture(10));
  await until('both keys', () => waiting.length === 2);
  for (const end of waiting) end();
  await until('the client has counted them', () => cache.stats().writes.stored === 2);
  server.handler = null;
  cache.write(key, 'prj_1', picture(10, 'new'));
  const file = createFile(picture(10, 'new'));
  await until('another write', () => server.objects.get(object)?.body.equals(file));
});

t.test('fails if the bucket does not exist', async (t) => {
  const { server, cache, read } = await start(t);
  server.handler = (_, response) => {
    response.writeHead(404).end('<Error><Code>NoSuchBucket</Code></Error>');
  };
  t.equal(await read(), null);
  t.match(cache.stats().reads, { error: 1, miss: 1 });
});

t.test('probes a failing S3 service and uses it again when it works', async (t) => {
  const { now } = performance;
  let shift = 0;
  performance.now = () => now.call(performance) + shift;
  t.teardown(() => {
    performance.now = now;
  });
  const { server, cache, changes, read, put } = await start(t);
  put(createFile());
  server.handler = refusing;
  for (let i = 0; i < 8; i += 1) t.equal(await read(), null);
  t.match(cache.stats().reads, { error: 5, skipped: 3 });
  for (let i = 0; i < 6; i += 1) {
    cache.write(key, 'prj_1', picture(100));
    await until('it is tried', () => cache.stats().queuedBytes === 0);
  }
  t.match(cache.stats().writes, { stored: 0, failed: 5, dropped: 1 });
  t.same(changes, ['read fails', 'write fails']);
  server.handler = null;
  shift += 1_000;
  t.match(await read(), picture(100));
  cache.write(key, 'prj_1', picture(100));
  await until('it is written', () => cache.stats().writes.stored === 1);
  t.same(changes.slice(2), ['read works', 'write works']);
});

t.test('treats refused connections of an S3 service as misses', async (t) => {
  const closed = createServer();
  await new Promise<void>((done) => closed.listen(0, '127.0.0.1', done));
  const address = closed.address() as { port: number };
  await new Promise((done) => closed.close(done));
  const url = `s3://bucket?endpoint=http://127.0.0.1:${address.port}`;
  const { cache, read } = await start(t, { url });
  t.equal(await read(), null);
  t.match(cache.stats().reads, { error: 2 });
});

t.test('does not count a cancelled read as an S3 failure', async (t) => {
  const { server, cache } = await start(t);
  server.handler = silent;
  for (let count = 1; count <= 6; count += 1) {
    const client = new AbortController();
    const image = cache.read(key, 'prj_1', client.signal);
    await until('a request arrives', () => server.requests.length === count);
    client.abort(new Error('left'));
    t.equal(await image, null);
  }
  t.match(cache.stats(), { reads: { timeout: 0, error: 0 }, available: { read: true } });
});

t.test('limits the bytes in the queue, and queues each key once', async (t) => {
  const { server, cache } = await start(t, { sharedCacheQueueBytes: 50_000 });
  server.handler = silent;
  for (const name of ['a', 'b', 'c', 'd']) cache.write(toKey(name), 'prj_1', picture(9_000));
  await until('four are written at a time', () => server.requests.length === 4);
  for (let i = 0; i < 3; i += 1) cache.write(toKey('e'), 'prj_1', picture(9_000));
  t.equal(cache.stats().writes.dropped, 0);
  cache.write(toKey('f'), 'prj_1', picture(9_000));
  const { writes, droppedBytes, queuedBytes } = cache.stats();
  t.equal(writes.dropped, 1);
  t.ok(droppedBytes > 9_000 && queuedBytes > 45_000 && queuedBytes <= 50_000);
});

t.test('finishes waiting writes on close, unless the S3 service is silent', async (t) => {
  const { server, cache } = await start(t);
  const names = Array.from({ length: 20 }, (_, i) => `${i}`);
  for (const name of names) cache.write(toKey(name), 'prj_1', picture(1_000));
  await cache.close();
  t.equal(server.objects.size, names.length);
  const other = await start(t);
  other.server.handler = silent;
  for (const name of names) other.cache.write(toKey(name), 'prj_1', picture(1_000));
  await other.cache.close();
  await until('nothing waits any more', () => other.cache.stats().queuedBytes === 0);
});
