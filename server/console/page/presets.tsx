import type { Preset } from '@image-delivery/sdk/client';
import { Controls, defaultsOf } from './controls.tsx';
import { NamedParts, type PartFieldsProps, type PartKind } from './named-parts.tsx';
import type { ApiDescription, ApiParameter } from './openapi.ts';
import type { ProjectProps } from './page-section.tsx';
import { linkTo } from './route.ts';
import { bodyOf, valuesOf } from './schema.ts';

/** Returns a schema's parameters, in the order of the service's table. */
export function parametersOf(
  { schemas, parameters }: ApiDescription,
  name: 'PresetParameters' | 'PrewarmVariant',
): readonly ApiParameter[] {
  const accepted = schemas[name]?.properties ?? {};
  return parameters.filter((one) => one.name in accepted);
}

const fieldsOf = (description: ApiDescription) =>
  parametersOf(description, 'PresetParameters').map((one) => [one.name, one.schema] as const);

const presets: PartKind<Preset> = {
  plural: 'presets',
  singular: 'preset',
  title: 'Presets',
  intro: (
    <>
      <code>preset=card</code> in the URL of an image stands for the parameters that are kept under
      this name. Those of the URL itself take precedence.
    </>
  ),
  nameLabel: 'Preset name',
  nameHelp: 'A lower-case letter, and up to 39 lower-case letters, digits, - and _. Example: card',
  nameOf: ({ name }) => name,
  describe: ({ parameters }) => {
    const query = Object.entries(parameters).map(([key, value]) => `${key}=${value}`);
    return <code>{query.join('&')}</code>;
  },
  linkOf: ({ name }, project) => linkTo('/', { project, preset: name }),
  consequence: (name) => (
    <>
      URLs with <code>preset={name}</code> will fail.
    </>
  ),
  saved: 'New images use it within two seconds.',
  Fields: PresetFields,
  valuesOf: (preset, { description }) =>
    preset === null ? {} : valuesOf(fieldsOf(description), preset.parameters),
  bodyOf: (values, { description }) => ({ parameters: bodyOf(fieldsOf(description), values) }),
};

/** A project's presets: named image parameters. */
export const Presets = (props: ProjectProps) => <NamedParts {...props} kind={presets} />;

function PresetFields({ description, project, values, onChange, errors }: PartFieldsProps) {
  return (
    <Controls
      parameters={parametersOf(description, 'PresetParameters')}
      options={values}
      fieldErrors={errors}
      defaults={defaultsOf(project)}
      onChange={onChange}
    />
  );
}
