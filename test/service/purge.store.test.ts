// Own process: takes half a minute, mostly waiting.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import t, { type Test } from 'tap';
import { projectWebhookSecret } from '../../contract/secrets.ts';
import { sourceTag } from '../../pool/inputs.ts';
import { cdnProjectTag, cdnSourceTag } from '../../server/image/caching.ts';
import { purgeGroup } from '../../store/generations.ts';
import { Projects } from '../../store/projects.ts';
import { more } from '../extended.ts';
import { startTestS3, variables } from '../pool/s3/server.ts';
import { storeLink } from '../server/store-link.ts';
import { until } from '../until.ts';
import { hookSecret, startReceiver } from '../worker/receiver.ts';
import { type Control, locatedPath, rootKey, startControl } from './control/control.ts';
import { answeredBy, earlierRequestsReceived, held } from './held-reply.ts';
import { createPicture, startTestOrigin } from './origin.ts';
import { isAlive, json, startService } from './service.ts';
import { startWorker } from './worker/worker.ts';

/** Purges must take effect within this time in ms. */
const effectiveWithinMs = 2_000;

async function startPurging(t: Test, environment: Readonly<Record<string, string>> = {}) {
  return purging(t, await startControl(t, { ...twoProcesses, ...environment }));
}

const twoProcesses = { SERVICE_PROCESSES: '2', SERVICE_POOL_THREADS: '1' };

/** Creates a project with an origin, and the functions that a test needs. */
async function purging(t: Test, control: Control) {
  const origin = await startTestOrigin(t);
  const project = await control.project();
  const url = (path: string) => origin.url + path;
  const publish = async (path: string, version: number) =>
    origin.serve(path, await createPicture(version));
  const target = (path: string, query = '') =>
    `${control.service.url}/img/${url(path)}?project=${project}&fmt=png${query}`;
  /** Requests an image, and returns its version, its cache tier and the responding process. */
  const ask = async (path: string, query = '') => {
    const response = await fetch(target(path, query), { headers: { connection: 'close' } });
    const body = await response.arrayBuffer();
    if (response.status !== 200) throw new Error(Buffer.from(body).toString());
    const { data } = await sharp(body).raw().toBuffer({ resolveWithObject: true });
    const tier = response.headers.get('x-cache');
    return { version: data[0], tier, pid: answeredBy(response.headers) };
  };
  /** Location of the last purge. */
  let location = '';
  const progress = async () => (await control.call('GET', location)).body.purge;
  const purge = async (input: object) => {
    const path = `/projects/${project}/purge`;
    const answer = await control.call('POST', path, { json: input });
    const { status, body } = answer;
    location = locatedPath(answer);
    t.match(location.replace(`/projects/${project}/purges/`, ''), /^\d+$/);
    t.match({ status, body }, { status: 202, body: { purge: { accepted: true } } });
    return body.purge.sourceCount;
  };
  /** Sends requests until every process has delivered from memory. */
  const warm = async (path: string, query = '') => {
    const pids = new Set<number>();
    await until('every process has it in memory', async () => {
      const { tier, pid } = await ask(path, query);
      if (tier === 'memory') pids.add(pid);
      return control.service.frontEnds().every((frontEnd) => pids.has(frontEnd));
    });
  };
  /**
   * Sends requests until every process has delivered a version, and checks that no older version
   * follows.
   */
  const becomes = async (path: string, version: number, query = '') => {
    const answeredAt = performance.now();
    const pids = new Set<number>();
    await until(`version ${version} of ${path}`, async () => {
      const askedAt = performance.now();
      const image = await ask(path, query).catch(() => null);
      if (image?.version === version) pids.add(image.pid);
      else if (image !== null && askedAt - answeredAt > effectiveWithinMs) {
        t.fail(`version ${image.version} was sent ${askedAt - answeredAt} ms after the purge`);
      }
      return control.service.frontEnds().every((frontEnd) => pids.has(frontEnd));
    });
  };
  return { control, origin, project, url, publish, target, ask, purge, progress, warm, becomes };
}

