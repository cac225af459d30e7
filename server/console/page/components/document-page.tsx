import { useMemo, useState } from 'preact/hooks';
import { useAction, useLoading } from '../api/action.ts';
import { getFields, toBody, toValues, type Values } from '../api/schema.ts';
import { useUnsaved } from '../route.ts';
import { ActionForm } from './action-form.tsx';
import { FailureNotice, Loading } from './notice.tsx';
import { PageSection, type ProjectProps } from './page-section.tsx';
import { SchemaFields } from './schema-fields.tsx';

/**
 * Single documents of a project: their pages, by the path segment, which is also the response
 * field.
 */
const documents = {
  freshness: {
    title: 'Freshness',
    /** The schema name of the request body, in which every field is nullable. */
    input: 'FreshnessInput',
    intro:
      'How images follow sources that change under the same URL. Without a source age, an image changes only after a purge, or with another v in its URL.',
    label: 'Freshness',
    /** The meaning of an empty control. */
    placeholders: { sourceAge: 'never', browserAge: 'a year' },
    saved: 'Saved. Images follow it within two seconds; browsers keep their images.',
  },
  limits: {
    title: 'Limits',
    input: 'LimitsInput',
    intro:
      'Daily limits (UTC). Above a limit, the service refuses images that are not cached. Only a root key can change limits.',
    label: 'Daily limits',
    placeholders: { rendersPerDay: 'no limit', bytesPerDay: 'no limit' },
    saved: 'Saved. Above a limit, the service refuses images that are not cached.',
  },
} as const;

export const documentPage = (name: keyof typeof documents) => (props: ProjectProps) => {
  const { title, intro } = documents[name];
  return (
    <PageSection title={title} project={props.project} intro={intro}>
      <DocumentForm {...props} name={name} />
    </PageSection>
  );
};

function DocumentForm({
  api,
  project,
  description,
  name,
}: ProjectProps & { readonly name: keyof typeof documents }) {
  const document = documents[name];
  const path = `/projects/${project.id}/${name}`;
  const schema = useMemo(() => {
    const { properties = {} } = description.schemas[document.input] ?? {};
    return { properties };
  }, [description, document]);
  const fields = getFields(schema);
  /** Null until loaded: saving empty controls would remove all values. */
  const [saved, setSaved] = useState<Values | null>(null);
  const [values, setValues] = useState<Values>({});
  const { run, failure } = useAction();
  const show = (found: object) => {
    const loaded = toValues(getFields(schema), found);
    setSaved(loaded);
    setValues(loaded);
  };
  useLoading(run, async () => show((await api('GET', path))[name]), [api, path, name, schema]);
  useUnsaved(saved !== null && fields.some(([field]) => values[field] !== saved[field]));
  const save = async () => {
    const none = Object.fromEntries(fields.map(([field]) => [field, null]));
    show((await api('PUT', path, { ...none, ...toBody(fields, values) }))[name]);
    return document.saved;
  };
  return (
    <>
      <FailureNotice failure={failure} />
      {saved === null && failure === null && <Loading />}
      {saved !== null && (
        <ActionForm
          label={document.label}
          submit={`Save ${name}`}
          onSubmit={save}
          class="card narrow"
        >
          {(errors) => (
            <SchemaFields
              {...{ schema, values, errors }}
              onChange={setValues}
              placeholders={document.placeholders}
            />
          )}
        </ActionForm>
      )}
    </>
  );
}
