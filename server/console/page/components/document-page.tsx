import type { Project } from '@image-delivery/sdk/client';
import type { ComponentChildren, ComponentType } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { useData } from '../api/action.ts';
import { countText } from '../api/format.ts';
import { getFields, toBody, toValues, type Values } from '../api/schema.ts';
import { callOperation } from '../api/service.ts';
import { useOpenProject } from '../app.ts';
import { useUnsaved } from '../route.ts';
import { ActionForm } from './action-form.tsx';
import { Loaded } from './notice.tsx';
import { PageSection } from './page-section.tsx';
import { GroupedFields, SchemaFields, toFormFields } from './schema-fields.tsx';

/** Properties of a preview next to the form. */
export interface PreviewProps {
  readonly values: Values;
  readonly saved: Values;
}

/** A single document of a project, with a form for its fields. */
export interface DocumentKind {
  readonly title: string;
  readonly intro: string;
  /**
   * The id of the operation that stores the document. Its body determines the controls. `update…`
   * changes fields of the project itself.
   */
  readonly operation: string;
  /** The success message. */
  readonly saved: string;
  /** The meanings of empty controls, by field. */
  readonly placeholders?: Readonly<Record<string, string>>;
  /** The values that clear fields; the other fields of a project are required. */
  readonly cleared?: Readonly<Record<string, unknown>>;
  /** Field names by group title; by default there are no groups. */
  readonly groups?: Readonly<Record<string, readonly string[]>>;
  readonly Preview?: ComponentType<PreviewProps>;
  /** More sections of the page. */
  readonly More?: ComponentType;
}

const isOfProject = ({ operation }: DocumentKind): boolean => operation.startsWith('update');

/** Returns a document's page. */
export const documentPage = (kind: DocumentKind) =>
  function DocumentPage() {
    const { project } = useOpenProject();
    const { title, intro, More } = kind;
    return (
      <PageSection title={title} intro={intro}>
        {isOfProject(kind) ? (
          <DocumentForm kind={kind} stored={project} />
        ) : (
          <LoadedForm kind={kind} />
        )}
        {More !== undefined && <More />}
      </PageSection>
    );
  };

/** The form must have the stored values: saving empty controls would remove all values. */
function LoadedForm({ kind }: { readonly kind: DocumentKind }) {
  const { api, project } = useOpenProject();
  const read = kind.operation.replace('put', 'get');
  const document = useData(
    () => callOperation(api, read, { projectId: project.id }),
    [api, project.id],
  );
  return (
    <Loaded data={document}>
      {(stored) => <DocumentForm kind={kind} stored={stored as object} />}
    </Loaded>
  );
}

interface DocumentFormProps {
  readonly kind: DocumentKind;
  readonly stored: object;
}

function DocumentForm({ kind, stored }: DocumentFormProps) {
  const { api, project, description, session } = useOpenProject();
  const { title, operation, placeholders = {}, cleared = {}, groups, Preview } = kind;
  const body = description.getBody(operation);
  const isPart = isOfProject(kind);
  const schema = useMemo(() => {
    const names = getFields(body).map(([name]) => name);
    const required = isPart ? names.filter((name) => !(name in cleared)) : [];
    return { properties: body.properties ?? {}, required };
  }, [description, operation]);
  const fields = getFields(schema);
  const [saved, setSaved] = useState(() => toValues(schema, stored));
  const [values, setValues] = useState(saved);
  const changed = fields.filter(([name]) => (values[name] ?? '').trim() !== saved[name]);
  const count = changed.length;
  useUnsaved(count > 0);
  const save = async () => {
    // A change contains only the changed fields, and a new document all fields.
    const sent = isPart ? changed : fields;
    const empty = sent.filter(([name]) => !isPart || name in cleared);
    const none = Object.fromEntries(empty.map(([name]) => [name, cleared[name] ?? null]));
    const input = {
      projectId: project.id,
      ...none,
      ...toBody({ properties: Object.fromEntries(sent) }, values),
    };
    const changedDocument = (await callOperation(api, operation, input)) as object;
    if (isPart) session.setProject(changedDocument as Project);
    const next = toValues(schema, changedDocument);
    setSaved(next);
    setValues(next);
    return kind.saved;
  };
  const form = (
    <ActionForm
      label={title}
      submit={count > 0 ? `Save ${countText(count, 'change')}` : 'Save'}
      onSubmit={save}
      disabled={count === 0}
      class={Preview === undefined ? 'card narrow' : ''}
      buttons={
        <button type="button" aria-disabled={count === 0} onClick={() => setValues(saved)}>
          Discard
        </button>
      }
    >
      {(errors): ComponentChildren => {
        const shared = { values, onChange: setValues, errors };
        if (groups === undefined) return <SchemaFields {...shared} {...{ schema, placeholders }} />;
        return (
          <GroupedFields {...shared} fields={toFormFields(schema, { groups })} saved={saved} />
        );
      }}
    </ActionForm>
  );
  if (Preview === undefined) return form;
  return (
    <div class="split card">
      {form}
      <Preview {...{ values, saved }} />
    </div>
  );
}
