import type { LayerFields, StoredLayer } from '../../store/layer.ts';
import { type LayerField, type LayerKind, layerFields, layerKinds } from '../image/layer-fields.ts';

/** Maximum length as JSON: all layers of a project are in memory with it. */
const maxCharacters = 4_096;

type SchemaOf = (name: string, field: LayerField<unknown>) => object;

/** The schema of a kind's fields as JSON values. */
export function layerFieldsSchema(kind: LayerKind, schemaOf: SchemaOf) {
  const fields = Object.entries<LayerField<unknown>>(layerFields[kind]);
  return {
    type: 'object',
    description: `An ${kind} layer; at most ${maxCharacters} characters as JSON.`.replace(
      /^An t/,
      'A t',
    ),
    properties: Object.fromEntries(fields.map(([name, field]) => [name, schemaOf(name, field)])),
    required: fields.filter(([, field]) => field.default === undefined).map(([name]) => name),
    additionalProperties: false,
  } as const;
}

/** A field's schema with its rule in words, for error messages. */
export const ruledLayerField: SchemaOf = (_, { schema, accepts }) => ({
  ...schema,
  'x-rule': `must be ${accepts}`,
});

/** The errors that the schema does not find, in words. */
export function layerErrors(layer: StoredLayer): string[] {
  const given = layerKinds.filter((kind) => layer[kind] !== undefined);
  if (given.length > 1) return ['either image or text is allowed, not both'];
  return given.flatMap((kind) => fieldErrors(kind, layer[kind] ?? {}));
}

function fieldErrors(kind: LayerKind, given: LayerFields): string[] {
  if (JSON.stringify(given).length > maxCharacters) {
    return [`${kind} must have at most ${maxCharacters} characters as JSON`];
  }
  return Object.entries<LayerField<unknown>>(layerFields[kind]).flatMap(([name, field]) => {
    const value = given[name];
    const isValid = value === undefined || field.parse(String(value)) !== undefined;
    return isValid ? [] : [`${kind}.${name} must be ${field.accepts}`];
  });
}
