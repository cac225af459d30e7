import { ObjectId } from 'mongodb';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { callbackJobName } from '../../store/jobs.ts';
import { PurgeRepository } from '../../store/purges.ts';
import { WorkerMetrics } from '../../worker/metrics.ts';
import { signedHeaders, webhookBackOff } from '../../worker/webhooks.ts';
import { until } from '../until.ts';
import { localGuard, startQueue } from './queue.ts';
import { hookSecret, startReceiver } from './receiver.ts';

const projectId = 'prj_0123456789abcdef';
const projectTag = 'p-all';
const oldSecret = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
const readTags = (job: Readonly<Record<string, unknown>>) =>
  (job['data'] as { tags: string[] }).tags;

/** Opens a queue and a receiver of purge hook calls. */
async function startHook(t: Test, path = '') {
  const queue = await startQueue(t);
  const receiver = await startReceiver(t);
  const purges = new PurgeRepository(queue.db);
  const hold = (...tags: string[]) => purges.hold({ projectId, tags }, projectTag);
  const makeDue = (_id: ObjectId) =>
    queue.db.collection('jobs').updateOne({ _id }, { $set: { nextRunAt: new Date() } });
  const webhooks = {
    purgeHookUrl: receiver.url + path,
    hookSecrets: [oldSecret, hookSecret],
    userAgent: 'shop-images (ops@shop.example)',
    guard: localGuard,
  };
  return { ...queue, receiver, purges, hold, makeDue, webhooks };
}

t.test('calls a purge hook once, signed, after its time', async (t) => {
  const hook = await startHook(t, '/purged?cdn=1');
  const { receiver, purges, hold, ended, jobs, queue } = hook;
  await hook.consume({ webhooks: hook.webhooks });
  const unconfirmed = await hold('s-other');
  const id = await hold('s-1', 's-2');
  const confirmedAt = Date.now();
  await purges.confirm('1', { projectId, sourceCount: 2, hook: id });
  t.match(await queue.stats(), { waiting: 0, delayed: 0 }, 'it is no prewarm job');
  const call = await until('the call', () => receiver.received[0]);
  t.match(call, { id: String(id), path: '/purged?cdn=1', body: { tags: ['s-1', 's-2'] } });
  t.equal(call.headers['content-type'], 'application/json');
  t.equal(call.headers['user-agent'], 'shop-images (ops@shop.example)');
  t.match(call.headers['webhook-signature'], /^v1,\S{44} v1,\S{44}$/, 'during a rotation');
  t.ok(call.at - confirmedAt >= 3_000, `after ${call.at - confirmedAt} ms`);
  const findJob = async (_id: ObjectId) => (await jobs()).find((job) => _id.equals(job._id));
  await until('its end', async () => (await findJob(id))?.['lastFinishedAt'] !== null);
  const held = await findJob(unconfirmed);
  t.ok(Number(held?.['nextRunAt']) - Date.now() > 30_000, 'one without a purge waits longer');

  await hook.makeDue(unconfirmed);
  await ended();
  t.same(receiver.received[1]?.body, { tags: ['s-other'] }, 'and is called too');
  t.equal(receiver.received.length, 2);
});

t.test('repeats a failed call with the same id, and follows no redirect', async (t) => {
  const hook = await startHook(t, '/a?token=hidden');
  const { receiver, ended, jobs, queue, webhooks } = hook;
  receiver.answer((response, count) => {
    if (count === 1) response.writeHead(307, { location: `${receiver.url}/elsewhere` }).end();
    // Send an endless body; the worker reads only its start.
    else response.writeHead(200).write('x'.repeat(1_000_000));
  });
  const logged: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) });
  const metrics = new WorkerMetrics(() => queue);
  await hook.consume({ log, metrics, webhooks });
  const id = await hook.hold('s-1');
  await hook.makeDue(id);
  const failed = await until('a failure', async () => {
    const [job] = await jobs();
    return job?.['failedAt'] !== null && job?.['lockedAt'] === null && job;
  });
  t.match(failed, { failCount: 1, failReason: /^The receiver returned 307\.$/ });
  const pauseMs = Number(failed['nextRunAt']) - Number(failed['lastFinishedAt']);
  t.ok(pauseMs >= 5_000 && pauseMs < 10_000, `a pause of ${pauseMs} ms`);
  await hook.makeDue(id);
  const [done] = await ended();
  t.match(done, { failCount: 0 });
  t.same(
    receiver.received.map((call) => [call.id, call.path]),
    Array(2).fill([String(id), '/a?token=hidden']),
  );
  t.match(logged.join(''), /sending webhook failed/);
  const text = await metrics.registry.metrics();
  t.match(text, /^webhook_requests_total\{kind="purge_hook",outcome="failed"\} 1$/m);
  t.match(text, /^webhook_requests_total\{kind="purge_hook",outcome="done"\} 1$/m);
  t.match(text, /^webhook_requests_total\{kind="callback",outcome="failed"\} 0$/m);
  t.match(text, /^job_queue_oldest_waiting_seconds\{kind="callback"\} 0$/m);
  t.notMatch(logged.join(''), /hidden/, 'the query may have a secret');
});

t.test('ends the attempts after 410, and waits as long as Retry-After demands', async (t) => {
  const { consume, ended, jobs, receiver, hold, makeDue, webhooks } = await startHook(t);
  receiver.answer((response, count) => {
    response.writeHead(count === 1 ? 503 : 410, { 'retry-after': '120' }).end();
  });
  await consume({ webhooks });
  const id = await hold('s-1');
  await makeDue(id);
  const failed = await until('a failure', async () => {
    const [job] = await jobs();
    return job?.['failCount'] === 1 && job['lockedAt'] === null && job;
  });
  const pauseMs = Number(failed['nextRunAt']) - Number(failed['lastFinishedAt']);
  t.ok(pauseMs >= 119_000 && pauseMs <= 130_000, `a pause of ${pauseMs} ms`);
  await makeDue(id);
  t.match(await ended(), [{ failCount: 2, failReason: /returned 410/ }]);
  t.equal(receiver.received.length, 2);
});

