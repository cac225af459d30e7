import type { Layer } from '@image-delivery/sdk/client';
import { useState } from 'preact/hooks';
import type { ApiDescription } from '../api/openapi.ts';
import {
  type Fields,
  getFields,
  type Schema,
  toBody,
  toValues,
  type Values,
} from '../api/schema.ts';
import { isWide } from '../components/field-groups.tsx';
import { multiline, SelectField } from '../components/fields.tsx';
import { type ItemKind, type PartFieldsProps, ProjectItems } from '../components/items-page.tsx';
import type { ProjectProps } from '../components/page-section.tsx';
import { GroupedFields } from '../components/schema-fields.tsx';
import { linkTo } from '../route.ts';
import { LayerPreview } from './layer-preview.tsx';

const kinds = [
  ['text', 'A text'],
  ['image', 'An image'],
] as const;

function findSchema({ schemas }: ApiDescription, kind: string): Schema {
  const { properties = {}, required = [] } =
    schemas[kind === 'image' ? 'LayerImage' : 'LayerText'] ?? {};
  const words = properties['words'];
  if (words === undefined) return { properties, required };
  return { properties: { ...properties, words: { ...words, format: multiline } }, required };
}

const fieldsOfKind = (description: ApiDescription, kind: string): Fields =>
  getFields(findSchema(description, kind));

/** Field names by group. */
const groups = {
  Content: ['words', 'freeText', 'url', 'scale'],
  Font: ['size', 'color', 'weight', 'font', 'fontUrl'],
  Box: ['background', 'padding', 'width', 'height', 'align', 'maxLines'],
  Place: ['position', 'offsetX', 'offsetY', 'rotate', 'tiled'],
  Effects: ['opacity', 'blend'],
};

/** The text of a new layer: readable on images of any size. */
const newText: Values = {
  size: '8%',
  weight: '700',
  color: 'fff',
  background: '000a',
  padding: '2%',
};

/** Returns a layer's body from the texts of its controls. */
function toLayer(values: Values, description: ApiDescription): object {
  const kind = values['kind'] === 'image' ? 'image' : 'text';
  return { [kind]: toBody(fieldsOfKind(description, kind), values) };
}

const layers: ItemKind<Layer> = {
  plural: 'layers',
  singular: 'layer',
  title: 'Layers',
  intro: (
    <>
      Named images and texts: <code>layer=badge,price</code> in an image URL draws these layers, and{' '}
      <code>text.price=19%20€</code> replaces a layer's text.
    </>
  ),
  nameLabel: 'Layer name',
  nameHelp: 'A lower-case letter, and up to 39 lower-case letters, digits, - and _. Example: badge',
  getName: ({ name }) => name,
  describe: ({ image, text }) =>
    image === undefined ? (
      `text: ${String(text?.['words'] ?? '')}`
    ) : (
      <>
        image: <code>{String(image['url'])}</code>
      </>
    ),
  getLink: ({ name }, project) => linkTo('/', { project, layer: name }),
  consequence: (name) => (
    <>
      URLs with <code>layer={name}</code> will fail.
    </>
  ),
  saved: 'Images with it change within two seconds.',
  Fields: LayerFields,
  toValues: (layer, { description }) => {
    if (layer === null) return { ...newText, kind: 'text' };
    const kind = layer.image === undefined ? 'text' : 'image';
    const given = layer[kind] ?? {};
    return { ...toValues(fieldsOfKind(description, kind), given), kind };
  },
  toBody: (values, { description }) => toLayer(values, description),
};

export const Layers = (props: ProjectProps) => <ProjectItems {...props} kind={layers} />;

function LayerFields({ values, onChange, errors, ...props }: PartFieldsProps) {
  const { description } = props;
  const kind = values['kind'] ?? 'text';
  const [wide] = useState(isWide);
  return (
    <div class="split">
      <div>
        <SelectField
          label="What is drawn"
          help="Words in a font, or another image."
          value={kind}
          onChange={(next) => onChange({ ...values, kind: next })}
          options={kinds}
        />
        <GroupedFields
          groups={groups}
          openCount={wide ? 2 : 1}
          example="colour"
          schema={findSchema(description, kind)}
          values={values}
          onChange={onChange}
          errors={errors}
        />
      </div>
      <LayerPreview {...props} layer={toLayer(values, description)} />
    </div>
  );
}
