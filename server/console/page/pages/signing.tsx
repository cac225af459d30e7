import type { Signing as SigningState } from '@image-delivery/sdk/client';
import { useState } from 'preact/hooks';
import { useAction, useLoading } from '../api/action.ts';
import { formatDuration, formatNumber, formatTime } from '../api/format.ts';
import { SchemaForm } from '../components/action-form.tsx';
import { Confirm } from '../components/confirm.tsx';
import { CopyText, ShownOnce } from '../components/copy.tsx';
import { type Fact, FactList } from '../components/facts.tsx';
import { FailureNotice, Loading, Outcome } from '../components/notice.tsx';
import { PageSection, type ProjectProps, titleId } from '../components/page-section.tsx';
import { moveFocus } from '../route.ts';

/** Whether the image URLs of a project need signatures, and the secrets that make them. */
export function Signing(props: ProjectProps) {
  const { api, project, onChange } = props;
  const path = `/projects/${project.id}/signing`;
  const [signing, setSigning] = useState<SigningState | null>(null);
  const [secret, setSecret] = useState('');
  const { run, clear, message, failure } = useAction();
  useLoading(run, async () => setSigning((await api('GET', path)).signing), [api, path]);
  const show = ({ secret = '', ...next }: SigningState & { readonly secret?: string }) => {
    setSigning(next);
    setSecret(secret);
    onChange({
      ...project,
      requireSignedUrls: next.required,
      signedUrlTtlSeconds: next.ttlSeconds,
    });
  };
  const create = async (body: object) => {
    clear();
    show((await api('POST', `${path}/secrets`, body)).signing);
    return '';
  };
  const remove = async (part: string, done: string) => {
    const isDone = await run(async () => {
      show((await api('DELETE', path + part)).signing);
      return done;
    });
    if (isDone) moveFocus(titleId);
  };
  return (
    <PageSection
      title="Signing"
      project={project}
      intro="With signatures, the project delivers only images whose URLs your backend has signed with its secret."
    >
      <Outcome message={message} failure={failure} />
      {secret !== '' && <ShownOnce title="The new secret" secret={secret} />}
      {signing === null && failure === null && <Loading />}
      {signing?.required === false && <FirstSecret {...props} onCreate={create} />}
      {signing?.required === true && (
        <>
          <FactList facts={toFacts(signing)} />
          <p class="row">
            {signing.secretCount === 1 ? (
              <Confirm
                verb="Replace"
                object="the secret"
                consequence="Both secrets are valid until you revoke the old one."
                onConfirm={() => run(() => create({}))}
                isAlone
              />
            ) : (
              <Confirm
                verb="Revoke"
                object="the old secret"
                consequence="URLs that were signed with it are refused."
                onConfirm={() => remove('/secrets/previous', 'Only the new secret is valid.')}
                isAlone
              />
            )}
            <Confirm
              verb="Accept"
              object="unsigned URLs"
              consequence="Everybody can ask for every size, and the secrets are deleted."
              onConfirm={() => remove('', 'URLs need no signature any more.')}
              isAlone
            />
          </p>
          <SignUrl {...props} />
        </>
      )}
    </PageSection>
  );
}

const toFacts = ({ ttlSeconds, secretCount }: SigningState): readonly Fact[] => [
  ['Signatures', 'required', ''],
  ['Longest validity', ttlSeconds === null ? 'no limit' : formatDuration(ttlSeconds), ''],
  ['Valid secrets', String(secretCount), secretCount === 2 ? 'one is being replaced' : ''],
];

interface FirstSecretProps extends Pick<ProjectProps, 'api' | 'project' | 'description'> {
  readonly onCreate: (body: object) => Promise<string>;
}

function FirstSecret({ api, project, description, onCreate }: FirstSecretProps) {
  const { ttlSeconds = {} } = description.schemas['SigningSecretInput']?.properties ?? {};
  const field = {
    ...ttlSeconds,
    description: 'The longest time until a URL expires; empty for no limit.',
  };
  const schema = { properties: { ttlSeconds: field } };
  return (
    <>
      <p>URLs need no signature now.</p>
      <SchemaForm
        label="Require signatures"
        submit="Require signatures"
        schema={schema}
        question={<BrokenUrls api={api} project={project} />}
        placeholders={{ ttlSeconds: 'no limit' }}
        onSubmit={onCreate}
        class="card narrow"
      />
    </>
  );
}

/** Shows how many requests of the last hour would fail if the project required signatures. */
function BrokenUrls({ api, project }: Pick<ProjectProps, 'api' | 'project'>) {
  const [unsigned, setUnsigned] = useState<number | null>(null);
  const { run, failure } = useAction();
  const path = `/projects/${project.id}/top`;
  useLoading(run, async () => setUnsigned((await api('GET', path)).top.hour.unsigned), [api, path]);
  return (
    <>
      <FailureNotice failure={failure} />
      {unsigned === null && failure === null && <Loading />}
      {unsigned !== null && (
        <p role="status">Unsigned requests in the last hour: {formatNumber(unsigned)}.</p>
      )}
      <p>
        Every URL of this project stops working until your backend signs it: pages with unsigned
        URLs lose their images.
      </p>
    </>
  );
}

function SignUrl({ api, project, description }: ProjectProps) {
  const schema = description.schemas['SignedUrlInput'] ?? {};
  const [signed, setSigned] = useState<string | null>(null);
  const sign = async (body: object) => {
    const { signedUrl } = await api('POST', `/projects/${project.id}/signed-urls`, body);
    setSigned(signedUrl.url);
    return `Valid until ${formatTime(signedUrl.expiresAt)}.`;
  };
  return (
    <section class="card" aria-labelledby="sign-url">
      <h2 id="sign-url">Sign one URL</h2>
      <SchemaForm
        label="Sign one URL"
        submit="Sign"
        schema={schema}
        placeholders={{ url: `${description.baseUrl}/img/…?project=${project.id}&w=800` }}
        onSubmit={sign}
      />
      {signed !== null && <CopyText label="signed URL" text={signed} />}
    </section>
  );
}
