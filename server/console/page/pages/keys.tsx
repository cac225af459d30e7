import type { OperationInput, ProjectKey } from '@image-delivery/sdk/client';
import { useState } from 'preact/hooks';
import { useAction, useData } from '../api/action.ts';
import { formatTime } from '../api/format.ts';
import { useOpenProject } from '../app.ts';
import { Confirm, NewItem } from '../components/action-form.tsx';
import { ShownOnce } from '../components/copy.tsx';
import { ItemList } from '../components/items-page.tsx';
import { Loaded, Outcome } from '../components/notice.tsx';
import { PageSection, titleId } from '../components/page-section.tsx';
import { moveFocus } from '../route.ts';

/** The API keys of a project. */
export function Keys() {
  const { api, project, description } = useOpenProject();
  const projectId = project.id;
  const keys = useData(() => api.listProjectKeys({ projectId }), [api, projectId]);
  /** The secret of the newest key. */
  const [secret, setSecret] = useState('');
  const { run, clear, message, failure } = useAction();
  const create = async (body: object) => {
    const input = { projectId, ...body } as OperationInput<'createProjectKey'>;
    const { secret, ...key } = await api.createProjectKey(input);
    keys.set([...(keys.value ?? []), key]);
    setSecret(secret);
  };
  const revoke = async ({ id, name }: ProjectKey) => {
    const isRevoked = await run(async () => {
      keys.set(await api.revokeProjectKey({ projectId, keyId: id }));
      return `${name} revoked. It stops working within two seconds.`;
    });
    if (isRevoked) moveFocus(titleId);
  };
  const { properties = {} } = description.getBody('createProjectKey');
  return (
    <PageSection
      title="Keys"
      intro="API keys that can access only this project. Managing them needs a key for all projects."
    >
      {secret !== '' && <ShownOnce title="The new key" secret={secret} />}
      <Loaded data={keys}>
        {(list) => (
          <ItemList items={list} empty="No keys for this project yet." toId={({ id }) => id}>
            {(key) => (
              <>
                <span>
                  <strong>{key.name}</strong>{' '}
                  {key.access === 'read' ? 'read only' : 'read and write'}{' '}
                  <span class="quiet">
                    <code>{key.id}</code> created {formatTime(key.createdAt)}
                    {key.revokedAt !== null && `, revoked ${formatTime(key.revokedAt)}`}
                  </span>
                </span>
                {key.revokedAt === null && (
                  <Confirm
                    verb="Revoke"
                    object={key.name}
                    consequence="Anyone using this key loses access."
                    onConfirm={() => revoke(key)}
                  />
                )}
              </>
            )}
          </ItemList>
        )}
      </Loaded>
      <Outcome message={message} failure={failure} />
      <NewItem
        noun="key"
        submit="Create key"
        schema={{ properties, required: ['name', 'access'] }}
        initial={{ access: 'read' }}
        isReady={keys.value !== null}
        onOpen={() => {
          clear();
          setSecret('');
        }}
        onCreate={create}
      />
    </PageSection>
  );
}
