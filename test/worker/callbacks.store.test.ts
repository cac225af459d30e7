import { createServer } from 'node:http';
import t, { type Test } from 'tap';
import { projectWebhookSecret } from '../../contract/secrets.ts';
import { type CallbackJob, Callbacks } from '../../store/callbacks.ts';
import { Prewarms } from '../../store/prewarms.ts';
import { Projects } from '../../store/projects.ts';
import { PurgeRepository, purgeEffectiveMs } from '../../store/purges.ts';
import { webhookConcurrency } from '../../worker/webhooks.ts';
import { listen } from '../listen.ts';
import { createGuard } from '../pool/source/origin.ts';
import { storeLink } from '../server/store-link.ts';
import { prewarmCall, prewarmJob } from '../store/prewarm-job.ts';
import { newProject } from '../store/projects.ts';
import { until } from '../until.ts';
import { localGuard, startQueue, workerStore } from './queue.ts';
import { hookSecret, startReceiver } from './receiver.ts';

const projectId = 'prj_0123456789abcdef';
const webhooks = {
  purgeHookUrl: null,
  hookSecrets: [hookSecret],
  userAgent: 'test',
  guard: localGuard,
};
const secret = projectWebhookSecret(hookSecret, projectId);

/** Opens a queue, and a project with callbacks for its calls. */
async function startCallbacks(t: Test) {
  const queue = await startQueue(t);
  const projects = new Projects(queue.db);
  await projects.create({ ...newProject, id: projectId });
  const purges = new PurgeRepository(queue.db);
  /** Adds an effective purge. */
  const addPurge = async (id: string, project = projectId) => {
    await purges.confirm(id, { projectId: project, sourceCount: 1, hook: null });
    const createdAt = new Date(Date.now() - purgeEffectiveMs);
    await queue.db
      .collection<{ _id: string }>('purges')
      .updateOne({ _id: `${project}:${id}` }, { $set: { createdAt } });
  };
  return { ...queue, projects, addPurge };
}

const createJob = (source: string) => prewarmJob({ projectId, source });

t.test('sends a callback when its prewarming ends', async (t) => {
  const { db, listener, consume, jobs } = await startCallbacks(t);
  const receiver = await startReceiver(t, secret);
  const prewarms = new Prewarms(db);
  let release = () => {};
  listener.answer((target) =>
    target.includes('missing')
      ? [404, 'not there']
      : (_, response) => {
          release = () => response.writeHead(204).end();
        },
  );
  const sources = ['https://a.example/1', 'https://a.example/missing'];
  const url = `${receiver.url}/ended?of=me`;
  const id = await prewarms.add(prewarmCall(sources.map(createJob), url));
  const consumer = await consume({ webhooks });
  const asked = await until('it was requested too early', async () =>
    (await jobs()).find(({ name, lastFinishedAt, lockedAt }) => {
      return name === 'callback' && lastFinishedAt !== null && lockedAt === null;
    }),
  );
  t.match(asked, { failCount: null, failedAt: null, nextRunAt: Date });
  const { jobs: shown } = await consumer.agenda.queryJobs({ name: 'callback' });
  t.match(shown, [{ state: /scheduled|queued|running/ }], 'the workbench shows no failure');
  t.equal(receiver.received.length, 0);
  const delivery = async () => (await new Callbacks(db).latest(projectId))[0];
  t.match(await delivery(), {
    subject: 'prewarm',
    callId: id,
    url: `${receiver.url}/ended`,
    status: 'waiting',
    failureCount: 0,
    reason: null,
  });
  await until('the request', () => listener.received.length === 2);
  release();
  const { path, body } = await until('the callback', () => receiver.received[0]);
  t.equal(path, '/ended?of=me');
  t.match(body, {
    type: 'prewarm.failed',
    timestamp: String,
    data: { projectId, id, status: 'failed', sources: { done: 1, failed: 1 }, sourceCount: 2 },
  });
  t.match(body.data.failures, [{ source: sources[1], reason: /404 not from the service/ }]);
  await until('it is done', async () => (await delivery())?.status === 'done');
  t.match(await delivery(), { failureCount: 0, reason: null, endedAt: Date });
});

t.test("sends a purge's callback, and fails a callback for a deleted call", async (t) => {
  const { db, consume, ended, addPurge } = await startCallbacks(t);
  const receiver = await startReceiver(t, secret);
  const callbacks = new Callbacks(db);
  const add = (id: string) =>
    callbacks.add({ projectId, url: `${receiver.url}/`, subject: 'purge', id });
  await addPurge('7');
  await add('7');
  await add('8');
  await consume({ webhooks });
  const jobs = await ended();
  t.match(
    receiver.received.map(({ body }) => body),
    [{ type: 'purge.done', data: { id: '7', sourceCount: 1 } }],
  );
  const forgotten = jobs.find(({ data }) => (data as CallbackJob).id === '8');
  t.equal(forgotten?.['failReason'], 'The record of this webhook has expired.');
  t.match(await callbacks.latest(projectId), [
    { callId: '8', status: 'failed', failureCount: 1, reason: forgotten?.['failReason'] },
    { callId: '7', status: 'done', failureCount: 0, reason: null },
  ]);
  t.same(await callbacks.latest('prj_0000000000000000'), []);
});

