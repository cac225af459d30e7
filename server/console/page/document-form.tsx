import { useMemo, useState } from 'preact/hooks';
import { useAction, useLoading } from './action.ts';
import { ActionForm } from './action-form.tsx';
import { SchemaFields } from './form.tsx';
import { FailureNotice } from './notice.tsx';
import type { ProjectProps } from './page-section.tsx';
import { useUnsaved } from './route.ts';
import { bodyOf, fieldsOf, type Values, valuesOf } from './schema.ts';

interface DocumentFormProps extends ProjectProps {
  /** Segment of the path, and the field of its response. */
  readonly name: 'limits' | 'freshness';
  /** The name of the schema of its body, whose fields may all be null. */
  readonly input: 'LimitsInput' | 'FreshnessInput';
  readonly title: string;
  /** What an empty control means. */
  readonly placeholders: Readonly<Record<string, string>>;
  /** What has happened when it is saved. */
  readonly saved: string;
}

/** A form of what a project has once, such as its limits. */
export function DocumentForm({
  api,
  project,
  description,
  name,
  input,
  ...props
}: DocumentFormProps) {
  const path = `/projects/${project.id}/${name}`;
  const schema = useMemo(() => {
    const { properties = {} } = description.schemas[input] ?? {};
    return { properties };
  }, [description, input]);
  const fields = fieldsOf(schema);
  /** Null until it is loaded: saving empty controls would remove everything. */
  const [saved, setSaved] = useState<Values | null>(null);
  const [values, setValues] = useState<Values>({});
  const { run, failure } = useAction();
  const show = (document: object) => {
    const loaded = valuesOf(fieldsOf(schema), document);
    setSaved(loaded);
    setValues(loaded);
  };
  useLoading(run, async () => show((await api('GET', path))[name]), [api, path, name, schema]);
  useUnsaved(saved !== null && fields.some(([field]) => values[field] !== saved[field]));
  const save = async () => {
    const none = Object.fromEntries(fields.map(([field]) => [field, null]));
    show((await api('PUT', path, { ...none, ...bodyOf(fields, values) }))[name]);
    return props.saved;
  };
  return (
    <>
      <FailureNotice failure={failure} />
      {saved !== null && (
        <ActionForm label={props.title} submit={`Save ${name}`} onSubmit={save} class="card narrow">
          {(errors) => (
            <SchemaFields
              {...{ schema, values, errors }}
              onChange={setValues}
              placeholders={props.placeholders}
            />
          )}
        </ActionForm>
      )}
    </>
  );
}
