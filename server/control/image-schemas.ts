import { imageFacts } from '../../pool/rendering/image-facts/fields.ts';
import type { PresetParameters } from '../../store/project.ts';
import { fieldsOfKind, type LayerField, layerKinds } from '../image/layer-fields.ts';
import { urlParameters } from '../image/overlays.ts';
import { parameterNames, parameters } from '../image/parameters.ts';
import { colour, flag, type ParameterType, toText, type ValueSchema } from '../image/values.ts';
import { ref } from './schema.ts';

export const capitalised = (name: string): string => `${name[0]?.toUpperCase()}${name.slice(1)}`;

type AnyType = ParameterType<unknown>;

/** Returns a schema with its rule in words, for error messages. */
const withRule = ({ schema, accepts }: AnyType): object => ({
  ...schema,
  'x-rule': `must be ${accepts}`,
});

/**
 * The types whose schemas are components, by schema. Generators for Go need named schemas for
 * alternatives.
 */
const components = new Map<ValueSchema, { readonly name: string; readonly type: AnyType }>([
  [flag.schema, { name: 'ImageFlag', type: flag }],
  [colour.schema, { name: 'ImageColour', type: colour }],
]);
function addComponent(prefix: string, name: string, type: AnyType): void {
  const { schema } = type;
  if (schema.anyOf === undefined && schema.enum === undefined) return;
  if (!components.has(schema)) components.set(schema, { name: prefix + capitalised(name), type });
}
for (const name of parameterNames) addComponent('Image', name, parameters[name]);
for (const kind of layerKinds) {
  for (const [name, field] of Object.entries(fieldsOfKind(kind)))
    addComponent('Layer', name, field);
}

/** Returns the schema of a type in the OpenAPI document, or a reference to it. */
export function toSchema(type: AnyType): object {
  const component = components.get(type.schema);
  return component === undefined ? withRule(type) : ref(component.name);
}

/** Returns the schemas of image parameters as JSON values: the fields of an object. */
export const parameterFields = (names: readonly string[]) =>
  Object.fromEntries(
    Object.entries(urlParameters).flatMap(([name, type]) =>
      names.includes(name) ? [[name, toSchema(type)]] : [],
    ),
  );

/** Alternative parameter names in URLs, with the canonical names, for hints in error messages. */
export const parameterAliases: Readonly<Record<string, string>> = Object.fromEntries(
  parameterNames.flatMap((name) => parameters[name].aliases.map((alias) => [alias, name])),
);

/**
 * Returns, in words, the errors that the schema cannot find.
 * @param subject of the errors, such as `variants[0]`
 * @param types by the names of the values
 * @param maxCharacters maximum length as JSON, because each project holds the values in memory
 */
export function valueErrors(
  values: PresetParameters,
  subject: string,
  types: Readonly<Record<string, ParameterType<unknown>>>,
  maxCharacters = Number.POSITIVE_INFINITY,
): string[] {
  if (JSON.stringify(values).length > maxCharacters) {
    return [`${subject} must have at most ${maxCharacters} characters as JSON`];
  }
  return Object.entries(values).flatMap(([name, value]) => {
    const type = types[name];
    const isValid = type === undefined || type.parse(toText(value)) !== undefined;
    return isValid ? [] : [`${subject}.${name} must be ${type.accepts}`];
  });
}

/** Returns a layer field's schema for the OpenAPI document, with its meaning and default. */
export function layerFieldSchema(field: LayerField<unknown>): object {
  const { meaning, accepts } = field;
  return {
    ...toSchema(field),
    description: `${meaning} Accepts ${accepts}.`,
    ...(field.default != null && { default: field.default }),
    examples: [field.example],
  };
}

/** The image and layer schemas that other schemas refer to, by name. */
export const imageSchemas = {
  ImageFacts: imageFacts.schema,
  ...Object.fromEntries([...components.values()].map(({ name, type }) => [name, withRule(type)])),
};
