import type { OperationInput, PurgeStatus } from '@image-delivery/sdk/client';
import { useState } from 'preact/hooks';
import { useAction } from '../api/action.ts';
import { countText } from '../api/format.ts';
import { exampleSource, withAbsolute } from '../api/image-url.ts';
import { useProgress } from '../api/progress.ts';
import { getField, toBody, type Values } from '../api/schema.ts';
import { useOpenProject } from '../app.ts';
import { ActionForm, Confirm } from '../components/action-form.tsx';
import { Loaded, Outcome } from '../components/notice.tsx';
import { PageSection } from '../components/page-section.tsx';
import { SchemaFields } from '../components/schema-fields.tsx';

const hookTexts: Readonly<Record<PurgeStatus['hook']['status'], string>> = {
  none: '',
  waiting: 'The purge hook will be called.',
  done: 'The purge hook was called.',
  failed: 'The purge hook could not be called.',
};

/** Deletes cached images of changed sources. */
export function Purge() {
  const { api, project, description } = useOpenProject();
  const sources = getField(description.getBody('purgeProjectImages'), 'sources');
  const schema = { properties: { sources }, required: ['sources'] };
  const [values, setValues] = useState<Values>({});
  /** The last purge. */
  const [purgeId, setPurgeId] = useState<string | null>(null);
  const all = useAction();
  const purge = async (body: object) => {
    all.clear();
    const input = { projectId: project.id, ...body } as OperationInput<'purgeProjectImages'>;
    const { sourceCount, purgeId } = await api.purgeProjectImages(input);
    setPurgeId(purgeId);
    const what =
      sourceCount === 0 ? 'All images' : `The images of ${countText(sourceCount, 'source')}`;
    return `${what} are purged. Within two seconds the service stops sending the old ones.`;
  };
  const purgeSources = async () => {
    const message = await purge(toBody(schema, withAbsolute(values, project.origin)));
    setValues({});
    return message;
  };
  return (
    <PageSection
      title="Purge"
      intro={
        <>
          Deletes the cached images of changed sources, in all sizes and formats. CDNs and browsers
          keep their images: purge the CDN afterwards by tags, and change <code>v</code> in the URL
          for browsers.
        </>
      }
    >
      <div class="card">
        <ActionForm
          label="Purge"
          submit="Purge sources"
          onSubmit={purgeSources}
          buttons={
            <Confirm
              verb="Purge"
              object="all images"
              consequence={`Every image of ${project.name} will be fetched and rendered again.`}
              onConfirm={() => all.run(() => purge({ all: true }))}
              isAlone
            />
          }
        >
          {(errors) => (
            <SchemaFields
              schema={schema}
              values={values}
              onChange={setValues}
              errors={errors}
              placeholders={{ sources: exampleSource(project.origin) }}
            />
          )}
        </ActionForm>
        <Outcome message={all.message} failure={all.failure} />
        {purgeId !== null && (
          <PurgeProgress key={purgeId} projectId={project.id} purgeId={purgeId} />
        )}
      </div>
    </PageSection>
  );
}

/** Shows whether a purge is in effect, and whether its hook was called. */
function PurgeProgress(input: OperationInput<'getProjectPurge'>) {
  const { api } = useOpenProject();
  const progress = useProgress(() => api.getProjectPurge(input));
  return (
    <Loaded data={progress}>
      {({ status, hook }) => (
        <ul class="progress">
          {/* Hooks are called after the purge takes effect. */}
          {status !== 'accepted' || hook.reason !== '' ? (
            <li>The purge is in effect.</li>
          ) : (
            <li>The purge takes effect within two seconds.</li>
          )}
          {hook.status !== 'none' && (
            <li>
              {hookTexts[hook.status]} {hook.reason}
            </li>
          )}
        </ul>
      )}
    </Loaded>
  );
}
