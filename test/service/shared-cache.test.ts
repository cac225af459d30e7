import sharp from 'sharp';
import t, { type Test } from 'tap';
import { decodeFile, encodeFile } from '../../pool/cache/file.ts';
import { entityTag, type Image } from '../../pool/image.ts';
import { advanceDate } from '../clock.ts';
import { silent, startTestS3, variables } from '../pool/s3/server.ts';
import { until } from '../until.ts';
import { startFrontEnd } from './front-end.ts';
import { eachHttpServer } from './http-servers.ts';
import { createPicture, startTestOrigin } from './origin.ts';

const sourcePath = '/a.png';

/** Starts two machines with the same bucket, store and origin. */
async function startMachines(t: Test, environment: Readonly<Record<string, string>> = {}) {
  Object.assign(process.env, variables);
  const bucket = await startTestS3(t);
  const origin = await startTestOrigin(t);
  const settings = {
    SERVICE_SHARED_CACHE_URL: bucket.url,
    // A busy test machine can exceed the default of 300 ms.
    SERVICE_SHARED_CACHE_TIMEOUT_MS: '10000',
    ...environment,
  };
  const first = await startFrontEnd(t, { ...settings, SERVICE_DISK_CACHE_BYTES: '1000000000' });
  const second = await startFrontEnd(t, { ...settings, SERVICE_DISK_CACHE_BYTES: '1000000000' });
  const { project, store } = first;
  const get = async ({ url }: { readonly url: string }, query = '') => {
    const target = `/img/${origin.url}${sourcePath}?project=${project}&fmt=png${query}`;
    const response = await fetch(url + target);
    const body = await response.arrayBuffer();
    t.equal(response.status, 200, Buffer.from(body).toString('latin1', 0, 200));
    const { data } = await sharp(body).raw().toBuffer({ resolveWithObject: true });
    const header = (name: string) => response.headers.get(name);
    return { version: data[0], tier: header('x-cache'), header };
  };
  const publish = async (version: number) => origin.serve(sourcePath, await createPicture(version));
  const fetches = () => origin.requests.get(sourcePath) ?? 0;
  const stored = (count: number) => until(`${count} objects`, () => bucket.objects.size === count);
  await publish(1);
  return { bucket, first, second, project, store, get, publish, fetches, stored };
}

t.test("reads another machine's image", async (t) => {
  const { bucket, first, second, project, get, fetches, stored } = await startMachines(t);
  t.match(await get(first), { version: 1, tier: 'miss' });
  await stored(1);
  const [key = ''] = bucket.objects.keys();
  t.match(
    key,
    new RegExp(`^pre fix/${project}/[0-9a-f]{16}/[0-9a-f]{32}-0-f[0-9a-f]{4}-[0-9a-f]{32}$`),
  );
  const shared = await get(second);
  t.match(shared, { version: 1, tier: 'shared' });
  t.match(shared.header('server-timing'), /^cache;desc=shared/);
  t.match(await get(second), { version: 1, tier: 'memory' });
  t.equal(fetches(), 1);
  t.equal(bucket.requests.filter((line) => line.startsWith('PUT')).length, 1);

  bucket.objects.set(key, { body: Buffer.from('damaged'), modifiedAt: 0 });
  t.match(await get(second, '&v=2'), { tier: 'miss' }, 'another version is another image');
});

eachHttpServer('ignores responses that another writer puts into the bucket', async (t, server) => {
  const { bucket, first, second, get } = await startMachines(t, server.environment);
  const body = Buffer.from('<script>alert(document.domain)</script>');
  const page = { body, etag: entityTag(body) };
  const forgeries = [
    { ...page, contentType: 'text/html' },
    { contentType: 'text/html\r\nset-cookie: session=stolen' },
    page,
    {},
  ];
  for (const [v, changes] of forgeries.entries()) {
    await get(first, `&v=${v}`);
    await until('it is stored', () => bucket.objects.size === v + 1);
    const [key, object] = [...bucket.objects].at(-1) ?? ['', { body: Buffer.alloc(0) }];
    const name = key.slice(key.lastIndexOf('/') + 1);
    const file = object.body.subarray(object.body.indexOf('IMGCACH'));
    const forged = { ...decodeFile(name, file), ...changes } as Image;
    const forgedFile = Buffer.concat(encodeFile(name, forged));
    const before = object.body.subarray(0, object.body.length - file.length);
    // The unchanged image lacks an authentication code.
    const sent = v === 3 ? [forgedFile] : [before, forgedFile];
    const replacement = { body: Buffer.concat(sent), modifiedAt: 0 };
    bucket.objects.set(key, replacement);
    const { version, tier, header } = await get(second, `&v=${v}`);
    t.match({ version, tier }, { version: 1, tier: 'miss' });
    t.equal(header('content-type'), 'image/png');
    t.equal(header('set-cookie'), null);
    await until('it is replaced', () => bucket.objects.get(key) !== replacement);
    const { status } = await fetch(`${second.url}/api/health`);
    t.equal(status, 200);
  }
});

t.test('leaves no old image on any machine after a purge', async (t) => {
  const { first, second, project, store, get, publish, stored } = await startMachines(t);
  await get(first);
  await stored(1);
  await publish(2);
  await store.projects.purge(project, null);
  await until('the new image is there', async () => (await get(second)).version === 2);
  await until('the new image is there', async () => (await get(first)).version === 2);
});

t.test(
  'delays an image by at most the timeout on a silent bucket, and reports no error',
  async (t) => {
    const { bucket, first, get } = await startMachines(t, {
      SERVICE_SHARED_CACHE_TIMEOUT_MS: '100',
    });
    bucket.handler = silent;
    const images = 8;
    for (let version = 0; version < images; version += 1) {
      t.match(await get(first, `&v=${version}`), { version: 1, tier: 'miss' });
    }
    const reads = bucket.requests.filter((line) => line.startsWith('GET'));
    // On a busy machine the last images take so long that a probe is due.
    t.ok(reads.length > 0 && reads.length < images, 'then it is no longer read');
    const warnings = first.log.filter(({ msg }) => msg.includes('reads suspended'));
    t.match(warnings, [{ cause: 'no response within the timeout' }]);
    const health = await fetch(`${first.url}/api/health`);
    t.equal(health.status, 200);
  },
);

t.test('renders changed sources once for all machines', async (t) => {
  const forward = advanceDate(t);
  const { bucket, first, second, project, store, get, publish, stored } = await startMachines(t);
  await store.projects.setFreshness(project, { sourceAge: 60, browserAge: null });
  await get(first);
  await stored(1);
  t.match(await get(second), { version: 1, tier: 'shared' }, 'a new machine renders no image');
  await publish(2);
  forward(61_000);
  await until('one machine has the new image', async () => (await get(second)).version === 2);
  const writes = () => bucket.requests.filter((line) => line.startsWith('PUT')).length;
  await until('it is stored', () => writes() === 2);
  await until('the other one has it', async () => {
    const { version, tier } = await get(first);
    if (version === 2) t.equal(tier, 'shared');
    return version === 2;
  });
});
