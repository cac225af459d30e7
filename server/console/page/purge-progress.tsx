import type { PurgeStatus } from '@image-delivery/sdk/client';
import { FailureNotice } from './notice.tsx';
import type { Api } from './service.ts';
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

/** Whether a purge is in effect, and whether its hook was called. */
export function PurgeProgress({ api, path }: PurgeProgressProps) {
  const { status: purge, failure } = useProgress(api, path, 'purge');
  if (purge === null) return <FailureNotice failure={failure} />;
  const { status, hook } = purge;
  // A hook is called after that.
  const isEffective = status !== 'accepted' || hook.reason !== '';
  return (
    <div class="progress">
      <ul>
        <li>The purge {isEffective ? 'is in effect.' : 'takes effect within two seconds.'}</li>
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
