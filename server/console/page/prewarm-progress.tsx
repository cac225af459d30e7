import { countOf } from './format.ts';
import { FailureNotice } from './notice.tsx';
import { ownCommand } from './own-command.ts';
import type { Api } from './service.ts';
import { useProgress } from './use-progress.ts';

/** A worker starts a job within seconds, unless it is busy. */
const workerTimeoutMs = 15_000;

interface PrewarmProgressProps {
  readonly api: Api;
  readonly path: string;
  /** When the request was accepted, in ms. */
  readonly acceptedAt: number;
  /** The most images of its sources. */
  readonly images: number;
}

export function PrewarmProgress({ api, path, acceptedAt, images }: PrewarmProgressProps) {
  const { status: prewarm, failure } = useProgress(api, path, 'prewarm');
  if (prewarm === null) return <FailureNotice failure={failure} />;
  const { status, progress, sourceCount, sources, failures } = prewarm;
  const { waiting, running, done, failed } = sources;
  const waitsLong = waiting === sourceCount && performance.now() - acceptedAt > workerTimeoutMs;
  const counts = `${done} done, ${running} running, ${waiting} waiting, ${failed} failed.`;
  return (
    <div class="progress">
      <label for="prewarm-progress">
        {countOf(sourceCount, 'source')}, {countOf(images, 'image')} accepted
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
          No worker takes the jobs, or all are busy. <code>{ownCommand('start', 'npm start')}</code>{' '}
          runs one with the service, <code>{ownCommand('worker', 'npm run start:worker')}</code>{' '}
          runs only a worker.
        </p>
      )}
    </div>
  );
}
