import { parameterNames, parameters } from '../image/parameters.ts';
import { examples } from './examples.ts';

const pixels = { type: 'integer', minimum: 1, description: 'Of one frame.' };
const bytes = { type: 'integer', minimum: 1 };

/** The body of a response to `fmt=json`. */
export const imageFactsSchema = {
  type: 'object',
  description: 'Facts about a source, and the image that the request would give without `fmt`.',
  properties: {
    source: {
      type: 'object',
      properties: {
        format: { type: 'string' },
        width: pixels,
        height: pixels,
        bytes,
        pages: { type: 'integer', minimum: 1, description: 'Frames of an animation.' },
        hasAlpha: { type: 'boolean' },
      },
      required: ['format', 'width', 'height', 'bytes', 'pages', 'hasAlpha'],
    },
    output: {
      type: 'object',
      properties: { format: { type: 'string' }, width: pixels, height: pixels, bytes },
      required: ['format', 'width', 'height', 'bytes'],
    },
    dominant: {
      type: ['string', 'null'],
      pattern: '^#[0-9a-f]{6}$',
      description:
        'The colour that covers the largest area; null when the image is fully transparent.',
    },
  },
  required: ['source', 'output', 'dominant'],
};

const inPath = {
  name: 'source',
  in: 'path',
  required: true,
  description: 'The absolute source URL, encoded as a whole.',
  schema: { type: 'string' },
  example: 'https://shop.example.com/a.jpg',
};
const inQuery = { ...inPath, name: 'url', in: 'query', description: 'The absolute source URL.' };

const signing = [
  {
    name: 'exp',
    in: 'query',
    description: 'When a signed URL expires: Unix time in seconds.',
    schema: { type: 'integer' },
  },
  {
    name: 'sig',
    in: 'query',
    description: 'base64url HMAC-SHA256 of the path and the query without this parameter.',
    schema: { type: 'string' },
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
    description: 'The ETag of the image that the range is of; of any other image all is sent.',
    schema: { type: 'string' },
  },
];

/** On 206 and 416. */
export const contentRange = {
  'Content-Range': {
    description: 'The part that is sent, if any, and the length of the whole image.',
    schema: { type: 'string' },
  },
};

function parameterObject(name: (typeof parameterNames)[number]): object {
  const { meaning, accepts, aliases, example } = parameters[name];
  const also = aliases.length === 0 ? '' : ` Also: ${aliases.join(', ')}.`;
  return {
    name,
    in: 'query',
    description: `${meaning} Accepts ${accepts}.${also}`,
    schema: { type: 'string' },
    example,
  };
}

/** The public image endpoint (spec part 4.3). */
export function imagePaths(errors: object): Readonly<Record<string, object>> {
  const operation = (operationId: string, source: object) => ({
    operationId,
    tags: ['Images'],
    summary: 'A transformed image',
    description:
      "Needs no key: the project's allowlist decides. Options that the query does not have come from client hints, Accept and the project's defaults.",
    security: [],
    parameters: [
      source,
      {
        name: 'project',
        in: 'query',
        required: true,
        schema: { type: 'string' },
        example: examples.Project.id,
      },
      ...parameterNames.map(parameterObject),
      ...signing,
      ...ranges,
    ],
    responses: {
      200: {
        description: 'The image, or the placeholder or facts that `fmt` selects.',
        content: {
          'image/*': { schema: { type: 'string', format: 'binary' } },
          'text/plain': { schema: { type: 'string' } },
          'application/json': { schema: { $ref: '#/components/schemas/ImageFacts' } },
        },
      },
      206: {
        description: 'The part of the image that Range asks for.',
        headers: contentRange,
        content: { 'image/*': { schema: { type: 'string', format: 'binary' } } },
      },
      304: { description: 'The client has it already (If-None-Match).' },
      ...errors,
    },
  });
  return {
    '/img/{source}': { get: operation('getImage', inPath) },
    '/img/': { get: operation('getImageByQuery', inQuery) },
  };
}
