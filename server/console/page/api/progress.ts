import { useEffect, useState } from 'preact/hooks';
import type { Data } from './action.ts';
import { Failure } from './service.ts';

interface Polling<T> {
  /** Takes the last value. */
  readonly load: (last: T | null) => Promise<T>;
  readonly intervalMs: number;
  /** Whether a value is the last one. */
  readonly isFinal?: (value: T) => boolean;
}

/** Loads data immediately, and again after an interval, while the page is visible. */
export function usePolled<T>({ load, intervalMs, isFinal }: Polling<T>) {
  const [state, setState] = useState<Pick<Data<T>, 'value' | 'failure'>>({
    value: null,
    failure: null,
  });
  useEffect(() => {
    let value: T | null = null;
    let ended = false;
    let timer = 0;
    const poll = async () => {
      try {
        value = await load(value);
        setState({ value, failure: null });
        ended ||= isFinal?.(value) ?? false;
      } catch (error) {
        setState({ value, failure: Failure.of(error) });
      }
      schedule();
    };
    const schedule = () => {
      clearTimeout(timer);
      if (!ended && document.visibilityState === 'visible') timer = setTimeout(poll, intervalMs);
    };
    document.addEventListener('visibilitychange', schedule);
    void poll();
    return () => {
      ended = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', schedule);
    };
  }, []);
  return state;
}

/** Polls the progress of a request for prewarming or a purge until it ends. */
export const useProgress = <Status extends { readonly status: string }>(
  load: () => Promise<Status>,
) => usePolled({ load, intervalMs: 1_000, isFinal: ({ status }) => status !== 'accepted' });
