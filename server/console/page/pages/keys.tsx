import type { ProjectKey } from '@image-delivery/sdk/client';
import { useState } from 'preact/hooks';
import { useAction, useLoading } from '../api/action.ts';
import { formatTime } from '../api/format.ts';
import { NewItem } from '../components/action-form.tsx';
import { Confirm } from '../components/confirm.tsx';
import { ShownOnce } from '../components/copy.tsx';
import { Loading, Outcome } from '../components/notice.tsx';
import { PageSection, type ProjectProps, titleId } from '../components/page-section.tsx';
import { moveFocus } from '../route.ts';

export function Keys({ api, project, description }: ProjectProps) {
  const path = `/projects/${project.id}/keys`;
  const [keys, setKeys] = useState<readonly ProjectKey[] | null>(null);
  /** The secret of the newest key. */
  const [secret, setSecret] = useState('');
  const { run, clear, message, failure } = useAction();
  useLoading(run, async () => setKeys((await api('GET', path)).keys), [api, path]);
  const create = async (body: object) => {
    const { secret, ...key } = (await api('POST', path, body)).key;
    setKeys([...(keys ?? []), key]);
    setSecret(secret);
  };
  const revoke = async ({ id, name }: ProjectKey) => {
    const isRevoked = await run(async () => {
      setKeys((await api('DELETE', `${path}/${id}`)).keys);
      return `${name} is revoked. It ends within two seconds.`;
    });
    if (isRevoked) moveFocus(titleId);
  };
  const open = () => {
    clear();
    setSecret('');
  };
  const { properties = {} } = description.schemas['ProjectKeyInput'] ?? {};
  return (
    <PageSection
      title="Keys"
      project={project}
      intro="API keys that can access only this project. Managing them needs a key for all projects."
    >
      {secret !== '' && <ShownOnce title="The new key" secret={secret} />}
      {keys === null && failure === null && <Loading />}
      {keys?.length === 0 && <p class="card empty">No keys for this project yet.</p>}
      {keys !== null && keys.length > 0 && (
        <ul class="rows card">
          {keys.map((key) => (
            <li key={key.id}>
              <span>
                <strong>{key.name}</strong> {key.access === 'read' ? 'may read' : 'may change'}{' '}
                <span class="quiet">
                  <code>{key.id}</code> created {formatTime(key.createdAt)}
                  {key.revokedAt !== null && `, revoked ${formatTime(key.revokedAt)}`}
                </span>
              </span>
              {key.revokedAt === null && (
                <Confirm
                  verb="Revoke"
                  object={key.name}
                  consequence="Who uses it has no access any more."
                  onConfirm={() => revoke(key)}
                />
              )}
            </li>
          ))}
        </ul>
      )}
      <Outcome message={message} failure={failure} />
      <NewItem
        noun="key"
        submit="Create key"
        schema={{ properties, required: ['name', 'access'] }}
        initial={{ access: 'read' }}
        isReady={keys !== null}
        onOpen={open}
        onCreate={create}
      />
    </PageSection>
  );
}
