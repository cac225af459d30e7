import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from 'mongodb';
import { withTimeout } from './deadline.ts';
import { type DeploymentRecord, findDeployment } from './deployment.ts';

/** Interval in ms at which a running service or worker records the time. */
const heartbeatEveryMs = 5_000;
/** Longer than a worker takes to restart or to be replaced, ms. */
export const workerMissingAfterMs = 30_000;
/** A part that runs has recorded the time within this time, even on a busy machine, ms. */
const stoppedAfterMs = 15_000;

/** `worker`: takes jobs from the queue. `service`: the primary of a machine runs. */
export type Part = 'worker' | 'service';

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

/** Records that a part runs. All machines share one field, because only the latest time matters. */
export async function recordPart(db: Db, part: Part): Promise<void> {
  const { _id } = await findDeployment(db);
  const seenNow = { $currentDate: { [`${part}SeenAt`]: true } } as const;
  await db.collection<DeploymentRecord>('deployments').updateOne({ _id }, seenNow);
}

/**
 * Records a part immediately and at each interval, until the returned timer is cleared. Does not
 * log outages, because another task does.
 */
export function recordRegularly(db: Db, part: Part): NodeJS.Timeout {
  const record = () => void recordPart(db, part).catch(() => {});
  record();
  return setInterval(record, heartbeatEveryMs);
}

async function findPart(db: Db, part: Part): Promise<Seen> {
  const found = db.collection<DeploymentRecord>('deployments').findOne({ _id: 'deployment' });
  const [deployment, { localTime }] = await withTimeout(
    Promise.all([found, db.command({ hello: 1 })]),
  );
  const seenAt = deployment?.[`${part}SeenAt`] ?? null;
  const agoMs = seenAt === null ? Number.POSITIVE_INFINITY : Number(localTime) - Number(seenAt);
  return { seenAt, agoMs };
}

/** Finds out whether any worker of the deployment takes jobs. */
export async function findWorker(db: Db): Promise<WorkerState> {
  const { seenAt, agoMs } = await findPart(db, 'worker');
  return { seenAt, isMissing: agoMs > workerMissingAfterMs };
}

/**
 * Determines which part of a deployment runs. Waits until a recently active part either records the
 * time again or must have stopped.
 */
export async function findRunningPart(db: Db, onWait: () => void): Promise<Part | null> {
  for (const part of ['service', 'worker'] as const) {
    const first = await findPart(db, part);
    let now = first;
    if (first.agoMs <= stoppedAfterMs) onWait();
    while (now.agoMs <= stoppedAfterMs) {
      await sleep(500);
      now = await findPart(db, part);
      if (Number(now.seenAt) !== Number(first.seenAt)) return part;
    }
  }
  return null;
}
