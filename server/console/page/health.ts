import { useEffect, useState } from 'preact/hooks';
import { Failure, fetchJson } from './service.ts';

/** What the page shows of `api/health`. */
export interface Health {
  readonly ok: boolean;
  readonly status: string;
  readonly reason?: string;
  readonly uptimeSeconds: number;
  readonly checks: {
    readonly cache: Readonly<
      Record<'diskSizeBytes' | 'diskMaxBytes' | 'memorySizeBytes' | 'memoryMaxBytes', number>
    >;
    readonly database: { readonly ok: boolean; readonly latencyMs: number };
    /** Null while the store does not tell them. */
    readonly prewarmQueue: Readonly<Record<'active' | 'queued' | 'failed', number | null>> & {
      readonly status: string;
    };
    readonly transformQueue: Readonly<
      Record<
        | 'active'
        | 'queued'
        | 'concurrency'
        | 'maxQueue'
        | 'rejected'
        | 'completed'
        | 'fetching'
        | 'misses',
        number
      >
    >;
  };
}

export interface Sample {
  /** When it was asked for, in ms; what it says may have been a second old. */
  readonly at: number;
  readonly health: Health;
}

export interface HealthHistory {
  /** Oldest first, of the last minutes that the page was visible. */
  readonly samples: readonly Sample[];
  readonly failure: Failure | null;
}

const everyMs = 2_000;
/** Five minutes. */
const most = 150;
const accepted = (status: number): boolean => status === 200 || status === 503;

/** The service's health, asked for again and again while the page is visible. */
export function useHealth(): HealthHistory {
  const [history, setHistory] = useState<HealthHistory>({ samples: [], failure: null });
  useEffect(() => {
    let ended = false;
    let timer = 0;
    const ask = async () => {
      const at = performance.now();
      try {
        const health = (await fetchJson('api/health', accepted)) as Health;
        const sample = { at, health };
        setHistory(({ samples }) => ({
          samples: [...samples, sample].slice(-most),
          failure: null,
        }));
      } catch (error) {
        setHistory(({ samples }) => ({ samples, failure: Failure.of(error) }));
      }
      plan();
    };
    const plan = () => {
      clearTimeout(timer);
      if (!ended && document.visibilityState === 'visible') timer = setTimeout(ask, everyMs);
    };
    document.addEventListener('visibilitychange', plan);
    void ask();
    return () => {
      ended = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', plan);
    };
  }, []);
  return history;
}

/** How many prewarm jobs wait or run; null while that is unknown. */
export function openJobs({ checks: { prewarmQueue } }: Health): number | null {
  const { active, queued } = prewarmQueue;
  return active === null || queued === null ? null : active + queued;
}

/** A counter's increase per second from each sample to the next. */
export function perSecond(
  samples: readonly Sample[],
  counter: (health: Health) => number,
): readonly number[] {
  return samples.slice(1).map((sample, index) => {
    const before = samples[index] ?? sample;
    const seconds = (sample.at - before.at) / 1_000;
    // A front end that was replaced counts from 0 again.
    const increase = Math.max(0, counter(sample.health) - counter(before.health));
    return seconds > 0 ? increase / seconds : 0;
  });
}
