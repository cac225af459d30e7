import { useMemo, useState } from 'preact/hooks';
import { useAction } from './action.ts';
import { DefaultsPreview } from './defaults-preview.tsx';
import { SchemaFields } from './form.tsx';
import { FailureNotice } from './notice.tsx';
import { type ProjectProps, ProjectSection } from './project-section.tsx';
import { useUnsaved } from './route.ts';
import { bodyOf, type Fields, fieldsOf, type Values, valuesOf } from './schema.ts';

/** The values that clear a field, which is null in the project. */
const cleared: Readonly<Record<string, unknown>> = { maxWidth: 0, watermarkUrl: '' };

/** The body with the settings that differ from the saved ones. */
function changesOf(fields: Fields, saved: Values, values: Values): Record<string, unknown> {
  const changed = fields.filter(([name]) => (values[name] ?? '').trim() !== saved[name]);
  const body = bodyOf(changed, values);
  for (const [name] of changed) if (name in cleared) body[name] ??= cleared[name];
  return body;
}

/** The defaults of a project with a preview of changes. */
export function Defaults({ api, project, description, onChange }: ProjectProps) {
  const schema = useMemo(() => {
    const settings = description.schemas['ProjectSettingsInput'] ?? {};
    const names = fieldsOf(settings).map(([name]) => name);
    return { ...settings, required: names.filter((name) => !(name in cleared)) };
  }, [description]);
  const fields = fieldsOf(schema);
  const saved = useMemo(() => valuesOf(fieldsOf(schema), project), [schema, project]);
  const [values, setValues] = useState(saved);
  const { run, clear, message, failure } = useAction();
  const changes = changesOf(fields, saved, values);
  const count = Object.keys(changes).length;
  useUnsaved(count > 0);
  const change = (next: Values) => {
    setValues(next);
    if (message !== '') clear();
  };
  const save = async (event: Event) => {
    event.preventDefault();
    await run(async () => {
      const response = await api('PATCH', `/projects/${project.id}/settings`, changes);
      onChange(response.project);
      setValues(valuesOf(fields, response.project));
      return 'Saved. New images use these defaults within two seconds.';
    });
  };
  return (
    <ProjectSection
      id="defaults"
      title="Defaults"
      intro="They apply to parameters that the URL of an image does not have."
    >
      <div class="split">
        <form aria-labelledby="defaults" onSubmit={save}>
          <div class="fields">
            <SchemaFields schema={schema} values={values} onChange={change} />
          </div>
          <FailureNotice failure={failure} />
          <p class="row">
            <button type="submit" class="primary" disabled={count === 0}>
              Save{count > 0 && ` ${count} ${count === 1 ? 'change' : 'changes'}`}
            </button>
            <button type="button" disabled={count === 0} onClick={() => change(saved)}>
              Discard
            </button>
          </p>
          <p role="status" class="quiet">
            {message}
          </p>
        </form>
        <DefaultsPreview project={project} values={values} saved={saved} />
      </div>
    </ProjectSection>
  );
}
