import { useMemo, useState } from 'preact/hooks';
import { DefaultsPreview } from './defaults-preview.tsx';
import { readForm, SchemaFields, type Values } from './form.tsx';
import { fieldsOf, type Interface, type Schema } from './interface.ts';
import { FailureNotice } from './notice.tsx';
import { useUnsaved } from './place.ts';
import { type Api, Failure, type Project } from './service.ts';

interface DefaultsProps {
  readonly api: Api;
  readonly project: Project;
  readonly description: Interface;
  readonly onChange: (project: Project) => void;
}

/** The settings of a project as texts. */
function valuesOf(schema: Schema, project: Project): Values {
  return Object.fromEntries(fieldsOf(schema).map(([name]) => [name, String(project[name] ?? '')]));
}

/** The values that clear a field, which is null in the project. */
const cleared: Readonly<Record<string, unknown>> = { maxWidth: 0, watermarkUrl: '' };

/** The changed settings. */
function changesOf(schema: Schema, project: Project, values: Values): Record<string, unknown> {
  const body = { ...readForm(schema, values) };
  for (const [name, nothing] of Object.entries(cleared)) {
    if ((values[name] ?? '').trim() === '') body[name] = nothing;
  }
  const before = valuesOf(schema, project);
  return Object.fromEntries(
    Object.entries(body).filter(([name]) => (values[name] ?? '').trim() !== before[name]),
  );
}

/** The defaults of a project with a preview of changes. */
export function Defaults({ api, project, description, onChange }: DefaultsProps) {
  const schema = useMemo(() => {
    const settings = description.schemas['ProjectSettingsInput'] ?? {};
    const names = fieldsOf(settings).map(([name]) => name);
    return { ...settings, required: names.filter((name) => !(name in cleared)) };
  }, [description]);
  const saved = useMemo(() => valuesOf(schema, project), [schema, project]);
  const [values, setValues] = useState(saved);
  const [message, setMessage] = useState('');
  const [failure, setFailure] = useState<Failure | null>(null);
  const changes = changesOf(schema, project, values);
  const count = Object.keys(changes).length;
  useUnsaved(count > 0);
  const change = (next: Values) => {
    setValues(next);
    setMessage('');
  };
  const save = async (event: Event) => {
    event.preventDefault();
    try {
      const changed = await api.update(project.id, changes);
      onChange(changed);
      setValues(valuesOf(schema, changed));
      setFailure(null);
      setMessage('Saved. New images use these defaults within two seconds.');
    } catch (error) {
      setFailure(Failure.of(error));
    }
  };
  return (
    <section class="card" aria-labelledby="defaults">
      <h2 id="defaults">Defaults</h2>
      <p class="quiet">They apply where the URL of an image says nothing else.</p>
      <div class="split">
        <form aria-labelledby="defaults" onSubmit={save}>
          <div class="fields">
            <SchemaFields {...{ schema, values }} onChange={change} />
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
        <DefaultsPreview {...{ project, values, saved }} />
      </div>
    </section>
  );
}
