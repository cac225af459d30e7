import { imageFacts } from '../../pool/rendering/image-facts/fields.ts';
import type { PresetParameters } from '../../store/project.ts';
import { fieldsOfKind, type LayerField, layerKinds } from '../image/layer-fields.ts';
import { type ParameterName, parameterNames, parameters } from '../image/parameters.ts';
import { colour, flag, type ParameterType, toText, type ValueSchema } from '../image/values.ts';
import { ref } from './schema.ts';

const capitalised = (name: string): string => `${name[0]?.toUpperCase()}${name.slice(1)}`;

/** Schemas shared by several parameters. */
const sharedNames: ReadonlyMap<ValueSchema, string> = new Map([
  [flag.schema, 'ImageFlag'],
  [colour.schema, 'ImageColour'],
]);

/**
 * Returns the name of a parameter's schema in the components, or null for a plain number.
 * Generators for Go need named schemas for alternatives.
 */
function schemaName(name: ParameterName): string | null {
  const { schema } = parameters[name];
  if (schema.anyOf === undefined && schema.enum === undefined && schema.pattern === undefined) {
    return null;
  }
  return sharedNames.get(schema) ?? `Image${capitalised(name)}`;
}

/** Returns a parameter's schema for the OpenAPI document, or a reference to it. */
export function parameterSchema(name: ParameterName): object {
  const key = schemaName(name);
  return key === null ? parameters[name].schema : ref(key);
}

/** Returns the schema of a parameter or a layer field with its rule in words, for error messages. */
export const ruledSchema = ({ schema, accepts }: ParameterType<unknown>): object => ({
  ...schema,
  'x-rule': `must be ${accepts}`,
});
export const ruledParameter = (name: ParameterName): object => ruledSchema(parameters[name]);

/** Returns the schemas of image parameters as JSON values: the fields of an object. */
export const parameterFields = (
  names: readonly ParameterName[],
  toSchema: (name: ParameterName) => object,
) => Object.fromEntries(names.map((name) => [name, toSchema(name)]));

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

/**
 * Layer schemas that generators for Go need named. Each field name uses one schema in all kinds.
 */
const layerSchemas = new Map<ValueSchema, string>([[colour.schema, 'ImageColour']]);
for (const kind of layerKinds) {
  for (const [name, { schema }] of Object.entries(fieldsOfKind(kind))) {
    if (schema.anyOf === undefined && schema.enum === undefined) continue;
    if (!layerSchemas.has(schema)) layerSchemas.set(schema, `Layer${capitalised(name)}`);
  }
}

/**
 * Returns a layer field's schema for the OpenAPI document, with its meaning and default, or a
 * reference to it.
 */
export function layerFieldSchema(field: LayerField<unknown>): object {
  const { schema, meaning, accepts } = field;
  const name = layerSchemas.get(schema);
  return {
    ...(name === undefined ? schema : ref(name)),
    description: `${meaning} Accepts ${accepts}.`,
    ...(field.default != null && { default: field.default }),
    examples: [field.example],
  };
}

/** The image and layer schemas that other schemas refer to, by name. */
export const imageSchemas = {
  ImageFacts: imageFacts.schema,
  ...Object.fromEntries([...layerSchemas].map(([schema, name]) => [name, schema])),
  ...Object.fromEntries(
    parameterNames.flatMap((name) => {
      const key = schemaName(name);
      return key === null ? [] : [[key, parameters[name].schema] as const];
    }),
  ),
};
