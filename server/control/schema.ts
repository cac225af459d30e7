import type { ExtendedJSONSchema, FromExtendedSchema } from 'json-schema-to-ts';
import { hostTextSource, httpUrlSource, longHostSource } from '../../contract/host-patterns.ts';
import { canonicalHostPatternSource } from '../../contract/hosts.ts';
import { fits, gravities } from '../../contract/placement.ts';
import { projectIdPattern } from '../../store/identifiers.ts';
import { maxSourceLength } from '../image/source-url.ts';
import { bareHostRule, maxHostLength, urlRule } from './hosts-and-urls.ts';

/**
 * `x-rule` states the rule of an `anyOf` or a `pattern` in words. An `anyOf` is inside an `allOf`, because
 * client generators read an `anyOf` next to `properties` as an alternative to the properties.
 */
type Extension = { 'x-rule'?: string };
export type Schema = ExtendedJSONSchema<Extension>;

export type ValueOf<S extends Schema> = FromExtendedSchema<Extension, S>;

/** A schema under a name: bodies are validated with it, and the OpenAPI document contains it. */
export interface NamedSchema<T> {
  readonly name: string;
  readonly schema: object;
  readonly example: T;
  /** What validates bodies instead: without references, and with rules in words. */
  readonly validated?: object;
  /** The schemas that it refers to, by name. */
  readonly parts?: Readonly<Record<string, object>>;
  /** Its values are secrets, which errors do not repeat. */
  readonly isSecret?: boolean;
}

export type BodyOf<S> = S extends NamedSchema<infer T> ? T : never;

/** A schema whose values have the type that is derived from it. */
export const named = <const S extends Schema>(
  name: string,
  schema: S,
  example: NoInfer<ValueOf<S>>,
): NamedSchema<ValueOf<S>> => ({ name, schema: schema as object, example });

/** A segment of a path in the OpenAPI document. */
export interface PathParameter {
  readonly schema: object;
  readonly example: string;
}

/** Of most paths. */
export const projectIdParameter = {
  schema: {
    type: 'string',
    pattern: projectIdPattern.source,
    description: '`prj_` and 16 base-36 characters.',
  },
  example: 'prj_32gx1acb9wtykf3m',
} as const satisfies PathParameter;

/** A parameter of the query in the OpenAPI document; the handler reads it. */
export interface QueryParameter {
  readonly description: string;
  readonly schema: object;
  readonly example: unknown;
}

/** A reference to a schema of the OpenAPI document. */
export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** The `allOf` of an object that has exactly one of two fields. */
export const exactlyOneOf = <const A extends string, const B extends string>(one: A, other: B) =>
  [
    {
      anyOf: [{ required: [one] }, { required: [other] }],
      'x-rule': `must have ${one} or ${other}`,
    },
    notBoth(one, other),
  ] as const;

/** The part of an `allOf` that forbids a field together with one of others. */
export const notBoth = <const A extends string>(one: A, ...others: readonly string[]) => ({
  not: {
    type: 'object' as const,
    ...(others.length === 1
      ? { required: [one, ...others] }
      : { required: [one], anyOf: others.map((other) => ({ required: [other] })) }),
  },
  'x-rule': `must not have ${one} with ${others.join(', ')}`,
});

/** An object with exactly these fields, all of them required. */
export const closed = <const P extends Readonly<Record<string, Schema>>>(properties: P) =>
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
export const fit = { type: 'string', enum: fits } as const;
export const position = { type: 'string', enum: gravities } as const;
/** A URL of requests. */
export const httpUrl = {
  ...uri,
  pattern: httpUrlSource,
  not: { pattern: longHostSource },
  maxLength: maxSourceLength,
  'x-rule': urlRule,
} as const;
/** Hosts of responses: in canonical form. */
export const hosts = {
  type: 'array',
  items: { type: 'string', pattern: canonicalHostPatternSource },
} as const;
/** A host of requests: also in upper case, internationalised, with a trailing dot. */
export const hostText = {
  type: 'string',
  pattern: hostTextSource,
  maxLength: maxHostLength,
  'x-rule': bareHostRule,
} as const;
export const callbackUrl = {
  ...httpUrl,
  maxLength: 2_048,
  description: 'http or https URL that receives a signed request when the work ends.',
} as const;
