import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { cdnProjectTag } from '../../server/image/caching.ts';
import { projectCollections } from '../../store/projects.ts';
import { more } from '../extended.ts';
import { startTestS3, variables } from '../pool/s3/server.ts';
import { type StoreLink, storeCommand, storeLink } from '../server/store-link.ts';
import { until } from '../until.ts';
import { hookSecret, startReceiver } from '../worker/receiver.ts';
import { type Control, startControl } from './control/control.ts';
import { held } from './held-reply.ts';
import { picture, startTestOrigin } from './origin.ts';
import { countImages, type Service, startService } from './service.ts';
import { startWorker } from './worker/worker.ts';

/** Purges must take effect within this time in ms. */
const effectiveWithinMs = 2_000;

function listFiles({ dataDir }: Service) {
  const folder = join(dataDir, 'cache', 'files');
  // The service creates the folder with the first file.
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile());
}

/** Returns the number of a project's documents by collection. */
async function countDocuments(
  { other }: StoreLink,
  project: string,
): Promise<Record<string, number>> {
  const counts = projectCollections.map(async ({ name, ofProject }) => [
    name,
    await other.collection(name).countDocuments(ofProject(project)),
  ]);
  return Object.fromEntries(await Promise.all(counts));
}

const none = Object.fromEntries(projectCollections.map(({ name }) => [name, 0]));

/** Adds a document of the project to each collection. */
async function fill({ call, issue, store }: Control, project: string): Promise<void> {
  const on = `/projects/${project}`;
  const { status } = await call('PUT', `${on}/presets/card`, { json: { parameters: { w: 9 } } });
  t.equal(status, 200);
  await issue(project, 'write');
  const source = { src: 'http://127.0.0.1/a.jpg' };
  t.equal((await call('POST', `${on}/prewarm`, { json: source })).status, 202);
  t.equal((await call('POST', `${on}/purge`, { json: { all: true } })).status, 202);
  const day = { project, date: '2026-11-20' };
  await store.usage.write([{ ...day, writer: 'a', counts: { memory: 1 } }]);
}

