import { errorCatalogue } from '../../contract/errors.ts';
import { examples } from './examples.ts';
import { healthSchema } from './health-schema.ts';
import { contentRange, imageFactsSchema, imagePaths } from './image-paths.ts';
import { type Operation, operations, prefix } from './operations.ts';
import {
  createProjectSchema,
  domainSchema,
  prewarmReceiptSchema,
  prewarmSchema,
  projectConfigurationSchema,
  projectSchema,
  projectSettingsSchema,
} from './schemas.ts';

const schemas = {
  Project: projectSchema,
  ProjectConfiguration: projectConfigurationSchema,
  CreateProjectInput: createProjectSchema,
  ProjectSettingsInput: projectSettingsSchema,
  PrewarmInput: prewarmSchema,
  PrewarmReceipt: prewarmReceiptSchema,
  DomainInput: domainSchema,
  HealthStatus: healthSchema,
  ImageFacts: imageFactsSchema,
  ApiError: {
    type: 'object',
    description: 'The body of every error.',
    properties: {
      error: { type: 'string', description: 'Kept for existing SDK versions.' },
      code: { type: 'string', enum: Object.keys(errorCatalogue), description: 'Stable.' },
      message: { type: 'string' },
      resolution_hint: { type: 'string', description: 'A safe next step.' },
    },
    required: ['error', 'code', 'message', 'resolution_hint'],
    additionalProperties: false,
  },
};
type SchemaName = keyof typeof schemas;

const meanings: Readonly<Record<number, string>> = {
  400: 'The JSON body or a request parameter is not valid.',
  401: 'The API key is missing or not valid.',
  402: 'The key is valid, but its organisation has no active product access.',
  403: 'The key cannot access the project or the operation, or the project cannot use the source.',
  404: 'There is no such project or endpoint.',
  405: 'There is no such method at this path.',
  408: 'The request took too long to come.',
  413: 'The source has too many bytes or pixels.',
  415: 'The source is not an image in a supported format.',
  416: 'The requested range begins after the end of the image.',
  422: 'The source is a damaged image.',
  429: 'The key has made too many calls, or the source server gets too many requests.',
  431: 'The request has too many or too long headers.',
  500: 'The service could not complete the request.',
  502: 'The source could not be fetched.',
  503: 'The service is overloaded.',
  504: 'The source or the transform took too long.',
};

const ref = (name: SchemaName) => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: unknown, example?: unknown) => ({
  'application/json': { schema, ...(example === undefined ? {} : { example }) },
});

const integerHeader = (description: string) => ({ description, schema: { type: 'integer' } });
const allow = { Allow: { description: 'Those that there are.', schema: { type: 'string' } } };
const retryAfter = { 'Retry-After': integerHeader('Seconds.') };
/** On every response to a valid key. */
const rateLimitHeaders = {
  'RateLimit-Limit': integerHeader('Calls that the key may make per minute.'),
  'RateLimit-Remaining': integerHeader('Calls that are left in this minute.'),
  'RateLimit-Reset': integerHeader('Seconds until the limit resets.'),
};

/** The error body of a status, with the first code in errorCatalogue that has the status. */
function errorResponse(status: number): object {
  const [code = 'internal_error', entry] =
    Object.entries(errorCatalogue).find(([, { status: its }]) => its === status) ?? [];
  return {
    description: meanings[status] ?? 'An error.',
    content: json(ref('ApiError'), {
      error: meanings[status],
      code,
      message: meanings[status],
      resolution_hint: entry?.hint ?? '',
    }),
    ...(status === 429 ? { headers: { ...rateLimitHeaders, ...retryAfter } } : {}),
    ...(status === 405 ? { headers: allow } : {}),
    ...(status === 416 ? { headers: contentRange } : {}),
    ...(status === 503 ? { headers: retryAfter } : {}),
  };
}

const errorReferences = (statuses: readonly number[]): object =>
  Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/Error${status}` }]),
  );

function successBody({ success }: Operation): object {
  const name = success.schema as SchemaName & keyof typeof examples;
  const isList = success.name === 'projects';
  const schema = {
    type: 'object',
    properties: { [success.name]: isList ? { type: 'array', items: ref(name) } : ref(name) },
    required: [success.name],
    additionalProperties: false,
  };
  const example = examples[name];
  return json(schema, { [success.name]: isList ? [example] : example });
}

const projectIdParameter = {
  name: 'projectId',
  in: 'path',
  required: true,
  schema: { type: 'string' },
  example: examples.Project.id,
};
const hostParameter = {
  name: 'host',
  in: 'query',
  description: 'The host to remove; wins over the body.',
  schema: { type: 'string' },
};

function operationObject(id: string, operation: Operation): object {
  const parametersOf = [
    ...(operation.path.includes('{projectId}') ? [projectIdParameter] : []),
    ...(operation.inputOptional ? [hostParameter] : []),
  ];
  return {
    operationId: id,
    tags: ['Control plane'],
    summary: operation.summary,
    description: operation.description,
    security: [{ bearer: [] }, { serviceApiKey: [] }],
    ...(parametersOf.length === 0 ? {} : { parameters: parametersOf }),
    ...(operation.input === undefined
      ? {}
      : {
          requestBody: {
            required: operation.inputOptional !== true,
            content: json(ref(operation.input), examples[operation.input]),
          },
        }),
    responses: {
      [operation.success.status]: {
        description: 'Done.',
        headers: rateLimitHeaders,
        content: successBody(operation),
      },
      ...errorReferences([...operation.errors, 401, 402, 403, 429, 500].sort()),
    },
  };
}

function controlPaths(): Record<string, object> {
  const paths: Record<string, Record<string, object>> = {};
  for (const [id, operation] of Object.entries(operations)) {
    const path = `${prefix}${operation.path}`;
    paths[path] = {
      ...paths[path],
      [operation.method.toLowerCase()]: operationObject(id, operation),
    };
  }
  return paths;
}

const health = {
  operationId: 'getHealth',
  tags: ['Health'],
  summary: 'Health of the service and what it depends on',
  security: [],
  responses: {
    200: { description: 'Healthy.', content: json(ref('HealthStatus')) },
    503: { description: 'Not healthy.', content: json(ref('HealthStatus')) },
  },
};

const errorStatuses = [
  ...new Set(Object.values(errorCatalogue).map(({ status }) => status)),
].sort();

/** The OpenAPI 3.1 document, generated from the tables and schemas that the code uses. */
export function openApiDocument(baseUrl: string): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Image delivery',
      version: '1.0.0',
      summary: 'Transformed images, and the control plane of their projects.',
      description: 'A self-hostable service that fetches, transforms, caches and delivers images.',
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
      ...imagePaths(
        errorReferences([
          400, 403, 404, 405, 408, 413, 415, 416, 422, 429, 431, 500, 502, 503, 504,
        ]),
      ),
      '/api/health': { get: health },
      ...controlPaths(),
    },
    components: {
      schemas,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        serviceApiKey: { type: 'apiKey', in: 'header', name: 'X-Service-Api-Key' },
      },
      responses: Object.fromEntries(
        errorStatuses.map((status) => [`Error${status}`, errorResponse(status)]),
      ),
    },
  };
}
