import { type ErrorStatus, errorCatalogue } from '../../contract/errors.ts';
import { effectOf } from '../../pool/variant.ts';
import { urlParameters } from '../image/overlays.ts';
import type { Parameter } from '../image/parameters.ts';
import { maxSourceLength } from '../image/source-url.ts';
import type { ValueSchema } from '../image/values.ts';
import { idempotencyHeader, isCreating } from './idempotency.ts';
import { imageSchemas, toSchema } from './image-schemas.ts';
import { pageParameters } from './list.ts';
import type { Input, Operation } from './operation.ts';
import { controlPrefix, operations } from './operations.ts';
import {
  controlErrors,
  controlHeaders,
  errorResponses,
  headerComponents,
  healthHeaders,
  imageErrors,
  imageHeaders,
  imageTypes,
} from './responses.ts';
import { type PathParameter, projectIdParameter, ref } from './schema.ts';
import { healthSchema, livenessSchema, readinessSchema } from './service-status.ts';

const apiError = {
  type: 'object',
  description: 'The body of every error.',
  properties: {
    error: {
      type: 'string',
      description: 'Name of the HTTP status. Clients should use `code` instead.',
    },
    code: { type: 'string', enum: Object.keys(errorCatalogue), description: 'Stable.' },
    message: { type: 'string' },
    resolution_hint: { type: 'string', description: 'The next step to take.' },
  },
  required: ['error', 'code', 'message', 'resolution_hint'],
  additionalProperties: false,
};

/** In the order of the operations that use them. */
const bodySchemas = Object.fromEntries(
  Object.values<Operation>(operations)
    .flatMap(({ input, result }) => [input ?? [], result?.schema ?? []].flat())
    .flatMap(({ name, schema, parts = {} }) => [[name, schema], ...Object.entries(parts)]),
);

const schemas = {
  ...bodySchemas,
  HealthStatus: healthSchema,
  Liveness: livenessSchema,
  Readiness: readinessSchema,
  ...imageSchemas,
  ApiError: apiError,
};

const json = (schema: unknown, example?: unknown) => ({ 'application/json': { schema, example } });

/** Undefined for 204. */
function successBody({ result, csv }: Operation): object | undefined {
  if (result === null) return undefined;
  const { field, isList, example } = result;
  const item = ref(result.schema.name);
  const schema = {
    type: 'object',
    properties: { [field]: isList ? { type: 'array', items: item } : item },
    required: [field],
    additionalProperties: false,
  };
  return {
    ...json(schema, { [field]: example }),
    ...(csv && { 'text/csv': { schema: { type: 'string' }, example: csv.text } }),
  };
}

const requestBody = ({ name, example, isOptional = false }: Input<unknown>) => ({
  required: !isOptional,
  content: json(ref(name), example),
});

function listParameters({
  status,
  path,
  parameters = {},
  query = {},
  isPaged = false,
  cursor = pageParameters.cursor.schema,
}: Operation): object[] {
  const known: Readonly<Record<string, PathParameter>> = {
    projectId: projectIdParameter,
    ...parameters,
  };
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    return { name, in: 'path', required: true, ...known[name] };
  });
  const pages = { ...pageParameters, cursor: { ...pageParameters.cursor, schema: cursor } };
  const inQuery = Object.entries({ ...query, ...(isPaged && pages) });
  return [
    ...inPath,
    ...inQuery.map(([name, parameter]) => ({ name, in: 'query', ...parameter })),
    ...(isCreating({ status }) ? [idempotencyHeader] : []),
  ];
}

/** Returns an operation's error statuses, except the shared statuses. */
const ownErrors = ({
  method,
  path,
  status,
  input,
  query,
  isPaged,
  errors = [],
}: Operation): ErrorStatus[] => [
  ...(method !== 'GET' || (input ?? query ?? isPaged) !== undefined ? [400 as const] : []),
  ...(path.includes('{projectId}') ? [404 as const] : []),
  ...(isCreating({ status }) ? [409 as const] : []),
  ...errors.map((code) => errorCatalogue[code].status),
];

