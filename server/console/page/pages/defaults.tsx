import { useMemo, useState } from 'preact/hooks';
import { countText } from '../api/format.ts';
import { browsers, useImage, useSignPath } from '../api/image.ts';
import { imagePath, isSource, type ParameterTexts } from '../api/image-url.ts';
import { type Fields, getFields, toBody, toValues, type Values } from '../api/schema.ts';
import { ActionForm } from '../components/action-form.tsx';
import { isWide } from '../components/field-groups.tsx';
import { PageSection, type ProjectProps } from '../components/page-section.tsx';
import { Preview, PreviewImage, usePreviewSource } from '../components/preview.tsx';
import { GroupedFields } from '../components/schema-fields.tsx';
import { useUnsaved } from '../route.ts';

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

interface PreviewProps extends Pick<ProjectProps, 'api' | 'project'> {
  readonly values: Values;
  readonly saved: Values;
}

const [[modernAccept]] = browsers;
/** An unusual aspect ratio makes the fit visible. */
const box = { w: 320, h: 240 };

/**
 * Returns the parameters equivalent to these defaults. A watermark is not equivalent to any
 * parameter.
 */
function toOptions(values: Values): ParameterTexts {
  const { defaultQuality = '', defaultDpr = '1', defaultFit = '', maxWidth = '' } = values;
  const limit = Number(maxWidth) > 0 ? Number(maxWidth) / (Number(defaultDpr) || 1) : box.w;
  return {
    w: String(Math.max(1, Math.floor(Math.min(box.w, limit)))),
    h: String(box.h),
    q: defaultQuality,
    fit: defaultFit,
    dpr: defaultDpr,
    fmt: values['autoFormat'] === '1' ? 'auto' : '',
  };
}

/** An image with the saved defaults and watermark, and with the form's values. */
function DefaultsPreview({ api, project, values, saved }: PreviewProps) {
  const [source, setSource] = usePreviewSource(project);
  const path = (from: Values) =>
    isSource(source) ? imagePath({ source, project: project.id, options: toOptions(from) }) : null;
  const sign = useSignPath(api, project);
  const before = useImage(path(saved), modernAccept, sign);
  const after = useImage(path(values), modernAccept, sign);
  return (
    <Preview
      project={project}
      source={source}
      onChange={setSource}
      note="The preview has the saved watermark."
    >
      <PreviewImage title="Saved" state={before} />
      <PreviewImage title="With your changes" state={after} />
    </Preview>
  );
}
