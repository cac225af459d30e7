interface Schema {
  readonly [keyword: string]: unknown;
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly anyOf?: readonly Schema[];
}

/** Expresses an `anyOf` without types: not all parts may fail to match. */
const anyWithoutTypes = (parts: readonly Schema[]) => ({
  not: { allOf: parts.map((part) => ({ not: part })) },
});

/**
 * Returns the pattern of a text with an enumeration or a pattern, or null if the schema contains
 * other rules.
 */
function toPattern({ type, enum: words, pattern, ...others }: Schema): string | null {
  if (type !== 'string' || Object.keys(others).length > 0) return null;
  const isPlain = (word: unknown) => /^\w*$/.test(String(word));
  if (words === undefined) return pattern ?? null;
  return pattern === undefined && words.every(isPlain) ? `^(?:${words.join('|')})$` : null;
}

/** Merges schemas of the same type. */
function merged(type: string, parts: readonly Schema[]): Schema {
  const patterns = parts.map(toPattern);
  if (patterns.includes(null)) return { type, ...anyWithoutTypes(parts) };
  return { type, pattern: patterns.join('|') };
}

/**
 * Rewrites the OpenAPI document's schemas for generators, such as ogen for Go, that make a type of
 * each `anyOf`. They support an `anyOf` only if its parts differ in JSON type, and no default
 * stands next to it. The rewritten schemas accept the same values.
 *
 * @param schemas the components, which references point to
 */
export function forGenerators<Document>(document: Document, schemas: object): Document {
  const components = new Map(Object.entries(schemas as Record<string, Schema>));
  const target = ({ $ref = '' }: Schema) => components.get($ref.replace(/^.*\//, ''));

  /** Returns a schema's JSON types as one text, empty if it does not name any. */
  const toType = (schema: Schema): string => {
    const referred = target(schema);
    return referred === undefined
      ? [schema.type ?? schema.anyOf?.map(toType)].join()
      : toType(referred);
  };

  const withoutUnion = ({ anyOf = [], ...rest }: Schema): Schema => {
    const types = [...new Set(anyOf.map(toType))];
    if (types.includes('')) return { ...rest, ...anyWithoutTypes(anyOf) };
    const parts = types.map((type) => {
      const [first = {}, ...others] = anyOf.filter((part) => toType(part) === type);
      return others.length === 0 ? first : merged(type, [first, ...others]);
    });
    return parts.length === 1 ? { ...rest, ...parts[0] } : { ...rest, anyOf: parts };
  };

  const withoutDefault = ({ default: byDefault, ...rest }: Schema): Schema => ({
    ...rest,
    description: `${rest['description']} Default: ${JSON.stringify(byDefault)}.`,
  });

  const rewrite = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(rewrite);
    if (typeof value !== 'object' || value === null) return value;
    let schema = value as Schema;
    if ('default' in schema && target(schema)?.anyOf !== undefined) schema = withoutDefault(schema);
    if (Array.isArray(schema.anyOf)) schema = withoutUnion(schema);
    return Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, rewrite(part)]));
  };
  return rewrite(document) as Document;
}
