import type { Job } from 'agenda';
import { LockLost } from '../store/agenda.ts';

/** Lock renewals per lifetime. */
const renewalsPerLifetime = 6;
/**
 * Fraction of the lifetime after which a job with an unrenewed lock stops, because another worker
 * can start it.
 */
const lockLossThreshold = 2 / 3;
/** Minimum interval between progress updates; the job's end also stores progress. */
const progressEveryMs = 1_000;

export interface JobLock {
  /** Aborts after failed renewals, before the lock can expire. */
  readonly lost: AbortSignal;
  /** Stores the progress and renews the lock, unless it was renewed within the minimum interval. */
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
  // Uses a timer, because a variant can wait in the service's queue longer than the lock's
  // lifetime.
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
