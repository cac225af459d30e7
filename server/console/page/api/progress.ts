import { useEffect, useState } from 'preact/hooks';
import { Failure } from './service.ts';

/**
 * Calls a function immediately, and again after an interval, while the page is visible.
 *
 * @param look resolves to false to end the polling
 * @returns a function that ends the polling
 */
export function pollWhileVisible(look: () => Promise<boolean>, intervalMs: number): () => void {
  let ended = false;
  let timer = 0;
  const poll = async () => {
    if (!(await look())) ended = true;
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
}

const intervalMs = 1_000;

interface Progress<Status> {
  /** Null before the first response. */
  readonly status: Status | null;
  readonly failure: Failure | null;
}

/**
 * Polls a request's progress until it ends, while the page is visible.
 *
 * @param id the request's id; the effect of another one starts again
 */
export function useProgress<Status extends { readonly status: string }>(
  id: string,
  load: () => Promise<Status>,
): Progress<Status> {
  const [progress, setProgress] = useState<Progress<Status>>({ status: null, failure: null });
  useEffect(() => {
    const look = async () => {
      try {
        const status = await load();
        setProgress({ status, failure: null });
        return status.status === 'accepted';
      } catch (error) {
        setProgress(({ status }) => ({ status, failure: Failure.of(error) }));
        return true;
      }
    };
    return pollWhileVisible(look, intervalMs);
  }, [id]);
  return progress;
}
