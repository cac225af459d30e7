import { type ParameterName, parameterNames, parameters } from '../image/parameters.ts';
import { maxSourceLength } from '../image/source-url.ts';
import type { ValueSchema } from '../image/values.ts';
import { imageErrors } from './error-responses.ts';
import { parameterSchema } from './image-schemas.ts';
import {
  contentRangeHeader,
  documentedImageHeaders,
  imageTypes,
  notModifiedHeaders,
  wholeImageHeaders,
} from './response-headers.ts';
import { projectIdParameter, ref } from './schema.ts';

const source = { type: 'string', maxLength: maxSourceLength } as const;
const inPath = {
  name: 'source',
  in: 'path',
  required: true,
  description:
    "Absolute source URL, or a path on the project's origin such as `/a.jpg`, percent-encoded as a whole.",
  // Proxies that normalise paths remove a slash.
  schema: { ...source, pattern: '^(?:[Hh][Tt][Tt][Pp][Ss]?:/{1,2}[^/]|/)' },
  example: 'https://shop.example.com/a.jpg',
};
const inQuery = {
  ...inPath,
  name: 'url',
  in: 'query',
  description: "Absolute source URL, or a path on the project's origin such as `/a.jpg`.",
  schema: { ...source, pattern: '^(?:[Hh][Tt][Tt][Pp][Ss]?://[^/]|/)' },
};

const signing = [
  {
    name: 'exp',
    in: 'query',
    description: 'Expiry of a signed URL, as Unix time in seconds.',
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
    description: 'A single byte range (RFC 9110, 14.2); multiple ranges return the whole image.',
    schema: { type: 'string' },
    example: 'bytes=0-1023',
  },
  {
    name: 'If-Range',
    in: 'header',
    description:
      'ETag of the image that the client has. If it does not match, the whole image is returned.',
    schema: { type: 'string' },
  },
];

/**
 * The schema omits `default`: generated clients would send every default, which would override
 * presets and make long URLs for CDNs.
 */
function parameterObject(name: ParameterName): object {
  const { group, meaning, accepts, aliases, example, schema, defaultInWords } = parameters[name];
  const also = aliases.length === 0 ? '' : ` Also: ${aliases.join(', ')}.`;
  return {
    name,
    in: 'query',
    description: `${meaning} Accepts ${accepts}. Default: ${defaultInWords}.${also}`,
    schema: parameterSchema(name),
    example: exampleValue(example, schema),
    // Parts of the description, for programs that generate controls.
    'x-transform': {
      group,
      meaning,
      accepts,
      aliases,
      default: parameters[name].default,
      defaultInWords,
    },
  };
}

/** An example, as a number if the schema allows one. */
function exampleValue(text: string, { type, anyOf }: ValueSchema): string | number {
  const isNumber = [type, ...(anyOf ?? []).map((alternative) => alternative.type)].some(
    (name) => name === 'integer' || name === 'number',
  );
  return isNumber && text !== '' && !Number.isNaN(Number(text)) ? Number(text) : text;
}

const binary = { schema: { type: 'string', format: 'binary' } };

const content = {
  ...Object.fromEntries(imageTypes.map((type) => [type, binary])),
  'text/plain': { schema: { type: 'string' } },
  'application/json': { schema: ref('ImageFacts') },
};

const operation = (operationId: string, source: object) => ({
  operationId,
  tags: ['Images'],
  summary: 'Get a transformed image',
  description:
    "Needs no API key: the project's allowlist decides. Missing options come from client hints, Accept and the project's defaults. Keywords are case-insensitive. HEAD is supported.",
  security: [],
  parameters: [
    source,
    {
      name: 'project',
      in: 'query',
      required: true,
      ...projectIdParameter,
    },
    ...parameterNames.map(parameterObject),
    ...signing,
    ...ranges,
  ],
  responses: {
    200: {
      description: 'The image, or the placeholder or information that `fmt` selects.',
      headers: wholeImageHeaders,
      content,
    },
    206: {
      description: 'The requested range of the image.',
      headers: { ...documentedImageHeaders, ...contentRangeHeader },
      content,
    },
    304: {
      description: 'The client already has the image (If-None-Match).',
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