t.test('reports every kind of job to each of two scrapes', async (t) => {
  const { queue } = await startQueue(t);
  const metrics = new WorkerMetrics(() => queue);
  const stats = queue.stats.bind(queue);
  const none = await stats();
  let other: Promise<string> | null = null;
  queue.stats = async (name) => {
    if (name !== callbackJobName || other !== null) return stats(name);
    other = metrics.registry.metrics();
    return none;
  };
  for (const text of [await metrics.registry.metrics(), await other]) {
    for (const kind of ['prewarm', 'purge_hook', 'callback']) {
      t.match(text, `job_queue_oldest_waiting_seconds{kind="${kind}"} 0`);
    }
  }
});

t.test('releases a call on a stop and uses no attempt', async (t) => {
  const { consume, jobs, receiver, hold, makeDue, webhooks } = await startHook(t);
  receiver.answer(() => {});
  const consumer = await consume({ webhooks });
  const id = await hold('s-1');
  await makeDue(id);
  await until('a call', () => receiver.received.length === 1);
  await consumer.stop(5_000);
  const [job] = await jobs();
  t.match(job, { failCount: 0, lockedAt: null, nextRunAt: Date });
  t.equal(job?.['waitingKey'], `purge hook:${projectId}:${id}`, 'it is no waiting source');
});

t.test('ends a call with the reason if the setting is missing', async (t) => {
  const { consume, ended, hold, makeDue } = await startHook(t);
  await makeDue(await hold('s-1'));
  await consume();
  t.match(await ended(), [{ failCount: 1, failReason: /SERVICE_PURGE_HOOK_URL/ }]);
});

t.test("repeats a killed worker's call, and removes an ended call after a day", async (t) => {
  const { db, consume, jobs, receiver, hold, webhooks } = await startHook(t);
  const [killed, old] = [await hold('s-1'), await hold('s-1')];
  const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000);
  const set = (_id: ObjectId, state: object) =>
    db.collection('jobs').updateOne({ _id }, { $set: { nextRunAt: null, ...state } });
  await set(killed, { lockedAt: ago(1), lastModifiedBy: 'another worker' });
  await set(old, { lastFinishedAt: ago(25) });
  await consume({ webhooks });
  await until('the call', () => receiver.received.length === 1);
  t.equal(receiver.received[0]?.id, String(killed));
  await until('one is left', async () => (await jobs()).length === 1);
});

t.test('gives each project its turn, however many calls another has queued', async (t) => {
  const { db, consume, ended, receiver, purges, hold, webhooks } = await startHook(t);
  for (let i = 0; i < 60; i += 1) await hold(`s-${i}`);
  await purges.hold({ projectId: 'prj_another000000', tags: ['s-other'] }, projectTag);
  const ago = (tags: string[]) => (tags.includes('s-other') ? 1_000 : 2_000);
  for (const { _id, data } of await db.collection('jobs').find().toArray()) {
    const nextRunAt = new Date(Date.now() - ago(data.tags));
    await db.collection('jobs').updateOne({ _id }, { $set: { nextRunAt } });
  }
  await consume({ webhooks });
  await ended();
  const at = receiver.received.findIndex(({ body }) => body.tags.includes('s-other'));
  t.ok(at !== -1 && at < 30, `the other project's after ${at} calls`);
  t.equal(receiver.received.length, 61);
});

t.test('merges too many waiting calls into one for all images', async (t) => {
  const { db, jobs } = await startQueue(t);
  const purges = new PurgeRepository(db, 2);
  const hold = (tag: string, id = projectId) => purges.hold({ projectId: id, tags: [tag] }, 'p-1');
  const age = async () => {
    for (const { _id, data, waitingKey: key } of await jobs()) {
      const aged = new ObjectId(`00000001${String(_id).slice(8)}`);
      const waitingKey = String(key).replace(String(_id), String(aged));
      await db.collection('jobs').updateOne({ _id }, { $set: { data, waitingKey } });
    }
  };
  await hold('s-1');
  await hold('s-2');
  await hold('s-3');
  t.equal((await jobs()).length, 3, 'recent ones may be of purges that are not in effect');
  await age();
  await hold('s-4', 'prj_another000000');
  t.equal((await jobs()).length, 4, 'those of other projects do not count');
  await hold('s-5');
  t.same((await jobs()).map(readTags).sort(), [['p-1'], ['s-4']]);
});

t.test('doubles pauses up to an hour, for about a day', async (t) => {
  const pauses: number[] = [];
  for (let attempt = 1; ; attempt += 1) {
    const error = new Error('away');
    const pause = webhookBackOff({ attempt, error, jobName: '', jobData: {} });
    if (typeof pause !== 'number') break;
    pauses.push(pause);
  }
  t.same(pauses.slice(0, 3), [5_000, 10_000, 20_000]);
  t.equal(pauses.at(-1), 3_600_000);
  const hours = pauses.reduce((sum, pause) => sum + pause, 0) / 3_600_000;
  t.ok(hours > 23 && hours < 25, `${hours} hours`);
});

t.test('signs like Standard Webhooks', async (t) => {
  const secrets = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'];
  const signed = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}', secrets };
  t.same(signedHeaders(signed, 1_614_265_330_999), {
    'webhook-id': signed.id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});