/** Returns the keys of the images on disk. */
function cachedKeys({ service }: Control): string[] {
  const folder = join(service.dataDir, 'cache', 'files');
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
}

/** Returns true if the key belongs to an image rendered before the first purge. */
const isFirst = (key: string): boolean => key.split('-')[1] === '0';

t.test('purges in two processes', async (t) => {
  const control = await startControl(t, twoProcesses);
  await t.test('does not deliver bytes from a fetch before the purge', async (t) => {
    const { origin, url, publish, ask, purge } = await purging(t, control);
    const source = held(await createPicture(1));
    origin.serve('/slow.png', source.reply);
    // Leaders and followers, in both processes.
    const responses = Array.from({ length: 12 }, () => ask('/slow.png'));
    await until('the fetch has started', () => source.waiting > 0);
    await earlierRequestsReceived(control.service);
    await publish('/slow.png', 2);
    await purge({ sources: [url('/slow.png')] });
    const [first] = await Promise.all([ask('/slow.png'), earlierRequestsReceived(control.service)]);
    t.equal(first.version, 2, 'a new request does not join it');
    source.release();
    const versions = (await Promise.all(responses)).map(({ version }) => version);
    t.same(versions, Array(12).fill(2));
  });

  await t.test('delivers an image although every render meets a purge', async (t) => {
    const { origin, url, ask, purge } = await purging(t, control);
    let version = 0;
    origin.serve('/busy.png', async (_, response) => {
      version += 1;
      const bytes = await createPicture(version);
      await purge({ sources: [url('/busy.png')] });
      response.end(bytes);
    });
    // On a busy machine a render and its purge can take longer than the two seconds.
    const image = await until('an image', () => ask('/busy.png').catch(() => null));
    t.ok(Number(image?.version) <= version);
  });

  await t.test("purges all images with a watermark by the watermark's URL", async (t) => {
    const { project, origin, url, ask, purge, warm, becomes } = await purging(t, control);
    const red = (r: number) =>
      sharp({ create: { width: 10, height: 10, channels: 3, background: { r, g: 0, b: 0 } } })
        .png()
        .toBuffer();
    origin.serve('/black.png', await red(0));
    origin.serve('/mark.png', await red(100));
    const settings = {
      watermarkEnabled: true,
      watermarkUrl: url('/mark.png'),
      watermarkOpacity: 100,
      watermarkScale: 100,
      watermarkMargin: 0,
      watermarkPosition: 'northwest',
    };
    const { status } = await control.call('PATCH', `/projects/${project}/settings`, {
      json: settings,
    });
    t.equal(status, 200);
    await warm('/black.png', '&fit=fill&h=10&w=10');
    t.equal((await ask('/black.png', '&fit=fill&h=10&w=10')).version, 100);
    origin.serve('/mark.png', await red(200));
    t.equal(await purge({ sources: [url('/mark.png')] }), 1);
    await becomes('/black.png', 200, '&fit=fill&h=10&w=10');
    t.equal(origin.requests.get('/black.png'), 2);
  });

  await t.test('changes nothing on invalid purges', async (t) => {
    const { project, url } = await purging(t, control);
    const long = (index: number) => `${url('/')}${index}-`.padEnd(8_192, 'x');
    const post = (json: object, key = rootKey, id = project) =>
      control.call('POST', `/projects/${id}/purge`, { json, key });
    for (const [input, message] of [
      [{}, /must have sources or all/],
      [{ all: false }, /all must be true/],
      [{ all: true, sources: [url('/a')] }, /must not have sources with all/],
      [
        { all: true, callbackUrl: 'https://a.example/' },
        /callbackUrl needs SERVICE_HOOK_SECRET, which only the operator can set/,
      ],
      [{ sources: [] }, /at least 1 item/],
      [{ sources: Array(101).fill(url('/a')) }, /at most 100 items/],
      [{ sources: ['https://other.example/a'] }, /sources\[0\] .*allowed host/],
      [{ sources: [url('/a'), 'ftp://127.0.0.1/a'] }, /sources\[1\] .*absolute http or https URL/],
      [{ sources: [`${long(0)}x`] }, /8192/],
    ] as const) {
      t.match(await post(input), { status: 400, body: { code: 'invalid_request', message } });
    }
    t.match(await post({ all: true }, rootKey, 'prj_0000000000000000'), { status: 404 });
    const reader = await control.issue(project, 'read');
    t.match(await post({ all: true }, reader), { status: 403 });
    t.equal((await control.store.projects.find(project))?.generations, undefined);
    const sources = Array.from({ length: 100 }, (_, index) => long(index));
    t.match(await post({ sources }), { status: 202, body: { purge: { sourceCount: 100 } } });
    const before = (await control.store.projects.find(project))?.generations?.last ?? 0;
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => post({ sources: [url('/a')] })),
    );
    for (const { status } of answers) t.equal(status, 202, 'concurrent purges all succeed');
    const after = (await control.store.projects.find(project))?.generations?.last ?? 0;
    t.ok(after >= before + 10, 'each with a number of its own');
  });
});

