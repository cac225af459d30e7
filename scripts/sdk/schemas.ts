import { openApiDocument } from '../../server/control/openapi.ts';
import type { Operation } from '../../server/control/operation.ts';
import { controlPrefix, operations } from '../../server/control/operations.ts';
import { documentation } from './documentation.ts';

/** Part of JSON Schema (2020-12) that the service's schemas use. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly (string | boolean)[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly 'x-rule'?: string;
}
interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly description?: string;
  readonly schema: Schema;
}
interface OpenApi {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly parameters?: readonly Parameter[] }>>>
  >;
}

const { components, paths } = JSON.parse(
  JSON.stringify(openApiDocument('https://images.example.com')),
) as OpenApi;

const plainTypes: Readonly<Record<string, string>> = {
  integer: 'number',
  number: 'number',
  string: 'string',
  boolean: 'boolean',
  null: 'null',
};

/** Returns the TypeScript type of a schema's values. */
function toType(schema: Schema): string {
  const { $ref, type = [], anyOf, allOf, items, properties, additionalProperties } = schema;
  if ($ref !== undefined) return $ref.replace('#/components/schemas/', '');
  if (schema.enum !== undefined)
    return schema.enum.map((word) => (typeof word === 'string' ? `'${word}'` : word)).join(' | ');
  if (anyOf !== undefined) return union(anyOf.map(toType));
  if (items !== undefined) return `readonly (${toType(items)})[]`;
  if (properties !== undefined) return `{\n${describeFields(schema)} }`;
  if (typeof additionalProperties === 'object') {
    return `Readonly<Record<string, ${toType(additionalProperties)}>>`;
  }
  const types = [type].flat();
  if (types.length === 0 && allOf?.[0] !== undefined) return toType(allOf[0]);
  return union(types.map((typeName) => plainTypes[typeName] ?? 'unknown'));
}

const union = (types: readonly string[]): string => [...new Set(types)].join(' | ');

function describeFields({ properties = {}, required = [] }: Schema): string {
  return Object.entries(properties)
    .map(
      ([name, schema]) =>
        `${comment(schema)}${name.includes('.') ? `'${name}'` : name}${field(schema, required.includes(name))}`,
    )
    .join('\n');
}

/** Optional fields can also be undefined, for `exactOptionalPropertyTypes`. */
const field = (schema: Schema, isRequired: boolean): string =>
  isRequired ? `: ${toType(schema)};` : `?: ${toType(schema)} | undefined;`;

/** Returns a schema's comment: its description, and the limits that the type does not state. */
function comment(schema: Schema): string {
  const { description, allOf = [], minimum, maximum, minLength, maxLength } = schema;
  const { minItems, maxItems } = schema;
  const sentences = [
    description,
    ...allOf.map((rule) => rule['x-rule'] && `It ${rule['x-rule']}.`),
    between(minimum, maximum, ''),
    between(minLength, maxLength, ' characters'),
    between(minItems, maxItems, ' items'),
  ].filter((sentence) => sentence);
  return sentences.length === 0 ? '' : documentation(sentences.join(' '));
}

/** Returns the limits in words. The description alone explains a lower limit. */
function between(minimum: number | undefined, maximum: number | undefined, what: string): string {
  if (maximum === undefined || maximum === Number.MAX_SAFE_INTEGER) return '';
  return minimum === undefined ? `At most ${maximum}${what}.` : `${minimum} to ${maximum}${what}.`;
}

function declaration([name, schema]: readonly [string, Schema]): string {
  const isObject = schema.properties !== undefined;
  const declared = isObject
    ? `interface ${name} {\n${describeFields(schema)} }`
    : `type ${name} = ${toType(schema)};`;
  return `${comment(schema)}export ${declared}`;
}

/** Parameters that the client's `iterate` sets itself. */
const pageParameters: readonly string[] = ['limit', 'cursor'];

/** Returns an operation's parameters, body and result as the fields of a type. */
function operationType([id, operation]: readonly [string, Operation]): string {
  const { method, path, input, result, summary, description } = operation;
  const { parameters = [] } = paths[`${controlPrefix}${path}`]?.[method.toLowerCase()] ?? {};
  const of = (place: Parameter['in']) =>
    parameters
      .filter((part) => part.in === place && !pageParameters.includes(part.name))
      .map(({ name, description: text, schema }) => {
        const described = text === undefined ? schema : { ...schema, description: text };
        return `${comment(described)}${name}${field(schema, place === 'path')}`;
      })
      .join('\n');
  const fields = (place: Parameter['in']) => (of(place) === '' ? 'undefined' : `{\n${of(place)} }`);
  const body =
    input === undefined ? 'undefined' : `${input.name}${input.isOptional ? ' | undefined' : ''}`;
  return `${documentation(`${summary}. ${description}`)}${id}: {
      path: ${fields('path')};
      query: ${fields('query')};
      body: ${body};
      result: ${resultType(result)};
    };`;
}

function resultType(result: Operation['result']): string {
  if (result === null) return 'undefined';
  const { name } = result.schema;
  return result.isList ? `readonly ${name}[]` : name;
}

/** Returns the types of bodies, and of each operation's parameters and result. */
export const schemaTypes = (): string =>
  [
    ...Object.entries(components.schemas).map(declaration),
    `/** Inputs of each control-plane operation, and the value in its response body. */
    export interface Operations {
    ${Object.entries<Operation>(operations).map(operationType).join('\n')} }`,
  ].join('\n\n');
