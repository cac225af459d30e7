import type { HealthStatus } from '@image-delivery/sdk/client';
import { formatTime } from './format.ts';
import { usePolled } from './progress.ts';
import { type Failure, fetchJson } from './service.ts';

type Complete<T> = T extends object
  ? { readonly [K in keyof T]-?: Complete<Exclude<T[K], undefined>> }
  : T;

/** The body of `api/health`, with counters that the public schema leaves out. */
type HealthBody = Pick<HealthStatus, 'reason'> &
  Complete<Omit<HealthStatus, 'reason'>> & {
    readonly checks: {
      readonly transformQueue: Readonly<Record<'completed' | 'fetching' | 'misses', number>>;
    };
  };

export interface HealthSample {
  /** Time of the request, in ms; the numbers can be a second older. */
  readonly at: number;
  readonly health: HealthBody;
}

export interface HealthHistory {
  /** Samples of the last minutes while the page was visible, oldest first. */
  readonly samples: readonly HealthSample[];
  readonly failure: Failure | null;
}

/** Samples of five minutes. */
const maxSamples = 150;
const accepted = (status: number): boolean => status === 200 || status === 503;

const load = async (samples: readonly HealthSample[] | null) => {
  const at = performance.now();
  const health = (await fetchJson('api/health', accepted)) as HealthBody;
  return [...(samples ?? []), { at, health }].slice(-maxSamples);
};

/** Polls the service's health while the page is visible. */
export function useHealth(): HealthHistory {
  const { value, failure } = usePolled({ load, intervalMs: 2_000 });
  return { samples: value ?? [], failure };
}

/**
 * Returns the service's state in a word, the same on every page.
 *
 * @param needsWorker whether a missing worker matters: only API key holders prewarm and register
 *   webhooks
 */
export function computeState(history: HealthHistory, needsWorker: boolean) {
  const { samples, failure } = history;
  if (failure !== null) return { word: 'no answer', isGood: false };
  const { health } = samples.at(-1) ?? {};
  if (health === undefined) return { word: 'loading', isGood: true };
  if (needsWorker && health.ok && missingWorker(history) !== null) {
    return { word: 'no worker', isGood: false };
  }
  return { word: health.status, isGood: health.ok };
}

/**
 * Returns a warning that prewarming and webhooks wait for a worker, or null while a worker takes
 * jobs.
 */
export function missingWorker({ samples }: HealthHistory): string | null {
  const { status, workerSeenAt } = samples.at(-1)?.health.checks.prewarmQueue ?? {};
  if (status !== 'no_worker') return null;
  const seen = workerSeenAt ? `The last one was seen ${formatTime(workerSeenAt)}.` : '';
  return `No worker is running: prewarming and webhooks wait. ${seen}`.trim();
}

/** Returns the number of waiting and running prewarm jobs, or null if unknown. */
export function openJobs({ checks: { prewarmQueue } }: HealthBody): number | null {
  const { active, queued } = prewarmQueue;
  return active === null || queued === null ? null : active + queued;
}

/** Returns a counter's increase per second between samples. */
export function perSecond(
  samples: readonly HealthSample[],
  counter: (health: HealthBody) => number,
): readonly number[] {
  return samples.slice(1).map((sample, index) => {
    const before = samples[index] ?? sample;
    const seconds = (sample.at - before.at) / 1_000;
    // Counters of a new front end start at 0.
    const increase = Math.max(0, counter(sample.health) - counter(before.health));
    return seconds > 0 ? increase / seconds : 0;
  });
}
