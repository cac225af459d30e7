import { countOf } from './format.ts';
import { FailureNotice } from './notice.tsx';
import type { Api } from './service.ts';
import { useProgress } from './use-progress.ts';

interface PrewarmProgressProps {
  readonly api: Api;
  readonly path: string;
  /** The most images of its sources. */
  readonly images: number;
}

export function PrewarmProgress({ api, path, images }: PrewarmProgressProps) {
  const { status: prewarm, failure } = useProgress(api, path, 'prewarm');
  if (prewarm === null) return <FailureNotice failure={failure} />;
  const { status, progress, sourceCount, sources, failures } = prewarm;
  const { waiting, running, done, failed } = sources;
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
    </div>
  );
}
