import type { Callback } from '@image-delivery/sdk/client';
import { useState } from 'preact/hooks';
import { useAction, useLoading } from '../api/action.ts';
import { countText, formatTime } from '../api/format.ts';
import { FailureNotice, Loading } from '../components/notice.tsx';
import { PageSection, type ProjectProps } from '../components/page-section.tsx';

/** The last requests to the callbacks of a project. */
export function Webhooks({ api, project }: ProjectProps) {
  const [callbacks, setCallbacks] = useState<readonly Callback[] | null>(null);
  const { run, busy, failure } = useAction();
  const [reloads, setReloads] = useState(0);
  const path = `/projects/${project.id}/callbacks`;
  useLoading(run, async () => setCallbacks((await api('GET', path)).callbacks), [
    api,
    path,
    reloads,
  ]);
  return (
    <PageSection
      title="Webhooks"
      project={project}
      intro={
        <>
          If an API request for prewarming or a purge contains a <code>callbackUrl</code>, this URL
          receives a signed request at the end. The list starts with the newest. Operators print the
          secret that verifies the signature with{' '}
          <code>npm run --silent admin -- projects webhook-secret {project.id}</code>.
        </>
      }
    >
      <FailureNotice failure={failure} />
      {callbacks === null && failure === null && <Loading />}
      {callbacks?.length === 0 && <p class="card empty">No callbacks in the last day.</p>}
      {callbacks !== null && callbacks.length > 0 && (
        <ul class="rows card">
          {callbacks.map((callback) => (
            <li key={callback.id}>
              <Delivery {...callback} />
            </li>
          ))}
        </ul>
      )}
      <button type="button" aria-disabled={busy} onClick={() => !busy && setReloads(reloads + 1)}>
        Load again
      </button>
    </PageSection>
  );
}

function Delivery({ subject, callId, url, status, reason, failureCount, ...times }: Callback) {
  const at = formatTime(times.endedAt ?? times.createdAt);
  return (
    <span>
      <strong>{status}</strong> {subject} <code>{callId}</code> to <code>{url}</code>
      <br />
      <span class="quiet">
        {at}
        {failureCount > 0 && `, ${countText(failureCount, 'failed attempt')}`}
        {reason !== null && `: ${reason}`}
      </span>
    </span>
  );
}
