import type { Db } from 'mongodb';
import { withTimeout } from './deadline.ts';
import { type DeploymentRecord, findDeployment } from './deployment.ts';

/** Interval at which a worker that takes jobs records the time, ms. */
export const heartbeatEveryMs = 5_000;
/** Longer than a worker needs to restart, or to be replaced by another, ms. */
export const workerMissingAfterMs = 30_000;

/** All times are those of the store's clock: the clocks of machines can differ. */
export interface WorkerState {
  /** When a worker last took jobs; null if none has since the store was created. */
  readonly seenAt: Date | null;
  readonly isMissing: boolean;
}

/** Records that a worker takes jobs. All workers share one field: only the last one matters. */
export async function recordWorker(db: Db): Promise<void> {
  const { _id } = await findDeployment(db);
  const seenNow = { $currentDate: { workerSeenAt: true } } as const;
  await db.collection<DeploymentRecord>('deployments').updateOne({ _id }, seenNow);
}

/** Finds out whether any worker of the deployment takes jobs. */
export async function findWorker(db: Db): Promise<WorkerState> {
  const found = db.collection<DeploymentRecord>('deployments').findOne({ _id: 'deployment' });
  const [deployment, { localTime }] = await withTimeout(
    Promise.all([found, db.command({ hello: 1 })]),
  );
  const seenAt = deployment?.workerSeenAt ?? null;
  const isMissing =
    seenAt === null || localTime.getTime() - seenAt.getTime() > workerMissingAfterMs;
  return { seenAt, isMissing };
}