/** JSON omits the undefined fields. */
function operationObject(id: string, operation: Operation): object {
  const { summary, description, input, status = 200 } = operation;
  const parameters = listParameters(operation);
  return {
    operationId: id,
    tags: ['Control plane'],
    summary,
    description,
    security: [{ bearer: [] }, { serviceApiKey: [] }],
    parameters: parameters.length === 0 ? undefined : parameters,
    requestBody: input && requestBody(input),
    responses: {
      [status]: {
        description: 'Done.',
        headers: controlHeaders,
        content: successBody(operation),
      },
      ...controlErrors(ownErrors(operation)),
    },
  };
}

function controlPaths(): Record<string, object> {
  const paths: Record<string, Record<string, object>> = {};
  for (const [id, operation] of Object.entries<Operation>(operations)) {
    const path = `${controlPrefix}${operation.path}`;
    paths[path] ??= {};
    paths[path][operation.method.toLowerCase()] = operationObject(id, operation);
  }
  return paths;
}

const healthResponse = (description: string, schema = 'HealthStatus') => ({
  description,
  headers: healthHeaders,
  content: json(ref(schema)),
});
const health = {
  operationId: 'getHealth',
  tags: ['Health'],
  summary: 'Check the health of the service and its dependencies',
  security: [],
  responses: { 200: healthResponse('Healthy.'), 503: healthResponse('Not healthy.') },
};
const liveness = {
  operationId: 'getLiveness',
  tags: ['Health'],
  summary: 'Check whether this process responds',
  description:
    'For supervisors that restart the process. Does not depend on the store or the queue.',
  security: [],
  responses: { 200: healthResponse('The process responds.', 'Liveness') },
};
const readiness = {
  operationId: 'getReadiness',
  tags: ['Health'],
  summary: 'Check whether this machine accepts requests',
  description: 'For load balancers. Also returns 200 while the store is unavailable.',
  security: [],
  responses: {
    200: healthResponse('Ready.', 'Readiness'),
    503: healthResponse('Starting or draining.', 'Readiness'),
  },
};

/** The OpenAPI 3.1 document, generated from the tables and schemas that the code uses. */
export function openApiDocument(baseUrl: string): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Image delivery',
      version: '1.0.0',
      summary: 'Image transformation and delivery, and a control plane for projects.',
      description:
        'A self-hostable service that fetches, transforms, caches and delivers images. The version is the interface version; `getServiceVersion` returns the service version.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    tags: [
      { name: 'Images', description: 'The public transform endpoint.' },
      { name: 'Control plane', description: 'Projects, for trusted backends with an API key.' },
      { name: 'Health', description: 'For monitors.' },
    ],
    security: [{ bearer: [] }, { serviceApiKey: [] }],
    paths: {
      ...imagePaths,
      '/api/health': { get: health },
      '/api/health/live': { get: liveness },
      '/api/ready': { get: readiness },
      ...controlPaths(),
    },
    components: {
      schemas,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        serviceApiKey: { type: 'apiKey', in: 'header', name: 'X-Service-Api-Key' },
      },
      responses: errorResponses,
      headers: headerComponents,
    },
  };
}

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

/**
 * The schema omits `default`: generated clients would send every default, which would override
 * presets and make long URLs for CDNs.
 */
function parameterObject([name, parameter]: readonly [string, Parameter<unknown>]): object {
  const { group, meaning, accepts, aliases, example, schema, defaultInWords, needs } = parameter;
  const also = aliases.length === 0 ? '' : ` Also: ${aliases.join(', ')}.`;
  return {
    name,
    in: 'query',
    description: `${meaning} Accepts ${accepts}. Default: ${defaultInWords}.${also}`,
    schema: toSchema(parameter),
    example: exampleValue(example, schema),
    // Parts of the description, for programs that generate controls.
    'x-transform': {
      group,
      effect: parameter.effect ?? effectOf(name),
      meaning,
      accepts,
      aliases,
      default: parameter.default,
      defaultInWords,
      needs,
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
    ...Object.entries(urlParameters).map(parameterObject),
    ...signing,
  ],
  responses: {
    200: {
      description: 'The image, or the placeholder or information that `fmt` selects.',
      headers: imageHeaders,
      content,
    },
    304: {
      description: 'The client already has the image (If-None-Match).',
      headers: imageHeaders,
    },
    ...imageErrors,
  },
});

/** The public image endpoint. */
const imagePaths: Readonly<Record<string, object>> = {
  '/img/{source}': { get: operation('getImage', inPath) },
  '/img/': { get: operation('getImageByQuery', inQuery) },
};
