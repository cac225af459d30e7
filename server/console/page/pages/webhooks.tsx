import { useData } from '../api/action.ts';
import { countText, formatTime } from '../api/format.ts';
import { useOpenProject } from '../app.ts';
import { ItemList } from '../components/items-page.tsx';
import { Loaded, ReloadButton } from '../components/notice.tsx';
import { PageSection } from '../components/page-section.tsx';

/** A project's latest callbacks. */
export function Webhooks() {
  const { api, project } = useOpenProject();
  const { id } = project;
  const callbacks = useData(() => api.listProjectCallbacks({ projectId: id }), [api, id]);
  return (
    <PageSection
      title="Webhooks"
      intro={
        <>
          If an API request for prewarming or a purge contains a <code>callbackUrl</code>, that URL
          receives a signed request when the work is done. Newest first. To print the secret that
          verifies the signature, run{' '}
          <code>npm run --silent admin -- projects webhook-secret {project.id}</code>.
        </>
      }
    >
      <Loaded data={callbacks}>
        {(list) => (
          <ItemList items={list} empty="No callbacks in the last day." toId={({ id }) => id}>
            {({ subject, callId, url, status, reason, failureCount, endedAt, createdAt }) => (
              <span>
                <strong>{status}</strong> {subject} <code>{callId}</code> to <code>{url}</code>
                <br />
                <span class="quiet">
                  {formatTime(endedAt ?? createdAt)}
                  {failureCount > 0 && `, ${countText(failureCount, 'failed attempt')}`}
                  {reason !== null && `: ${reason}`}
                </span>
              </span>
            )}
          </ItemList>
        )}
      </Loaded>
      <ReloadButton data={callbacks} />
    </PageSection>
  );
}
