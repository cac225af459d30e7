import { useState } from 'preact/hooks';
import { getFields, toBody, toValues } from '../api/schema.ts';
import { ActionForm } from '../components/action-form.tsx';
import { TextField } from '../components/fields.tsx';
import { PageSection, type ProjectProps } from '../components/page-section.tsx';
import { SchemaFields } from '../components/schema-fields.tsx';
import { linkTo, useUnsaved } from '../route.ts';

/** A project's name, site and deletion. */
export function Settings(props: ProjectProps) {
  const { api, project, description, onChange } = props;
  const { properties = {} } = description.schemas['UpdateProjectInput'] ?? {};
  const schema = { properties, required: Object.keys(properties) };
  const fields = getFields(schema);
  const saved = toValues(fields, project);
  const [values, setValues] = useState(saved);
  const changed = fields.filter(([name]) => values[name] !== saved[name]);
  useUnsaved(changed.length > 0);
  const save = async () => {
    const body = toBody(changed, values);
    const after = (await api('PATCH', `/projects/${project.id}`, body)).project;
    onChange(after);
    setValues(toValues(fields, after));
    return 'Saved.';
  };
  return (
    <PageSection title="Settings" project={project} intro="The project's name and site.">
      <ActionForm
        label="Name and site"
        submit="Save"
        onSubmit={save}
        disabled={changed.length === 0}
        class="card narrow"
      >
        {(errors) => (
          <SchemaFields schema={schema} values={values} onChange={setValues} errors={errors} />
        )}
      </ActionForm>
      <Deletion {...props} />
    </PageSection>
  );
}

/** Deletes a project after the user types its name. */
function Deletion({ api, project, onDelete }: ProjectProps) {
  const [typed, setTyped] = useState('');
  const [isForced, setForced] = useState(false);
  const remove = async () => {
    await api('DELETE', `/projects/${project.id}${isForced ? '?force=true' : ''}`);
    location.hash = linkTo('/projects');
    onDelete(project);
    return '';
  };
  return (
    <section class="card narrow" aria-labelledby="deletion">
      <h2 id="deletion">Delete the project</h2>
      <p>
        Its keys, presets, layers, private sources, secrets, usage and images are deleted, and the
        URLs of its images return 404. This cannot be undone.
      </p>
      <ActionForm
        label="Delete the project"
        submit="Delete the project"
        onSubmit={remove}
        disabled={typed.trim() !== project.name.trim()}
      >
        {() => (
          <>
            <TextField
              label="The name of the project"
              help={`Type ${project.name} to confirm.`}
              value={typed}
              onChange={setTyped}
            />
            <p>
              <label>
                <input
                  type="checkbox"
                  checked={isForced}
                  onChange={(event) => setForced(event.currentTarget.checked)}
                />{' '}
                Cancel prewarming that waits or runs
              </label>
            </p>
          </>
        )}
      </ActionForm>
    </section>
  );
}