t.test('keeps most images when a purge concerns other sources', async (t) => {
  const { control, origin, project, url, publish, ask, purge, warm } = await startPurging(t, {
    SERVICE_PROCESSES: '1',
  });
  await publish('/kept.png', 1);
  await warm('/kept.png');
  const own = purgeGroup(sourceTag(new URL(url('/kept.png'))));
  const isOther = (source: string) => purgeGroup(sourceTag(new URL(source))) !== own;
  for (let call = 0; call < 50; call += 1) {
    const sources = Array.from({ length: 100 }, (_, index) => url(`/${call}-${index}.png`));
    await purge({ sources: sources.filter(isOther) });
    t.match(await ask('/kept.png'), { version: 1, tier: 'memory' });
  }
  t.equal(origin.requests.get('/kept.png'), 1, 'it was fetched once');
  const { generations } = (await control.store.projects.find(project)) ?? {};
  t.ok(Object.keys(generations?.groups ?? {}).length <= 256);
});

t.test('purges the images of a folder and its subfolders', async (t) => {
  const { project, url, publish, ask, purge, warm, becomes, control } = await startPurging(t, {
    SERVICE_PROCESSES: '2',
  });
  const inside = ['/shop/a.png', '/shop/x/y/b.png', '/shop/'];
  const outside = ['/kept.png', '/shopping/a.png', '/x/shop/a.png'];
  const all = [...inside, ...outside];
  for (const path of all) await publish(path, 1);
  for (const path of all) await warm(path);
  for (const path of all) await publish(path, 2);
  await purge({ sources: [url('/shop/*')] });
  for (const path of inside) await becomes(path, 2);
  for (const path of outside) t.match(await ask(path), { version: 1, tier: 'memory' }, path);
  const { generations } = (await control.store.projects.find(project)) ?? {};
  t.equal(Object.keys(generations?.groups ?? {}).length, 1, 'one number');

  const deepest = '/1/2/3/4/5/6/7/';
  await publish(`${deepest}8/a.png`, 1);
  await warm(`${deepest}8/a.png`);
  await publish(`${deepest}8/a.png`, 2);
  const path = `/projects/${project}/purge`;
  const refused = await control.call('POST', path, { json: { sources: [url(`${deepest}8/*`)] } });
  t.match(refused, { status: 400, body: { message: /at most 7 folders deep/ } });
  await purge({ sources: [url(`${deepest}*`)] });
  await becomes(`${deepest}8/a.png`, 2);
  await purge({ sources: [url('/*')] });
  for (const path of outside) await becomes(path, 2);
});

