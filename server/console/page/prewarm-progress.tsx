import { useEffect, useState } from 'preact/hooks';
import { countOf } from './format.ts';
import { FailureNotice } from './notice.tsx';
import { type Api, Failure, type PrewarmStatus } from './service.ts';

const intervalMs = 1_000;
/** A worker starts a job within seconds, unless it is busy. */
const workerTimeoutMs = 15_000;

interface Progress {
  /** Null before the first response. */
  readonly prewarm: PrewarmStatus | null;
  readonly failure: Failure | null;
}

/** Asks for the progress of a prewarm request until its end, while the page is visible. */
function useProgress(api: Api, path: string): Progress {
  const [progress, setProgress] = useState<Progress>({ prewarm: null, failure: null });
  useEffect(() => {
    let ended = false;
    let timer = 0;
    const poll = async () => {
      try {
        const { prewarm } = await api('GET', path);
        ended ||= prewarm.status !== 'accepted';
        setProgress({ prewarm, failure: null });
      } catch (error) {
        setProgress(({ prewarm }) => ({ prewarm, failure: Failure.of(error) }));
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
  }, [api, path]);
  return progress;
}

interface PrewarmProgressProps {
  readonly api: Api;
  readonly path: string;
  /** When the request was accepted, in ms. */
  readonly acceptedAt: number;
}

export function PrewarmProgress({ api, path, acceptedAt }: PrewarmProgressProps) {
  const { prewarm, failure } = useProgress(api, path);
  if (prewarm === null) return <FailureNotice failure={failure} />;
  const { status, progress, sourceCount, variantCount, sources, failures } = prewarm;
  const { waiting, running, done, failed } = sources;
  const waitsLong = waiting === sourceCount && performance.now() - acceptedAt > workerTimeoutMs;
  const counts = `${done} done, ${running} running, ${waiting} waiting, ${failed} failed.`;
  return (
    <div class="progress">
      <label for="prewarm-progress">
        {countOf(sourceCount, 'source')}, {countOf(variantCount, 'image')} accepted
      </label>
      <progress id="prewarm-progress" max={100} value={progress} />
      <p role="status">{status === 'done' ? 'All done.' : counts}</p>
      {failures.map(({ source, reason }) => (
        <p class="notice" key={source}>
          {source}: {reason}
        </p>
      ))}
      <FailureNotice failure={failure} />
      {waitsLong && (
        <p class="notice">
          No worker takes the jobs, or all are busy. <code>npm start</code> runs one with the
          service, <code>npm run start:worker</code> runs only a worker.
        </p>
      )}
    </div>
  );
}