t.test('deletes a project', async (t) => {
  const bucket = await startTestS3(t);
  const link = await storeLink(t);
  const receiver = await startReceiver(t);
  const environment = {
    SERVICE_MONGODB_URL: link.url,
    SERVICE_SHARED_CACHE_URL: bucket.url,
    ...variables,
    SERVICE_POOL_THREADS: '1',
    SERVICE_PURGE_HOOK_URL: `${receiver.url}/hook`,
    SERVICE_HOOK_SECRET: hookSecret,
  };
  const control = await startControl(t, { ...environment, SERVICE_PROCESSES: '2' });
  const { call, service } = control;
  const machines = [service, await startService(t, { environment })];
  await startWorker(t, service);
  const origin = await startTestOrigin(t);
  origin.serve('/a.jpg', await picture(40, 30));

  await t.test('removes it from every process, memory, disk, the bucket and the CDN', async (t) => {
    const project = await control.project();
    const image = countImages(origin, project)('/a.jpg', 'fmt=png');
    const get = async ({ url }: Service) => {
      const askedAt = performance.now();
      const response = await fetch(url + image, { headers: { connection: 'close' } });
      await response.arrayBuffer();
      const [pid = ''] = response.headers.get('x-request-id')?.split('-') ?? [];
      return { status: response.status, pid, tier: response.headers.get('x-cache'), askedAt };
    };
    const everywhere = async (fits: (answer: Awaited<ReturnType<typeof get>>) => boolean) => {
      for (const machine of machines) {
        const pids = new Set<string>();
        await until('every process answers so', async () => {
          const answer = await get(machine);
          if (fits(answer)) pids.add(answer.pid);
          return machine.frontEnds().every((pid) => pids.has(pid.toString(36)));
        });
      }
    };
    await everywhere(({ tier }) => tier === 'memory');
    for (const machine of machines) await until('a file', () => listFiles(machine).length > 0);
    await until('an object', () => bucket.objects.size > 0);
    await fill(control, project);
    const slow = held(await picture(40, 30));
    origin.serve('/slow.jpg', slow.reply);
    const late = fetch(machines[1]?.url + countImages(origin, project)('/slow.jpg'));
    await until('it is fetched', () => slow.waiting > 0);
    t.equal((await call('DELETE', `/projects/${project}?force=true`)).status, 204);
    const deletedAt = performance.now();
    t.same(await countDocuments(link, project), none);
    await everywhere(({ status, askedAt }) => {
      const ms = askedAt - deletedAt;
      if (ms > effectiveWithinMs && status !== 404) t.fail(`${status} after ${ms} ms`);
      return status === 404;
    });
    slow.release();
    t.equal((await late).status, 404, 'also to a request that was in progress');
    for (const machine of machines) await until('no file', () => listFiles(machine).length === 0);
    await until('no object', () => bucket.objects.size === 0);
    const tags = [cdnProjectTag(project)];
    const isDeletion = ({ body }: (typeof receiver.received)[number]) => body.tags.length === 1;
    // Expect one call for the purge and one for the deletion.
    await until('the calls', () => receiver.received.filter(isDeletion).length === 2);
    t.same(
      receiver.received.map(({ body }) => body.tags),
      [tags, tags],
    );
  });

  await t.test('removes its prewarming on request', async (t) => {
    const project = await control.project();
    const other = await control.project();
    const source = held(await picture(40, 30));
    origin.serve('/held.jpg', source.reply);
    const on = `/projects/${project}`;
    const sources = Array.from({ length: 10 }, (_, i) => `${origin.url}/held.jpg?${i}`);
    t.equal((await call('POST', `${on}/prewarm`, { json: { sources } })).status, 202);
    await until('it runs', () => source.waiting > 0);
    t.match(await call('DELETE', on), {
      status: 409,
      body: { message: /: 10 sources are not finished/ },
    });
    t.equal((await call('GET', on)).status, 200, 'a refused deletion changes nothing');
    t.equal((await call('DELETE', `${on}?force=true`)).status, 204);
    t.same(await countDocuments(link, project), none);
    await until('it is aborted', () => source.waiting === 0);

    origin.serve('/later.jpg', await picture(40, 30));
    const json = { src: `${origin.url}/later.jpg` };
    t.equal((await call('POST', `/projects/${other}/prewarm`, { json })).status, 202);
    await until('its prewarming ends, so that it can be deleted', async () => {
      const { status } = await call('DELETE', `/projects/${other}`);
      return status === 204;
    });
    t.ok(origin.requests.has('/later.jpg'), 'the later source is prewarmed');
    const requested = [...origin.requests.keys()].filter((path) => path.startsWith('/held.jpg'));
    t.ok(requested.length < sources.length, `${requested.length} of the sources were requested`);
  });
});

t.test('completes or does not start a deletion when all processes die', async (t) => {
  const link = await storeLink(t);
  const environment = { SERVICE_MONGODB_URL: link.url };
  const control = await startControl(t, environment);
  const { port, dataDir, environment: same } = control.service;
  const steps: readonly (readonly [name: string, collection: string])[] = [
    ['findAndModify', 'projects'],
    ...(more ? (['keys', 'jobs', 'prewarms', 'purges'] as const) : []).map(
      (name) => ['delete', name] as const,
    ),
    ['delete', 'usage'],
  ];
  let { service } = control;
  for (const [name, collection] of steps) {
    const project = await control.project();
    await fill(control, project);
    const before = await countDocuments(link, project);
    const stopped = link.holdAt(storeCommand(name, collection), project);
    const deletion = control.call('DELETE', `/projects/${project}?force=true`).catch(() => null);
    await stopped;
    await service.end('SIGKILL');
    t.equal(await deletion, null, 'it has no response');
    await until('all have ended', () => service.frontEnds().length === 0);
    await link.cut();
    link.release();
    await link.mend();
    service = await startService(t, { dataDir, port, environment: same });

    const answer = await control.call('GET', `/projects/${project}`);
    if (name === 'findAndModify') {
      t.equal(answer.status, 200);
      t.same(await countDocuments(link, project), before, 'nothing of it is gone');
      t.equal((await control.call('DELETE', `/projects/${project}?force=true`)).status, 204);
    } else {
      t.equal(answer.status, 404, `before ${name} ${collection}`);
      t.equal((await control.call('DELETE', `/projects/${project}`)).status, 404);
      await until('the rest is gone', async () => {
        const left = Object.values(await countDocuments(link, project));
        return left.every((count) => count === 0);
      });
    }
  }
});
