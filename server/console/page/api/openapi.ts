import { chooseKind, type Schema } from './schema.ts';

/** The parts of `openapi.json` that the page uses. */

/** A transform parameter of the image endpoint. */
export interface ApiParameter {
  readonly name: string;
  /** Such as size. */
  readonly group: string;
  /** How it changes the image, such as by its area. */
  readonly effect?: string;
  readonly schema: Schema;
  readonly example: string;
  readonly meaning: string;
  readonly accepts: string;
  readonly aliases: readonly string[];
  /** The parameter that it belongs to, which comes first. */
  readonly needs?: string;
}

export type ApiDescription = ReturnType<typeof readOpenApi>;

interface DocumentParameter {
  readonly name: string;
  readonly schema: Schema;
  readonly example?: unknown;
  readonly 'x-transform'?: Pick<
    ApiParameter,
    'group' | 'effect' | 'meaning' | 'accepts' | 'aliases' | 'needs'
  >;
}

interface DocumentOperation {
  readonly operationId: string;
  readonly parameters?: readonly DocumentParameter[];
  readonly requestBody?: {
    readonly content: { readonly 'application/json': { readonly schema: Schema } };
  };
}

interface OpenApiDocument {
  readonly servers: readonly [{ readonly url: string }];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>;
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

/** Returns the set parameters that change the image in any of these ways. */
export const pickEffects = (
  options: Readonly<Record<string, string>>,
  { parameters }: Pick<ApiDescription, 'parameters'>,
  ...effects: readonly string[]
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    parameters.flatMap(({ name, effect = '' }) => {
      const value = options[name] ?? '';
      return value !== '' && effects.includes(effect) ? [[name, value] as const] : [];
    }),
  );

/** Returns a function that replaces the references in a schema, recursively. */
function createResolver(schemas: Readonly<Record<string, Schema>>) {
  return function resolve({ $ref, ...own }: Schema): Schema {
    const name = $ref?.split('/').at(-1);
    const schema = name === undefined ? own : { ...schemas[name], ...own, name };
    const { properties, items } = schema;
    const fields = Object.entries(properties ?? {});
    return {
      ...schema,
      ...(items && { items: resolve(items) }),
      ...(properties && {
        properties: Object.fromEntries(fields.map(([field, of]) => [field, resolve(of)])),
      }),
    };
  };
}

/** Reads `openapi.json`. */
export function readOpenApi(document: unknown) {
  const { servers, paths, components } = document as OpenApiDocument;
  const resolve = createResolver(components.schemas);
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const parameters = (paths['/img/']?.['get']?.parameters ?? []).flatMap((parameter) => {
    const { name, schema, example, 'x-transform': transform } = parameter;
    if (transform === undefined) return [];
    return [{ ...transform, name, schema: resolve(schema), example: String(example ?? '') }];
  });
  return {
    /** The base of delivery URLs, excluding the trailing slash. */
    baseUrl: servers[0].url.replace(/\/+$/, ''),
    /** In the order of the service's table. */
    parameters,
    /** Returns the schema of an operation's body, without references. */
    getBody(id: string): Schema {
      const { requestBody } = operations.find(({ operationId }) => operationId === id) ?? {};
      return resolve(requestBody?.content['application/json'].schema ?? {});
    },
  };
}

/** Returns the parameters that a body accepts, in the order of the service's table. */
export function listParameters(
  { parameters }: ApiDescription,
  { properties = {} }: Schema,
): readonly ApiParameter[] {
  return parameters.filter(({ name }) => name in properties);
}