t.test('sends no callback for a deleted project', async (t) => {
  const { db, consume, ended, projects, addPurge } = await startCallbacks(t);
  const receiver = await startReceiver(t, secret);
  await projects.delete(projectId);
  // Simulate calls that started before the deletion.
  await addPurge('7');
  const url = `${receiver.url}/`;
  await new Callbacks(db).add({ projectId, url, subject: 'purge', id: '7' });
  await consume({ webhooks });
  t.match(await ended(), [{ failReason: 'The project no longer exists.' }]);
  t.equal(receiver.received.length, 0);
});

t.test('sends no callback to an address that sources cannot have', async (t) => {
  const { db, consume, jobs, addPurge } = await startCallbacks(t);
  const receiver = await startReceiver(t, secret);
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
  const guard = createGuard([], { resolve });
  await addPurge('7');
  const job: Omit<CallbackJob, 'url'> = { projectId, subject: 'purge', id: '7' };
  const urls = [receiver.url, `http://public.example:${receiver.port}`];
  for (const url of urls) await new Callbacks(db).add({ ...job, url });
  await consume({ webhooks: { ...webhooks, guard } });
  const failed = await until('both have failed', async () => {
    const all = await jobs();
    return all.every(({ failedAt, lockedAt }) => failedAt !== null && lockedAt === null) && all;
  });
  const reasons = failed.map(({ failReason }) => String(failReason));
  t.ok(reasons.every((reason) => /not public/.test(reason)));
  t.match(await new Callbacks(db).latest(projectId), [
    { status: 'waiting', reason: /not public/, endedAt: Date },
    { status: 'waiting' },
  ]);
  t.equal(receiver.received.length, 0);
});

t.test('limits waiting callbacks per project', async (t) => {
  const { db } = await startQueue(t);
  const callbacks = new Callbacks(db, 2);
  const add = (projectId: string) =>
    callbacks.add({ projectId, url: 'https://a.example/', subject: 'purge', id: '1' });
  await add(projectId);
  await add('prj_another000000');
  t.equal(await callbacks.hasRoom(projectId), true);
  await add(projectId);
  t.equal(await callbacks.hasRoom(projectId), false);
  t.equal(await callbacks.hasRoom('prj_another000000'), true);
});

t.test('does not delay other projects or receivers for a hanging receiver', async (t) => {
  const { db, consume, jobs, projects, addPurge } = await startCallbacks(t);
  const [b, c] = ['prj_bbbbbbbbbbbbbbbb', 'prj_cccccccccccccccc'];
  for (const id of [b, c]) await projects.create({ ...newProject, id });
  const hanging = { url: `http://127.0.0.1:${await listen(t, createServer())}` };
  const own = await startReceiver(t, secret);
  const other = await startReceiver(t, projectWebhookSecret(hookSecret, b));
  const callbacks = new Callbacks(db);
  const add = async (project: string, number: number, { url }: { readonly url: string }) => {
    const id = String(number);
    await addPurge(id, project);
    await callbacks.add({ projectId: project, url, subject: 'purge', id });
  };
  for (let number = 1; number <= 40; number += 1) await add(projectId, number, hanging);
  for (let number = 1; number <= 5; number += 1) await add(c, number, hanging);
  await add(projectId, 41, own);
  await add(b, 1, other);
  await consume({ webhooks });
  await until('the other two', () => other.received.length + own.received.length === 2);
  const late = (await jobs()).filter(({ data }) => (data as CallbackJob).url === hanging.url);
  t.notMatch(JSON.stringify(late), /not answer within/, 'no request has timed out yet');
  const running = late.filter(({ lockedAt }) => lockedAt !== null);
  const { receiver } = webhookConcurrency.callback;
  t.ok(running.length <= receiver, `${running.length} requests to one receiver`);
});

t.test('continues prewarming over a slow store while many callbacks are due', async (t) => {
  const link = await storeLink(t);
  const { add, consume, listener } = await startQueue(t, link.other);
  const callbacks = new Callbacks(link.other);
  const url = 'https://a.example/';
  for (let n = 1_000; n < 1_100; n += 1) {
    await callbacks.add({ projectId: `prj_00000000000000${n}`, url, subject: 'purge', id: '1' });
  }
  const sources = Array.from({ length: 8 }, (_, n) => `https://a.example/${n}`);
  await add(sources);
  link.slow(15);
  await consume({ store: workerStore(link.db) });
  await until('the prewarming', () => listener.received.length === sources.length);
});