t.test('delivers no old image after processes die during purges', async (t) => {
  const { control, url, publish, purge, warm, becomes } = await startPurging(t, {
    SERVICE_PROCESSES: '4',
  });
  const running = () => control.service.frontEnds().filter(isAlive);
  /** Repeats a purge, because killing a process resets its connections. */
  const repeatedPurge = (input: object) =>
    until('a purge is accepted', () =>
      purge(input).then(
        () => true,
        () => false,
      ),
    );
  await publish('/a.png', 1);
  await warm('/a.png');
  const last = more ? 11 : 4;
  for (let version = 2; version <= last; version += 1) {
    await publish('/a.png', version);
    await until('all processes run', () => running().length === 4);
    const victims = running().slice(0, 2);
    const purged = repeatedPurge({ sources: [url('/a.png')] });
    for (const victim of victims) process.kill(victim, 'SIGKILL');
    await purged;
    await becomes('/a.png', version);
  }

  await until('all processes run', () => running().length === 4);
  const [victim = 0] = running();
  process.kill(victim, 'SIGSTOP');
  await publish('/a.png', last + 1);
  await repeatedPurge({ sources: [url('/a.png')] });
  // A process with a request meanwhile has been killed and replaced.
  if (isAlive(victim)) process.kill(victim, 'SIGCONT');
  await becomes('/a.png', last + 1);
});

