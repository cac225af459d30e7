import { useEffect, useState } from 'preact/hooks';
import { pollWhileVisible } from './poll.ts';
import { type Api, Failure, type ResponseBody } from './service.ts';

const intervalMs = 1_000;

/** The requests whose progress the control plane reports. */
type Subject = 'prewarm' | 'purge';

interface Progress<S extends Subject> {
  /** Null before the first response. */
  readonly status: ResponseBody[S] | null;
  readonly failure: Failure | null;
}

/**
 * Polls the progress of a request until its end, while the page is visible.
 *
 * @param path of the status, from the `Location` of the response
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
