import type { OperationInput, Signing as SigningState } from '@image-delivery/sdk/client';
import { useState } from 'preact/hooks';
import { useAction, useData } from '../api/action.ts';
import { formatDuration, formatNumber, formatTime } from '../api/format.ts';
import { getField } from '../api/schema.ts';
import { useOpenProject } from '../app.ts';
import { Confirm, SchemaForm } from '../components/action-form.tsx';
import { CopyText, ShownOnce } from '../components/copy.tsx';
import { type Fact, FactList } from '../components/figures.tsx';
import { Loaded, Outcome } from '../components/notice.tsx';
import { PageSection, titleId } from '../components/page-section.tsx';
import { moveFocus } from '../route.ts';

/** Whether a project's image URLs need signatures, and the secrets that make them. */
export function Signing() {
  const { api, project, description, session } = useOpenProject();
  const at = { projectId: project.id };
  const signing = useData<SigningState>(() => api.getProjectSigning(at), [api, project.id]);
  const [secret, setSecret] = useState('');
  const { run, clear, message, failure } = useAction();
  const show = ({ secret = '', ...next }: SigningState & { readonly secret?: string }) => {
    signing.set(next);
    setSecret(secret);
    session.setProject({
      ...project,
      requireSignedUrls: next.required,
      signedUrlTtlSeconds: next.ttlSeconds,
    });
  };
  const create = async (body: object) => {
    clear();
    show(await api.createSigningSecret({ ...at, ...body }));
    return '';
  };
  const remove = async (change: Promise<SigningState>, done: string) => {
    const isDone = await run(async () => {
      show(await change);
      return done;
    });
    if (isDone) moveFocus(titleId);
  };
  const ttlSeconds = getField(description.getBody('createSigningSecret'), 'ttlSeconds');
  const longest = { ...ttlSeconds, description: 'Maximum lifetime of a signed URL.' };
  return (
    <PageSection
      title="Signing"
      intro="With signatures, the project delivers only images whose URLs your backend has signed with its secret."
    >
      <Outcome message={message} failure={failure} />
      {secret !== '' && <ShownOnce title="The new secret" secret={secret} />}
      <Loaded data={signing}>
        {({ required, secretCount, ttlSeconds }) =>
          required ? (
            <>
              <FactList facts={toFacts({ required, secretCount, ttlSeconds })} />
              <p class="row">
                {secretCount === 1 ? (
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
                    consequence="URLs signed with it stop working."
                    onConfirm={() =>
                      remove(api.revokePreviousSigningSecret(at), 'Only the new secret is valid.')
                    }
                    isAlone
                  />
                )}
                <Confirm
                  verb="Accept"
                  object="unsigned URLs"
                  consequence="Anyone can request any size. Both secrets are deleted."
                  onConfirm={() =>
                    remove(api.stopRequiringSignatures(at), 'URLs no longer need a signature.')
                  }
                  isAlone
                />
              </p>
              <SignUrl />
            </>
          ) : (
            <>
              <p>Unsigned URLs accepted.</p>
              <SchemaForm
                label="Require signatures"
                submit="Require signatures"
                schema={{ properties: { ttlSeconds: longest } }}
                question={<BrokenUrls />}
                placeholders={{ ttlSeconds: 'no limit' }}
                onSubmit={create}
                class="card narrow"
              />
            </>
          )
        }
      </Loaded>
    </PageSection>
  );
}

const toFacts = ({ ttlSeconds, secretCount }: SigningState): readonly Fact[] => [
  ['Signatures', 'required', ''],
  ['Longest validity', ttlSeconds === null ? 'no limit' : formatDuration(ttlSeconds), ''],
  ['Valid secrets', String(secretCount), secretCount === 2 ? 'one is being replaced' : ''],
];

/** Shows how many requests of the last hour would fail if the project required signatures. */
function BrokenUrls() {
  const { api, project } = useOpenProject();
  const load = async () => (await api.getProjectTop({ projectId: project.id })).hour.unsigned;
  const unsigned = useData(load, [api, project.id]);
  return (
    <>
      <Loaded data={unsigned}>
        {(count) => <p role="status">Unsigned requests in the last hour: {formatNumber(count)}.</p>}
      </Loaded>
      <p>
        Every URL of this project stops working until your backend signs it: pages with unsigned
        URLs lose their images.
      </p>
    </>
  );
}

function SignUrl() {
  const { api, project, description } = useOpenProject();
  const [signed, setSigned] = useState<string | null>(null);
  const sign = async (body: object) => {
    const input = { projectId: project.id, ...body } as OperationInput<'signProjectUrl'>;
    const { url, expiresAt } = await api.signProjectUrl(input);
    setSigned(url);
    return `Valid until ${formatTime(expiresAt)}.`;
  };
  return (
    <section class="card" aria-labelledby="sign-url">
      <h2 id="sign-url">Sign one URL</h2>
      <SchemaForm
        label="Sign one URL"
        submit="Sign"
        schema={description.getBody('signProjectUrl')}
        placeholders={{ url: `${description.baseUrl}/img/…?project=${project.id}&w=800` }}
        onSubmit={sign}
      />
      {signed !== null && <CopyText label="signed URL" text={signed} />}
    </section>
  );
}
