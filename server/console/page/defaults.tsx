import { useMemo, useState } from 'preact/hooks';
import { ActionForm } from './action-form.tsx';
import { DefaultsPreview } from './defaults-preview.tsx';
import { isWide } from './field-groups.tsx';
import { GroupedFields } from './form.tsx';
import { countText } from './format.ts';
import { PageSection, type ProjectProps } from './page-section.tsx';
import { useUnsaved } from './route.ts';
import { type Fields, getFields, toBody, toValues, type Values } from './schema.ts';

/** The values that clear a field, which is null in the project. */
const cleared: Readonly<Record<string, unknown>> = { maxWidth: 0, watermarkUrl: '' };

/** Setting names by group. */
const groups = {
  Format: ['autoFormat', 'defaultQuality', 'stripMetadata'],
  Size: ['defaultFit', 'maxWidth', 'defaultDpr'],
  Watermark: [
    'watermarkEnabled',
    'watermarkUrl',
    'watermarkPosition',
    'watermarkOpacity',
    'watermarkScale',
    'watermarkMargin',
  ],
};

/** The body with the settings that differ from the saved ones. */
function findChanges(fields: Fields, saved: Values, values: Values): Record<string, unknown> {
  const changed = fields.filter(([name]) => (values[name] ?? '').trim() !== saved[name]);
  const body = toBody(changed, values);
  for (const [name] of changed) if (name in cleared) body[name] ??= cleared[name];
  return body;
}

export function Defaults({ api, project, description, onChange }: ProjectProps) {
  const schema = useMemo(() => {
    const settings = description.schemas['ProjectSettingsInput'] ?? {};
    const names = getFields(settings).map(([name]) => name);
    return { ...settings, required: names.filter((name) => !(name in cleared)) };
  }, [description]);
  const fields = getFields(schema);
  const saved = useMemo(() => toValues(getFields(schema), project), [schema, project]);
  const [values, setValues] = useState(saved);
  const [wide] = useState(isWide);
  const changes = findChanges(fields, saved, values);
  const count = Object.keys(changes).length;
  useUnsaved(count > 0);
  const save = async () => {
    const response = await api('PATCH', `/projects/${project.id}/settings`, changes);
    onChange(response.project);
    setValues(toValues(fields, response.project));
    return 'Saved. New images use these defaults within two seconds.';
  };
  return (
    <PageSection
      title="Defaults"
      project={project}
      intro="They apply to parameters that the URL of an image does not have."
    >
      <div class="split card">
        <ActionForm
          label="Defaults"
          submit={`Save${count > 0 ? ` ${countText(count, 'change')}` : ''}`}
          onSubmit={save}
          disabled={count === 0}
          buttons={
            <button type="button" aria-disabled={count === 0} onClick={() => setValues(saved)}>
              Discard
            </button>
          }
        >
          {(errors) => (
            <GroupedFields
              groups={groups}
              openCount={wide ? 2 : 1}
              example="watermark"
              schema={schema}
              values={values}
              saved={saved}
              onChange={setValues}
              errors={errors}
            />
          )}
        </ActionForm>
        <DefaultsPreview api={api} project={project} values={values} saved={saved} />
      </div>
    </PageSection>
  );
}
