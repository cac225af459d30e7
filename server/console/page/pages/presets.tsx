import type { Preset } from '@image-delivery/sdk/client';
import { listParameters } from '../api/openapi.ts';
import { getField, toBody, toValues } from '../api/schema.ts';
import { useOpenProject } from '../app.ts';
import { Controls } from '../components/controls.tsx';
import { type ItemFieldsProps, itemsPage } from '../components/items-page.tsx';
import { linkTo } from '../route.ts';

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
    toValues: (schema, preset) =>
      toValues(getField(schema, 'parameters'), preset?.parameters ?? null),
    toBody: (schema, values) => ({ parameters: toBody(getField(schema, 'parameters'), values) }),
  },
});

function PresetFields({ schema, ...props }: ItemFieldsProps) {
  const { description, project } = useOpenProject();
  const parameters = listParameters(description, getField(schema, 'parameters'));
  return <Controls parameters={parameters} project={project} {...props} />;
}
