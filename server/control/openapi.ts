import { type ErrorStatus, errorCatalogue } from '../../contract/errors.ts';
import { controlErrors, errorResponses } from './error-responses.ts';
import { forGenerators } from './generator-schemas.ts';
import { healthSchema, livenessSchema, readinessSchema } from './health-schema.ts';
import { imagePaths } from './image-paths.ts';
import { imageSchemas } from './image-schemas.ts';
import { pageParameters } from './list.ts';
import type { Input, Operation } from './operation.ts';
import { controlPrefix, operations } from './operations.ts';
import {
  headerComponents,
  linkHeader,
  locationHeader,
  noContentHeaders,
  plainHeaders,
  rateLimitHeaders,
  readableHeaders,
} from './response-headers.ts';
import { type PathParameter, projectIdParameter, ref } from './schema.ts';

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
  return [...inPath, ...inQuery.map(([name, parameter]) => ({ name, in: 'query', ...parameter }))];
}

/** Returns an operation's error statuses, except the shared statuses. */
const ownErrors = ({
  method,
  path,
  input,
  query,
  isPaged,
  errors = [],
}: Operation): ErrorStatus[] => [
  ...(method !== 'GET' || (input ?? query ?? isPaged) !== undefined ? [400 as const] : []),
  ...(path.includes('{projectId}') ? [404 as const] : []),
  ...errors.map((code) => errorCatalogue[code].status),
];

/** JSON omits the undefined fields. */
function operationObject(id: string, operation: Operation): object {
  const { summary, description, input, status = 200, result, isPaged, hasLocation } = operation;
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
        headers: {
          ...(result === null ? noContentHeaders : plainHeaders),
          ...rateLimitHeaders,
          ...(hasLocation && locationHeader),
          ...(isPaged && linkHeader),
        },
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
  headers: readableHeaders,
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
  const document = {
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
  return forGenerators(document, schemas);
}
