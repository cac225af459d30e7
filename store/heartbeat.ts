import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from 'mongodb';
import { type DeploymentRecord, findDeployment } from './deployment.ts';
import { withTimeout } from './outage.ts';

/** Interval in ms at which a running service or worker records the time. */
const heartbeatEveryMs = 5_000;
/** Longer than a worker takes to restart or to be replaced, ms. */
export const workerMissingAfterMs = 30_000;
/** A running process has recorded the time within this time, even on a busy machine, ms. */
const stoppedAfterMs = 15_000;

/** `worker`: takes jobs from the queue. `service`: the primary of a machine runs. */
export type ProcessRole = 'worker' | 'service';

/** By the store's clock, because machines' clocks can differ. */
interface Seen {
  /** When the service last recorded the time; null before the first record. */
  readonly seenAt: Date | null;
  readonly agoMs: number;
}

export interface WorkerState {
  /** When a worker last claimed jobs; null before the first claim. */
  readonly seenAt: Date | null;
  readonly isMissing: boolean;
}

/** Records that a role is active. All machines share one field, because only the latest time matters. */
export async function recordHeartbeat(db: Db, role: ProcessRole): Promise<void> {
  const { _id } = await findDeployment(db);
  const seenNow = { $currentDate: { [`${role}SeenAt`]: true } } as const;
  await db.collection<DeploymentRecord>('deployments').updateOne({ _id }, seenNow);
}

/**
 * Records a role immediately and at each interval, until the returned timer is cleared. Does not
 * log outages, because another task does.
 */
export function recordHeartbeats(db: Db, role: ProcessRole): NodeJS.Timeout {
  const record = () => void recordHeartbeat(db, role).catch(() => {});
  record();
  return setInterval(record, heartbeatEveryMs);
}

async function findRole(db: Db, role: ProcessRole): Promise<Seen> {
  const found = db.collection<DeploymentRecord>('deployments').findOne({ _id: 'deployment' });
  const [deployment, { localTime }] = await withTimeout(
    Promise.all([found, db.command({ hello: 1 })]),
  );
  const seenAt = deployment?.[`${role}SeenAt`] ?? null;
  const agoMs = seenAt === null ? Number.POSITIVE_INFINITY : Number(localTime) - Number(seenAt);
  return { seenAt, agoMs };
}

/** Finds out whether any worker of the deployment takes jobs. */
export async function findWorker(db: Db): Promise<WorkerState> {
  const { seenAt, agoMs } = await findRole(db, 'worker');
  return { seenAt, isMissing: agoMs > workerMissingAfterMs };
}

/**
 * Determines which role of a deployment is active. Waits until a recently active role either
 * records the time again or must have stopped.
 */
export async function findActiveRole(db: Db, onWait: () => void): Promise<ProcessRole | null> {
  for (const role of ['service', 'worker'] as const) {
    const first = await findRole(db, role);
    let now = first;
    if (first.agoMs <= stoppedAfterMs) onWait();
    while (now.agoMs <= stoppedAfterMs) {
      await sleep(500);
      now = await findRole(db, role);
      if (Number(now.seenAt) !== Number(first.seenAt)) return role;
    }
  }
  return null;
}
