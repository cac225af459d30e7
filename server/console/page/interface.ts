/** The parts of `openapi.json` that the page uses. */

/** The keywords of JSON Schema from which controls are generated. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** A transform parameter of the image endpoint. */
export interface Parameter {
  readonly name: string;
  readonly schema: Schema;
  readonly example: string;
  readonly meaning: string;
  readonly accepts: string;
  readonly aliases: readonly string[];
}

export interface Interface {
  /** The base of delivery URLs, without a trailing slash. */
  readonly baseUrl: string;
  /** In the order of the service's table. */
  readonly parameters: readonly Parameter[];
  /** The schemas of the control plane's bodies, by name. */
  readonly schemas: Readonly<Record<string, Schema>>;
}

interface DocumentParameter {
  readonly name: string;
  readonly schema: Schema;
  readonly example?: unknown;
  readonly 'x-transform'?: Pick<Parameter, 'meaning' | 'accepts' | 'aliases'>;
}

interface InterfaceDocument {
  readonly servers: readonly [{ readonly url: string }];
  readonly paths: {
    readonly '/img/': { readonly get: { readonly parameters: readonly DocumentParameter[] } };
  };
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Resolves the top-level reference of a schema, and keeps its name. */
export function resolved(
  schema: Schema,
  schemas: Interface['schemas'],
): Schema & { readonly name?: string } {
  if (schema.$ref === undefined) return schema;
  const name = schema.$ref.split('/').at(-1) ?? '';
  return { ...schemas[name], name };
}

/**
 * Values by canonical parameter names. Unknown names are dropped: links from others contain them, and they
 * would get into code that users copy.
 */
export function parametersIn(
  query: Readonly<Record<string, string>>,
  { parameters }: Pick<Interface, 'parameters'>,
): Readonly<Record<string, string>> {
  const known = parameters.flatMap(({ name, aliases }) =>
    [name, ...aliases].flatMap((spelling) => {
      const value = Object.hasOwn(query, spelling) ? query[spelling] : undefined;
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
  return Object.fromEntries(known);
}

/** Reads `openapi.json`. */
export function readInterface(document: unknown): Interface {
  const { servers, paths, components } = document as InterfaceDocument;
  const parameters = paths['/img/'].get.parameters.flatMap((parameter) => {
    const { name, schema, example, 'x-transform': transform } = parameter;
    if (transform === undefined) return [];
    return [
      {
        ...transform,
        name,
        schema: resolved(schema, components.schemas),
        example: String(example ?? ''),
      },
    ];
  });
  return {
    baseUrl: servers[0].url.replace(/\/+$/, ''),
    parameters,
    schemas: components.schemas,
  };
}

/** The fields of an object's schema, by name. */
export const fieldsOf = (schema: Schema | undefined): ReadonlyArray<readonly [string, Schema]> =>
  Object.entries(schema?.properties ?? {});