// These wait most of the time, each for a separate service.
t.test('completes purges', { jobs: 4 }, async (t) => {
  t.test(
    'replaces the image in every process, in memory and on disk',
    { buffered: true },
    async (t) => {
      const bucket = await startTestS3(t);
      const { control, origin, url, publish, ask, purge, progress, warm, becomes } =
        await startPurging(t, { SERVICE_SHARED_CACHE_URL: bucket.url, ...variables });
      const { service } = control;
      for (const path of ['/a.png', '/b.png']) await publish(path, 1);
      for (const path of ['/a.png', '/b.png'])
        for (const query of ['', '&w=20']) await warm(path, query);
      await until('all are on the disk', () => cachedKeys(control).length === 4);
      await until('all are in the bucket', () => bucket.objects.size === 4);
      for (const path of ['/a.png', '/b.png']) await publish(path, 2);
      const fetched = origin.requests.get('/b.png');

      t.equal(await purge({ sources: [url('/a.png'), `${url('/a.png')}#again`] }), 1);
      await becomes('/a.png', 2);
      await becomes('/a.png', 2, '&w=20');
      t.match(await ask('/b.png'), { version: 1, tier: 'memory' }, 'images of other sources stay');
      t.equal(origin.requests.get('/b.png'), fetched);
      await until('it is done', async () => (await progress()).status === 'done');
      t.match(await progress(), { sourceCount: 1, hook: { status: 'none' } });
      const digits = sourceTag(new URL(url('/a.png'))).slice(0, 16);
      const isOld = (key: string) => key.slice(16, 32) === digits && isFirst(key);
      await until('their bytes are gone', () => cachedKeys(control).filter(isOld).length === 0);
      await until('they are gone from the bucket', () =>
        [...bucket.objects.keys()].every(
          (object) => !isOld(object.slice(object.lastIndexOf('/') + 1)),
        ),
      );
      t.ok(bucket.objects.size >= 2, 'images of other sources stay');

      await publish('/a.png', 3);
      await service.admin('purge', (await control.store.projects.list())[0]?._id ?? '', '--all');
      await becomes('/a.png', 3);
      await becomes('/b.png', 2);

      await publish('/a.png', 4);
      await purge({ sources: [url('/a.png')] });
      await becomes('/a.png', 4);
      await until('earlier generations are deleted too', () => {
        const ofSource = cachedKeys(control).filter((key) => key.slice(16, 32) === digits);
        return new Set(ofSource.map((key) => key.split('-')[1])).size === 1;
      });
    },
  );

  t.test(
    'ends a purge although its project gets no request, even after a kill',
    { buffered: true },
    async (t) => {
      const bucket = await startTestS3(t);
      const link = await storeLink(t);
      const { control, project, url, publish, warm, purge, progress } = await startPurging(t, {
        SERVICE_MONGODB_URL: link.url,
        SERVICE_SHARED_CACHE_URL: bucket.url,
        ...variables,
      });
      const { dataDir, port, environment } = control.service;
      await publish('/a.png', 1);
      await warm('/a.png');
      await until('it is in the bucket', () => bucket.objects.size === 1);
      await until('it is on the disk', () => cachedKeys(control).length === 1);
      // Keep the purge from the primary.
      control.service.process.kill('SIGSTOP');
      await purge({ sources: [url('/a.png')] });
      await control.service.end('SIGKILL');
      await until('all have ended', () => control.service.frontEnds().length === 0);
      t.equal(cachedKeys(control).length, 1);

      const again = await startService(t, { dataDir, port, environment });
      await until('it is done', async () => (await progress()).status === 'done');
      // An effective purge counts as done; the service deletes files later.
      await until('it is gone from the disk', () => cachedKeys(control).length === 0);
      await until('it is gone from the bucket', () => bucket.objects.size === 0);

      await publish('/a.png', 2);
      await warm('/a.png');
      await until('it is on the disk', () => cachedKeys(control).length === 1);
      await again.admin('purge', project, '--all');
      await until(
        'a purge of another process is found in the store',
        () => cachedKeys(control).length === 0,
      );
    },
  );

  t.test('delays images, but no purge, with a slow store', { buffered: true }, async (t) => {
    const link = await storeLink(t);
    const { control, project, url, publish, warm, becomes } = await startPurging(t, {
      SERVICE_MONGODB_URL: link.url,
    });
    const elsewhere = new Projects(link.other);
    await publish('/a.png', 1);
    await warm('/a.png');
    link.slow(400);
    const health = async () => json(await fetch(`${control.service.url}/api/health`));
    await until('a slow poll', async () => (await health()).checks.projects.status === 'slow');
    for (let version = 2; version <= 4; version += 1) {
      await publish('/a.png', version);
      await elsewhere.purge(project, [sourceTag(new URL(url('/a.png')))]);
      await becomes('/a.png', version);
    }
    t.equal((await health()).status, 'ok');
    link.slow(0);
    await until('the polls', async () => (await health()).checks.projects.status === 'ok');
  });

  t.test(
    'calls the hook for every purge, once no process can send a stale image',
    { buffered: true },
    async (t) => {
      const receiver = await startReceiver(t);
      const { control, project, url, purge, progress } = await startPurging(t, {
        SERVICE_PROCESSES: '1',
        SERVICE_PURGE_HOOK_URL: `${receiver.url}/hook`,
        SERVICE_HOOK_SECRET: hookSecret,
      });
      const { service } = control;
      await startWorker(t, service);
      const toTag = (path: string) => cdnSourceTag(project, new URL(url(path)));
      const secret = projectWebhookSecret(hookSecret, project);
      t.equal(await service.admin('projects', 'webhook-secret', project), secret);
      const client = await startReceiver(t, secret);
      const callbackUrl = `${client.url}/ended`;
      await purge({ sources: [url('/a'), url('/b'), url('/a')], callbackUrl });
      const purgedAt = Date.now();
      const [first] = await until(
        'the first call',
        () => receiver.received.length > 0 && receiver.received,
      );
      t.same(first?.body, { tags: [toTag('/a'), toTag('/b')] });
      t.ok(
        Number(first?.at) - purgedAt > 2_000,
        `${Number(first?.at) - purgedAt} ms after the answer`,
      );

      await until('it is done', async () => (await progress()).status === 'done');
      t.match(await progress(), { hook: { status: 'done' }, sourceCount: 2 });
      const { body } = await until('the callback', () => client.received[0]);
      t.same(body.data, { projectId: project, ...(await progress()) });
      t.equal(body.type, 'purge.done');

      await service.admin('purge', project, url('/c'));
      await service.admin('purge', project, '--all');
      await until('all calls', () => receiver.received.length === 3);
      const bodies = receiver.received.slice(1).map(({ body }) => body.tags);
      t.same(bodies.sort(), [[cdnProjectTag(project)], [toTag('/c')]]);
      for (const input of [{ all: false }, { all: true, callbackUrl: 'http://10.0.0.1/' }]) {
        const path = `/projects/${project}/purge`;
        t.equal((await control.call('POST', path, { json: input })).status, 400);
      }
      const { db } = control.store;
      t.equal(await db.collection('jobs').countDocuments({}), 4, 'and of no other');
      const log = service.log.map((line) => JSON.stringify(line)).join('');
      t.notMatch(log, hookSecret);
    },
  );
});
