import type { Job } from 'agenda';
import { LockLost } from '../store/agenda.ts';

/** How often a lock is renewed during its lifetime. */
const renewalsPerLifetime = 6;
/** A job is stopped when its lock was not renewed for this part of the lifetime: another worker may run it. */
const lockLossThreshold = 2 / 3;
/** Minimum interval of storing progress; it is also stored at the end of the job. */
const progressEveryMs = 1_000;

export interface JobLock {
  /** Aborts before the lock may expire because renewals failed. */
  readonly lost: AbortSignal;
  /** Stores the progress and renews the lock, unless it was renewed just now. */
  progress(percent: number): Promise<void>;
  /** Awaits a renewal in progress, which could undo the release of the lock. */
  end(): Promise<void>;
}

/** Renews a job's lock until its end. */
export function holdLock<D>(job: Job<D>, lifetimeMs: number): JobLock {
  const lost = new AbortController();
  let renewedAt = performance.now();
  let percent = 0;
  let renewing: Promise<unknown> = Promise.resolve();
  const renew = async (): Promise<void> => {
    const startedAt = performance.now();
    try {
      await job.touch(percent);
    } catch (error) {
      if (error instanceof LockLost) lost.abort();
      throw error;
    }
    renewedAt = startedAt;
  };
  // By a timer: one variant may wait in the service's queue for longer than the lock's lifetime.
  const timer = setInterval(() => {
    renewing = Promise.all([renewing, renew().catch(() => {})]);
    const unrenewedMs = performance.now() - renewedAt;
    if (unrenewedMs > lifetimeMs * lockLossThreshold) lost.abort();
  }, lifetimeMs / renewalsPerLifetime);
  return {
    lost: lost.signal,
    progress: async (now) => {
      percent = now;
      job.attrs.progress = now;
      if (performance.now() - renewedAt >= progressEveryMs) await renew();
    },
    end: async () => {
      clearInterval(timer);
      await renewing;
    },
  };
}
