import t from 'tap';
import { findWorker, recordWorker, workerMissingAfterMs } from '../../store/worker-heartbeat.ts';
import { testDatabase } from './connection.ts';

t.test('a worker is seen for some time after its last heartbeat', async (t) => {
  const { db } = await testDatabase(t);
  t.same(await findWorker(db), { seenAt: null, isMissing: true });
  await recordWorker(db);
  const { seenAt, isMissing } = await findWorker(db);
  t.notOk(isMissing);
  const { localTime } = await db.command({ hello: 1 });
  t.ok(Math.abs(localTime - Number(seenAt)) < 20_000, "by the store's clock");

  const isMissingAfter = async (ms: number) => {
    const workerSeenAt = new Date(localTime - ms);
    await db.collection('deployments').updateOne({}, { $set: { workerSeenAt } });
    const found = await findWorker(db);
    t.same(found.seenAt, workerSeenAt);
    return found.isMissing;
  };
  t.notOk(await isMissingAfter(workerMissingAfterMs - 15_000), 'a worker restarts');
  t.ok(await isMissingAfter(workerMissingAfterMs + 1));
  await recordWorker(db);
  t.notOk((await findWorker(db)).isMissing);
});
