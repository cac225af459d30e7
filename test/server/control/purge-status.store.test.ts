import t from 'tap';
import { PurgeRepository } from '../../../store/purges.ts';
import { until } from '../../until.ts';
import { localGuard, startQueue } from '../../worker/queue.ts';
import { hookSecret, startReceiver } from '../../worker/receiver.ts';

const projectId = 'prj_0123456789abcdef';

t.test('reports a purge as done once it takes effect and its hook call ends', async (t) => {
  const { db, consume } = await startQueue(t);
  const receiver = await startReceiver(t);
  const purges = new PurgeRepository(db);
  await purges.ensureIndexes();
  const find = async (id: string) => {
    const purge = await purges.find(projectId, id);
    if (purge === null) throw new Error(id);
    return purge;
  };
  const dueNow = (id: unknown) =>
    db.collection('jobs').updateOne({ _id: id as never }, { $set: { nextRunAt: new Date() } });

  const hook = await purges.hold({ projectId, tags: ['s-1'] }, 'p-1');
  await purges.confirm('1000', { projectId, sourceCount: 1, hook });
  await purges.confirm('1001', { projectId, sourceCount: 0, hook: null });
  const opened = { id: '1000', status: 'accepted', hook: { status: 'waiting', reason: '' } };
  t.match(await find('1000'), { ...opened, sourceCount: 1 });
  t.match(await find('1001'), { status: 'accepted', sourceCount: 0, hook: { status: 'none' } });
  await until('it is in effect', async () => (await find('1001')).status === 'done');
  const { createdAt } = await find('1001');
  t.ok(Date.now() - Date.parse(createdAt) >= 2_000);
  t.match(await find('1000'), opened, 'its hook waits');

  receiver.answer((response, count) => response.writeHead(count === 1 ? 500 : 200).end());
  // Before a consumer takes the hook's job, which is due in a second anyway.
  await dueNow(hook);
  await consume({
    webhooks: {
      purgeHookUrl: receiver.url,
      hookSecrets: [hookSecret],
      userAgent: 'test',
      guard: localGuard,
    },
  });
  const retried = await until('a failed call', async () => {
    const status = await find('1000');
    return status.hook.reason !== '' && status;
  });
  t.match(retried, { status: 'accepted', hook: { status: 'waiting', reason: /returned 500/ } });
  await until('a release of the job', async () => {
    const job = await db.collection('jobs').findOne({ _id: hook });
    return job?.['lockedAt'] === null;
  });
  await dueNow(hook);
  await until('the end', async () => (await find('1000')).status === 'done');
  t.match(await find('1000'), { hook: { status: 'done', reason: '' } });

  const failed = { nextRunAt: null, failCount: 33, failReason: 'cdn.example returned 500' };
  await db.collection('jobs').updateOne({ _id: hook }, { $set: failed });
  t.match(await find('1000'), {
    status: 'failed',
    hook: { status: 'failed', reason: 'cdn.example returned 500' },
  });
  await db.collection('jobs').deleteMany({});
  t.match(await find('1000'), { status: 'done' }, 'another request has replaced it');
  for (const id of ['1', '1000x', '']) t.equal(await purges.find(projectId, id), null);
  t.equal(await purges.find('prj_another000000', '1000'), null);
});

t.test("waits for the request that replaced a purge's own", async (t) => {
  const { db } = await startQueue(t);
  const purges = new PurgeRepository(db, 0);
  const hook = await purges.hold({ projectId, tags: ['s-1'] }, 'p-1');
  await purges.confirm('1000', { projectId, sourceCount: 1, hook });
  await db.collection('jobs').deleteMany({ _id: hook });
  const status = async () => (await purges.find(projectId, '1000'))?.hook.status;
  t.equal(await status(), 'done');
  await purges.hold({ projectId: 'prj_another000000', tags: ['s-1'] }, 'p-2');
  t.equal(await status(), 'done', 'that of another project is not its own');
  const replacement = await purges.hold({ projectId, tags: ['s-2'] }, 'p-1');
  t.equal(await status(), 'waiting');
  const ended = { nextRunAt: null, lockedAt: null };
  await db.collection('jobs').updateOne({ _id: replacement }, { $set: ended });
  t.equal(await status(), 'done');
});
