import { chooseKind, type Schema } from './schema.ts';

/** The parts of `openapi.json` that the page uses. */

/** A transform parameter of the image endpoint. */
export interface ApiParameter {
  readonly name: string;
  /** Such as size. */
  readonly group: string;
  readonly schema: Schema;
  readonly example: string;
  readonly meaning: string;
  readonly accepts: string;
  readonly aliases: readonly string[];
}

export interface ApiDescription {
  /** The base of delivery URLs, excluding the trailing slash. */
  readonly baseUrl: string;
  /** In the order of the service's table. */
  readonly parameters: readonly ApiParameter[];
  /** Schemas of control plane bodies, by name. */
  readonly schemas: Readonly<Record<string, Schema>>;
}

interface DocumentParameter {
  readonly name: string;
  readonly schema: Schema;
  readonly example?: unknown;
  readonly 'x-transform'?: Pick<ApiParameter, 'group' | 'meaning' | 'accepts' | 'aliases'>;
}

interface OpenApiDocument {
  readonly servers: readonly [{ readonly url: string }];
  readonly paths: {
    readonly '/img/': { readonly get: { readonly parameters: readonly DocumentParameter[] } };
  };
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const flagTexts: Readonly<Record<string, string>> = { true: '1', false: '0' };

/** Names of parameters that set layer texts. */
const layerText = /^text\.[a-z][a-z0-9_-]{0,39}$/;

/**
 * Returns values by canonical parameter name. Drops unknown names: external links contain them, and
 * they would end up in code that users copy.
 */
export function parametersIn(
  query: Readonly<Record<string, string>>,
  { parameters }: Pick<ApiDescription, 'parameters'>,
): Readonly<Record<string, string>> {
  const known = parameters.flatMap(({ name, aliases, schema }) =>
    [name, ...aliases].flatMap((spelling) => {
      const value = Object.hasOwn(query, spelling) ? query[spelling] : undefined;
      if (value === undefined) return [];
      // Flag controls use 1 and 0.
      const flag = chooseKind(schema) === 'flag' ? flagTexts[value] : undefined;
      return [[name, flag ?? value] as const];
    }),
  );
  // Layer texts.
  const words = Object.entries(query).filter(([name]) => layerText.test(name));
  return Object.fromEntries([...known, ...words]);
}

/** Returns the schemas with references resolved. */
function withoutReferences(
  schemas: Readonly<Record<string, Schema>>,
): Readonly<Record<string, Schema>> {
  const resolve = ({ $ref, ...own }: Schema): Schema => {
    const name = $ref?.split('/').at(-1);
    return name === undefined ? own : { ...schemas[name], ...own, name };
  };
  const map = (all: Readonly<Record<string, Schema>>, change: (schema: Schema) => Schema) =>
    Object.fromEntries(Object.entries(all).map(([name, schema]) => [name, change(schema)]));
  return map(schemas, (schema) => {
    const { properties } = schema;
    return properties === undefined ? schema : { ...schema, properties: map(properties, resolve) };
  });
}

/** Reads `openapi.json`. */
export function readOpenApi(document: unknown): ApiDescription {
  const { servers, paths, components } = document as OpenApiDocument;
  const schemas = withoutReferences(components.schemas);
  const parameters = paths['/img/'].get.parameters.flatMap((parameter) => {
    const { name, schema, example, 'x-transform': transform } = parameter;
    if (transform === undefined) return [];
    const reference = schema.$ref?.split('/').at(-1);
    const resolved = reference === undefined ? schema : { ...schemas[reference], name: reference };
    return [{ ...transform, name, schema: resolved, example: String(example ?? '') }];
  });
  return { baseUrl: servers[0].url.replace(/\/+$/, ''), parameters, schemas };
}
