import { useEffect, useState } from 'preact/hooks';
import { type Api, Failure, type ResponseBody } from './service.ts';

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

/** Requests with progress reports from the control plane. */
type Subject = 'prewarm' | 'purge';

interface Progress<S extends Subject> {
  /** Null before the first response. */
  readonly status: ResponseBody[S] | null;
  readonly failure: Failure | null;
}

/**
 * Polls a request's progress until it ends, while the page is visible.
 *
 * @param path the status path, from the response's `Location`
 */
export function useProgress<S extends Subject>(api: Api, path: string, subject: S): Progress<S> {
  const [progress, setProgress] = useState<Progress<S>>({ status: null, failure: null });
  useEffect(() => {
    const look = async () => {
      try {
        const status = (await api('GET', path))[subject];
        setProgress({ status, failure: null });
        return status.status === 'accepted';
      } catch (error) {
        setProgress(({ status }) => ({ status, failure: Failure.of(error) }));
        return true;
      }
    };
    return pollWhileVisible(look, intervalMs);
  }, [api, path, subject]);
  return progress;
}
