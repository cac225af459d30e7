import { countOf } from './format.ts';
import { FailureNotice } from './notice.tsx';
import type { Api, PurgeStatus } from './service.ts';
import { useProgress } from './use-progress.ts';

const hookTexts: Readonly<Record<PurgeStatus['hook']['status'], string>> = {
  none: '',
  waiting: 'The purge hook will be called.',
  done: 'The purge hook was called.',
  failed: 'The purge hook could not be called.',
};

interface PurgeProgressProps {
  readonly api: Api;
  readonly path: string;
}

/** Where the images of a purge were deleted, and whether its hook was called. */
export function PurgeProgress({ api, path }: PurgeProgressProps) {
  const { status: purge, failure } = useProgress(api, path, 'purge');
  if (purge === null) return <FailureNotice failure={failure} />;
  const { machines, hook } = purge;
  return (
    <div class="progress">
      <ul>
        {machines.length === 0 && <li>Their files are being deleted.</li>}
        {machines.map(({ name, images }) => (
          <li key={name}>
            {name}: {countOf(images, 'file')} deleted
          </li>
        ))}
        {hook.status !== 'none' && (
          <li>
            {hookTexts[hook.status]} {hook.reason}
          </li>
        )}
      </ul>
      <FailureNotice failure={failure} />
    </div>
  );
}
