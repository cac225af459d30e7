import type { Db } from 'mongodb';
import t from 'tap';
import {
  findActiveRole,
  findWorker,
  recordHeartbeat,
  recordHeartbeats,
  workerMissingAfterMs,
} from '../../store/heartbeat.ts';
import { until } from '../until.ts';
import { testDatabase } from './connection.ts';

t.test('reports a worker for some time after its last heartbeat', async (t) => {
  const { db } = await testDatabase(t);
  t.same(await findWorker(db), { seenAt: null, isMissing: true });
  await recordHeartbeat(db, 'worker');
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
  await recordHeartbeat(db, 'worker');
  t.notOk((await findWorker(db)).isMissing);
});

t.test('finds a running part, and waits for a part that has just stopped', async (t) => {
  const { db } = await testDatabase(t);
  let waits = 0;
  const running = () => findActiveRole(db, () => (waits += 1));
  t.equal(await running(), null);
  t.equal(waits, 0, 'without a part it does not wait');
  for (const part of ['service', 'worker'] as const) {
    const timer = recordHeartbeats(db, part);
    await until('a heartbeat', async () => (await findSeen(db, part)) !== null);
    t.equal(await running(), part);
    clearInterval(timer);
    const { localTime } = await db.command({ hello: 1 });
    const seenAt = new Date(localTime - 14_000);
    await db.collection('deployments').updateOne({}, { $set: { [`${part}SeenAt`]: seenAt } });
    t.equal(await running(), null);
  }
  t.equal(waits, 4);
});

const findSeen = async (db: Db, part: string) =>
  (await db.collection('deployments').findOne({}))?.[`${part}SeenAt`] ?? null;
