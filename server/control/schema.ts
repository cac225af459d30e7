import type { ExtendedJSONSchema, FromExtendedSchema } from 'json-schema-to-ts';
import { fitModes, gravities } from '../../contract/image-terms.ts';
import { projectIdPattern } from '../../store/identifiers.ts';
import { maxSourceLength } from '../image/source-url.ts';
import { urlRule } from './hosts-and-urls.ts';

/**
 * `x-rule` states the rule of an `anyOf` or a `pattern` in words. An `anyOf` is inside an `allOf`,
 * because client generators read an `anyOf` next to `properties` as an alternative to the
 * properties.
 */
type Extension = { 'x-rule'?: string };
export type Schema = ExtendedJSONSchema<Extension>;

export type ValueOf<S extends Schema> = FromExtendedSchema<Extension, S>;

/** A named schema, which validates bodies and is part of the OpenAPI document. */
export interface NamedSchema<T> {
  readonly name: string;
  readonly schema: object;
  readonly example: T;
  /** Referenced schemas, by name. */
  readonly parts?: Readonly<Record<string, object>>;
  /** Whether its values are secrets, which errors do not repeat. */
  readonly isSecret?: boolean;
}

export type BodyOf<S> = S extends NamedSchema<infer T> ? T : never;

/** Names a schema, deriving the type of its values. */
export const named = <const S extends Schema>(
  name: string,
  schema: S,
  example: NoInfer<ValueOf<S>>,
): NamedSchema<ValueOf<S>> => ({ name, schema: schema as object, example });

/** A path segment in the OpenAPI document. */
export interface PathParameter {
  readonly schema: object;
  readonly example: string;
}

/** Part of most paths. */
export const projectIdParameter = {
  schema: {
    type: 'string',
    pattern: projectIdPattern.source,
    description: '`prj_` and 16 base-36 characters.',
  },
  example: 'prj_32gx1acb9wtykf3m',
} as const satisfies PathParameter;

/** A query parameter in the OpenAPI document; the handler reads it. */
export interface QueryParameter {
  readonly description: string;
  readonly schema: object;
  readonly example: unknown;
}

/** Returns a reference to a schema of the OpenAPI document. */
export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** Returns the `allOf` of an object with exactly one of two fields. */
export const exactlyOneOf = <const A extends string, const B extends string>(name: A, other: B) =>
  [
    {
      anyOf: [{ required: [name] }, { required: [other] }],
      'x-rule': `must have ${name} or ${other}`,
    },
    notBoth(name, other),
  ] as const;

/** Returns the part of an `allOf` that excludes a field next to certain others. */
export const notBoth = <const A extends string>(name: A, ...others: readonly string[]) => ({
  not: {
    type: 'object' as const,
    ...(others.length === 1
      ? { required: [name, ...others] }
      : { required: [name], anyOf: others.map((other) => ({ required: [other] })) }),
  },
  'x-rule': `must not have ${name} with ${others.join(', ')}`,
});

/** Returns an object schema with exactly these fields, all required. */
export const strictObject = <const P extends Readonly<Record<string, Schema>>>(properties: P) =>
  ({
    type: 'object',
    properties,
    required: Object.keys(properties) as (keyof P & string)[],
    additionalProperties: false,
  }) as const;

export const uri = { type: 'string', format: 'uri' } as const;
export const nullableUri = { type: ['string', 'null'], format: 'uri' } as const;
export const count = { type: 'integer', minimum: 0 } as const;
export const date = { type: 'string', format: 'date', description: 'UTC.' } as const;
export const percent = { type: 'integer', minimum: 1, maximum: 100 } as const;
export const quality = { type: 'integer', minimum: 30, maximum: 100 } as const;
export const ratio = { type: 'integer', minimum: 1, maximum: 3 } as const;
export const margin = { type: 'integer', minimum: 0, maximum: 500 } as const;
export const fit = { type: 'string', enum: fitModes } as const;
export const position = { type: 'string', enum: gravities } as const;
/** A URL in a request. The operations check it completely. */
export const httpUrl = {
  ...uri,
  pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/]',
  maxLength: maxSourceLength,
  'x-rule': urlRule,
} as const;
/** A source in a request: like `httpUrl`, or a path, which `readSourceUrl` resolves. */
export const sourceReference = {
  type: 'string',
  format: 'uri-reference',
  pattern: `${httpUrl.pattern}|^/(?:[^/\\\\]|$)`,
  maxLength: maxSourceLength,
  'x-rule': `${urlRule}, or a path on the project's site that starts with a slash`,
} as const;
export const texts = { type: 'array', items: { type: 'string' } } as const;
/** Excludes line breaks, which are easily pasted too, but could not be sent in a header. */
export const secretText = {
  type: 'string',
  minLength: 1,
  pattern: '^[!-~]*$',
  'x-rule': 'must have only visible ASCII characters, without spaces',
  writeOnly: true,
} as const;
export const callbackUrl = {
  ...httpUrl,
  maxLength: 2_048,
  description: 'http or https URL that receives a signed request when the work ends.',
} as const;
