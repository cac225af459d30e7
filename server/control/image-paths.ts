import { imageFacts } from '../../pool/rendering/image-facts/fields.ts';
import { fieldsOfKind, type LayerField, layerKinds } from '../image/layer-fields.ts';
import { type ParameterName, parameterNames, parameters } from '../image/parameters.ts';
import { maxSourceLength, sourceUrl } from '../image/source-url.ts';
import { colour, flag, type ValueSchema } from '../image/values.ts';
import { imageErrors } from './error-responses.ts';
import { examples } from './examples.ts';
import {
  contentRangeHeader,
  documentedImageHeaders,
  imageTypes,
  notModifiedHeaders,
  wholeImageHeaders,
} from './response-headers.ts';
import { projectIdSchema } from './schemas.ts';

const capitalised = (name: string): string => `${name[0]?.toUpperCase()}${name.slice(1)}`;

/** Schemas of several parameters. */
const sharedNames: ReadonlyMap<ValueSchema, string> = new Map([
  [flag.schema, 'ImageFlag'],
  [colour.schema, 'ImageColour'],
]);

/**
 * The name of a parameter's schema in the components, or null for a plain number: generators for Go need
 * named schemas for alternatives.
 */
function schemaName(name: ParameterName): string | null {
  const { schema } = parameters[name];
  if (schema.anyOf === undefined && schema.enum === undefined && schema.pattern === undefined) {
    return null;
  }
  return sharedNames.get(schema) ?? `Image${capitalised(name)}`;
}

/** The schema of a parameter, or a reference to it. */
export function parameterSchema(name: ParameterName): object {
  const key = schemaName(name);
  return key === null ? parameters[name].schema : { $ref: `#/components/schemas/${key}` };
}

/** Schemas of layers that generators for Go need named; the names of fields have one schema in all kinds. */
const layerSchemas = new Map<ValueSchema, string>([[colour.schema, 'ImageColour']]);
for (const kind of layerKinds) {
  for (const [name, { schema }] of Object.entries(fieldsOfKind(kind))) {
    if (schema.anyOf === undefined && schema.enum === undefined) continue;
    if (!layerSchemas.has(schema)) layerSchemas.set(schema, `Layer${capitalised(name)}`);
  }
}

/** The schema of a layer's field, with its meaning, or a reference to it. */
export function layerFieldSchema(
  _: string,
  { schema, meaning, accepts }: LayerField<unknown>,
): object {
  const description = `${meaning} Accepts ${accepts}.`;
  const name = layerSchemas.get(schema);
  return name === undefined
    ? { ...schema, description }
    : { $ref: `#/components/schemas/${name}`, description };
}

/** The schemas of the image endpoint, by name. */
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

const source = { type: 'string', maxLength: maxSourceLength } as const;
const inPath = {
  name: 'source',
  in: 'path',
  required: true,
  description: 'The absolute source URL, encoded as a whole.',
  // Proxies that normalise paths remove a slash.
  schema: { ...source, pattern: '^[Hh][Tt][Tt][Pp][Ss]?:/{1,2}[^/]' },
  example: 'https://shop.example.com/a.jpg',
};
const inQuery = {
  ...inPath,
  name: 'url',
  in: 'query',
  description: 'The absolute source URL.',
  schema: sourceUrl.schema,
};

const signing = [
  {
    name: 'exp',
    in: 'query',
    description: 'When a signed URL expires: Unix time in seconds.',
    schema: { type: 'integer', format: 'int64', minimum: 0, maximum: 999_999_999_999 },
  },
  {
    name: 'sig',
    in: 'query',
    description: 'base64url HMAC-SHA256 of the path and the query without this parameter.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{43}$' },
  },
];

const ranges = [
  {
    name: 'Range',
    in: 'header',
    description: 'One range of bytes (RFC 9110, 14.2); several give the whole image.',
    schema: { type: 'string' },
    example: 'bytes=0-1023',
  },
  {
    name: 'If-Range',
    in: 'header',
    description: 'The ETag of the image; another image is sent as a whole.',
    schema: { type: 'string' },
  },
];

/** Has no `default`: generated clients would send all defaults, which makes long URLs for CDNs. */
function parameterObject(name: ParameterName): object {
  const { meaning, accepts, aliases, example, schema } = parameters[name];
  const also = aliases.length === 0 ? '' : ` Also: ${aliases.join(', ')}.`;
  return {
    name,
    in: 'query',
    description: `${meaning} Accepts ${accepts}.${also}`,
    schema: parameterSchema(name),
    example: exampleValue(example, schema),
    // The parts of the description, for programs that generate controls.
    'x-transform': { meaning, accepts, aliases },
  };
}

/** An example, as a number if the schema allows one. */
function exampleValue(text: string, { type, anyOf }: ValueSchema): string | number {
  const isNumber = [type, ...(anyOf ?? []).map((one) => one.type)].some(
    (one) => one === 'integer' || one === 'number',
  );
  return isNumber && text !== '' ? Number(text) : text;
}

const binary = { schema: { type: 'string', format: 'binary' } };

const content = {
  ...Object.fromEntries(imageTypes.map((type) => [type, binary])),
  'text/plain': { schema: { type: 'string' } },
  'application/json': { schema: { $ref: '#/components/schemas/ImageFacts' } },
};

const operation = (operationId: string, source: object) => ({
  operationId,
  tags: ['Images'],
  summary: 'A transformed image',
  description:
    "Needs no key: the project's allowlist decides. Missing options come from client hints, Accept and the project's defaults. Words are case-insensitive. HEAD is supported.",
  security: [],
  parameters: [
    source,
    {
      name: 'project',
      in: 'query',
      required: true,
      schema: projectIdSchema,
      example: examples.Project.id,
    },
    ...parameterNames.map(parameterObject),
    ...signing,
    ...ranges,
  ],
  responses: {
    200: {
      description: 'The image, or the placeholder or facts that `fmt` selects.',
      headers: wholeImageHeaders,
      content,
    },
    206: {
      description: 'The requested range of the image.',
      headers: { ...documentedImageHeaders, ...contentRangeHeader },
      content,
    },
    304: {
      description: 'The client has the image (If-None-Match).',
      headers: notModifiedHeaders,
    },
    ...imageErrors,
  },
});

/** The public image endpoint. */
export const imagePaths: Readonly<Record<string, object>> = {
  '/img/{source}': { get: operation('getImage', inPath) },
  '/img/': { get: operation('getImageByQuery', inQuery) },
};
