import { useState } from 'preact/hooks';
import { useAction } from './action.ts';
import { defaultsOf } from './controls.tsx';
import { SchemaFields } from './form.tsx';
import { FailureNotice } from './notice.tsx';
import { PrewarmProgress } from './prewarm-progress.tsx';
import { type ProjectProps, ProjectSection } from './project-section.tsx';
import { bodyOf, fieldsOf, type Values } from './schema.ts';

/** An accepted request. */
interface Accepted {
  readonly path: string;
  /** In ms. */
  readonly acceptedAt: number;
}

/** Queues images to be rendered before they are requested. */
export function Prewarm({ api, project, description }: ProjectProps) {
  const input = description.schemas['PrewarmInput'] ?? {};
  // `sources` replaces `src`, and the page shows the progress itself.
  const { src: _, callbackUrl: __, ...properties } = input.properties ?? {};
  const schema = { ...input, properties, required: ['sources'] };
  const { q = 0, dpr = 0 } = defaultsOf(project);
  const [values, setValues] = useState<Values>({ formats: 'auto' });
  const [accepted, setAccepted] = useState<Accepted | null>(null);
  const { run, failure } = useAction();
  const submit = async (event: Event) => {
    event.preventDefault();
    await run(async () => {
      const body = bodyOf(fieldsOf(schema), values);
      const { location } = await api('POST', `/projects/${project.id}/prewarm`, body);
      setAccepted({ path: `/projects/${project.id}/${location}`, acceptedAt: performance.now() });
      return '';
    });
  };
  return (
    <ProjectSection
      id="prewarm"
      title="Prewarm"
      intro="Renders images before clients request them, when the service has time."
    >
      <form aria-labelledby="prewarm" onSubmit={submit}>
        <div class="fields">
          <SchemaFields
            schema={schema}
            values={values}
            onChange={setValues}
            unset={{ quality: q, dpr }}
            placeholders={{
              sources: `${project.origin.replace(/\/$/, '')}/photo.jpg`,
              widths: '400',
            }}
          />
        </div>
        <FailureNotice failure={failure} />
        <button type="submit" class="primary">
          Prewarm
        </button>
      </form>
      {accepted !== null && <PrewarmProgress key={accepted.path} api={api} {...accepted} />}
    </ProjectSection>
  );
}
