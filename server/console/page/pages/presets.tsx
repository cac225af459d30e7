import type { Preset } from '@image-delivery/sdk/client';
import type { ApiDescription, ApiParameter } from '../api/openapi.ts';
import { toBody, toValues } from '../api/schema.ts';
import { Controls, toDefaults } from '../components/controls.tsx';
import { type ItemKind, type PartFieldsProps, ProjectItems } from '../components/items-page.tsx';
import type { ProjectProps } from '../components/page-section.tsx';
import { linkTo } from '../route.ts';

/** Returns a schema's parameters, in the order of the service's table. */
export function listParameters(
  { schemas, parameters }: ApiDescription,
  name: 'PresetParameters' | 'PrewarmVariant',
): readonly ApiParameter[] {
  const accepted = schemas[name]?.properties ?? {};
  return parameters.filter((parameter) => parameter.name in accepted);
}

const getFields = (description: ApiDescription) =>
  listParameters(description, 'PresetParameters').map(
    (parameter) => [parameter.name, parameter.schema] as const,
  );

const presets: ItemKind<Preset> = {
  plural: 'presets',
  singular: 'preset',
  title: 'Presets',
  intro: (
    <>
      Named sets of parameters: <code>preset=card</code> in an image URL applies the preset. Other
      parameters in the URL override it.
    </>
  ),
  nameLabel: 'Preset name',
  nameHelp: 'A lower-case letter, and up to 39 lower-case letters, digits, - and _. Example: card',
  getName: ({ name }) => name,
  describe: ({ parameters }) => {
    const query = Object.entries(parameters).map(([key, value]) => `${key}=${value}`);
    return <code>{query.join('&')}</code>;
  },
  getLink: ({ name }, project) => linkTo('/', { project, preset: name }),
  consequence: (name) => (
    <>
      URLs with <code>preset={name}</code> will fail.
    </>
  ),
  saved: 'New images use it within two seconds.',
  Fields: PresetFields,
  toValues: (preset, { description }) =>
    preset === null ? {} : toValues(getFields(description), preset.parameters),
  toBody: (values, { description }) => ({ parameters: toBody(getFields(description), values) }),
};

/** A project's presets: named image parameters. */
export const Presets = (props: ProjectProps) => <ProjectItems {...props} kind={presets} />;

function PresetFields({ description, project, values, onChange, errors }: PartFieldsProps) {
  return (
    <Controls
      parameters={listParameters(description, 'PresetParameters')}
      options={values}
      fieldErrors={errors}
      defaults={toDefaults(project)}
      onChange={onChange}
    />
  );
}
