import type { Preset } from '@image-delivery/sdk/client';
import { type ApiDescription, listParameters } from '../api/openapi.ts';
import { toBody, toValues } from '../api/schema.ts';
import { useOpenProject } from '../app.ts';
import { Controls, toDefaults } from '../components/controls.tsx';
import { type ItemFieldsProps, itemsPage } from '../components/items-page.tsx';
import { linkTo } from '../route.ts';

const listAccepted = (description: ApiDescription) =>
  listParameters(description, description.getBody('putProjectPreset').properties?.['parameters']);

const getFields = (description: ApiDescription) =>
  listAccepted(description).map(({ name, schema }) => [name, schema] as const);

/** A project's presets: named image parameters. */
export const Presets = itemsPage<Preset>({
  noun: 'Preset',
  nameField: 'presetName',
  singular: 'preset',
  title: 'Presets',
  intro: (
    <>
      Named sets of parameters: <code>preset=card</code> in an image URL applies the preset. Other
      parameters in the URL override it.
    </>
  ),
  nameLabel: 'Preset name',
  nameHelp: 'A lower-case letter, then up to 39 lower-case letters, digits, - and _. Example: card',
  getName: ({ name }) => name,
  describe: ({ parameters }) => {
    const query = Object.entries(parameters).map(([key, value]) => `${key}=${value}`);
    return <code>{query.join('&')}</code>;
  },
  getLink: ({ name }, project) => linkTo('/', { project, preset: name }),
  consequence: (name) => (
    <>
      URLs with <code>preset={name}</code> stop working.
    </>
  ),
  saved: 'New images use it within two seconds.',
  form: {
    Fields: PresetFields,
    toValues: (preset, description) =>
      preset === null ? {} : toValues(getFields(description), preset.parameters),
    toBody: (values, description) => ({ parameters: toBody(getFields(description), values) }),
  },
});

function PresetFields(props: ItemFieldsProps) {
  const { description, project } = useOpenProject();
  return (
    <Controls parameters={listAccepted(description)} defaults={toDefaults(project)} {...props} />
  );
}
