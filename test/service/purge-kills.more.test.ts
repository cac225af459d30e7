// Separate file: retrying an unconfirmed hook call takes a minute.
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { cacheFilePath } from '../../pool/cache/disk.ts';
import { sourceTag } from '../../pool/inputs.ts';
import { cdnSourceTag } from '../../server/image/caching.ts';
import { cacheKey } from '../../server/image/key.ts';
import { storeCommand, storeLink } from '../server/store-link.ts';
import { until } from '../until.ts';
import { hookSecret, startReceiver } from '../worker/receiver.ts';
import { startControl } from './control/control.ts';
import { solid, startTestOrigin } from './origin.ts';
import { isAlive, startService } from './service.ts';
import { startWorker } from './worker/worker.ts';

/** Starts a service with processes to kill, a hook, and a source with its version as the width. */
async function startVictims(t: Test) {
  const link = await storeLink(t);
  const receiver = await startReceiver(t);
  const control = await startControl(t, {
    SERVICE_MONGODB_URL: link.url,
    SERVICE_PURGE_HOOK_URL: receiver.url,
    SERVICE_HOOK_SECRET: hookSecret,
  });
  const origin = await startTestOrigin(t);
  const source = `${origin.url}/a.png`;
  const publish = async (version: number) => origin.serve('/a.png', await solid(version, 1, 'red'));
  let { service } = control;
  /** Returns the version of the project's image, or null for an error. */
  const version = async (project: string): Promise<number | null> => {
    const response = await fetch(`${service.url}/img/${source}?project=${project}&fmt=png`);
    const body = Buffer.from(await response.arrayBuffer());
    return response.status === 200 ? body.readUInt32BE(16) : null;
  };
  const purge = (project: string) =>
    control.call('POST', `/projects/${project}/purge`, { json: { sources: [source] } });
  const kill = {
    /** Kills a front end, which the primary replaces. */
    async frontEnd() {
      const [pid = 0] = service.frontEnds();
      process.kill(pid, 'SIGKILL');
      await until('its end', () => !isAlive(pid));
    },
    async primary() {
      await service.end('SIGKILL');
      await until('all have ended', () => service.frontEnds().length === 0);
    },
  };
  const restart = async (): Promise<void> => {
    const { dataDir, port, environment } = service;
    if (!isAlive(Number(service.process.pid)) || service.process.exitCode !== null) {
      service = await startService(t, { dataDir, port, environment });
    }
    await until('a front end', () => service.frontEnds().length === 1);
  };
  return { link, receiver, control, source, publish, version, purge, kill, restart };
}

/** Writes of a purge; the test kills a process before each. null means after the response. */
const steps: readonly (readonly [name: string, texts: readonly string[] | null])[] = [
  ['the queueing of the hook', [storeCommand('insert', 'jobs')]],
  ['the new generation', [storeCommand('findAndModify', 'projects'), 'generations']],
  ['the confirmation of the hook', [storeCommand('update', 'jobs'), 'nextRunAt']],
  ['the record', [storeCommand('insert', 'purges')]],
  ['nothing', null],
];

t.test('loses no purge to a kill at any step', async (t) => {
  const { link, receiver, control, source, publish, version, purge, kill, restart } =
    await startVictims(t);
  const projects: string[] = [];
  for (const victim of ['frontEnd', 'primary'] as const) {
    for (const [name, texts] of steps) {
      const project = await control.project();
      projects.push(project);
      await publish(1);
      await until('the old image', async () => (await version(project)) === 1);
      await publish(2);
      const stopped = texts === null ? null : link.holdAt(...texts);
      const purged = purge(project).catch(() => null);
      await (stopped ?? purged);
      await kill[victim]();
      await link.cut();
      link.release();
      await link.mend();
      await restart();
      const answer = await purged;
      t.equal(answer?.status, texts === null ? 202 : undefined, `${victim}, before ${name}`);

      const [stored] = await link.other
        .collection<{ _id: string; generations?: object }>('projects')
        .find({ _id: project })
        .toArray();
      const isInEffect = stored?.generations !== undefined;
      t.equal(isInEffect, !['the queueing of the hook', 'the new generation'].includes(name));
      if (isInEffect) {
        await until('an image', async () => (await version(project)) !== null);
        t.equal(await version(project), 2, 'the purge is in effect after the restart');
      } else {
        // A process that just lost the store can reject the first call.
        await until('another purge', () =>
          purge(project).then(
            ({ status }) => status === 202,
            () => false,
          ),
        );
        await until('the new image', async () => (await version(project)) === 2);
      }
    }
  }

  // Kill a worker during its hook call: another worker calls the hook again.
  receiver.answer(() => {});
  const worker = await startWorker(t, control.service);
  await until('a call', () => receiver.received.length > 0);
  await worker.end('SIGKILL');
  receiver.answer((response) => response.writeHead(204).end());
  await startWorker(t, control.service);
  for (const project of projects) {
    const tags = [cdnSourceTag(project, new URL(source))];
    await until('its hook is called', () =>
      receiver.received.some(({ body }) => JSON.stringify(body.tags) === JSON.stringify(tags)),
    );
  }
  await until('all purges have ended', async () => {
    const records = await link.other.collection('purges').find().toArray();
    const states = records.map(async ({ _id, projectId }) => {
      const id = String(_id).split(':')[1];
      return (await control.call('GET', `/projects/${projectId}/purges/${id}`)).body.purge.status;
    });
    return (await Promise.all(states)).every((status) => status === 'done');
  });
});

t.test('continues to delete purged files after a kill of the primary', async (t) => {
  const { link, control, source, purge, kill, restart } = await startVictims(t);
  const { dataDir } = control.service;
  const project = await control.project();
  const files = join(dataDir, 'cache');
  const inputs = [{ tag: sourceTag(new URL(source)), folders: [] }] as const;
  const paths = Array.from({ length: 5_000 }, (_, index) =>
    cacheFilePath(files, cacheKey({ project, inputs, generation: 0 }, [index])),
  );
  await kill.primary();
  for (const path of paths) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, 'x');
  }
  await restart();
  t.equal((await purge(project)).status, 202);
  const left = async () => {
    const entries = await readdir(join(files, 'files'), { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).length;
  };
  await until('some are deleted', async () => (await left()) < paths.length);
  await kill.primary();
  t.ok((await left()) > 0, `${await left()} are left`);
  await restart();
  await until('all are deleted', async () => (await left()) === 0);
  t.ok((await link.other.collection('purges').countDocuments()) > 0);
});
