import { errorCatalogue } from '../../contract/errors.ts';
import { controlPrefix, type Endpoint, endpoints } from './endpoints.ts';
import { controlErrors, errorResponses } from './error-responses.ts';
import { examples } from './examples.ts';
import { healthSchema, readinessSchema } from './health-schema.ts';
import { imagePaths, imageSchemas, layerFieldSchema, parameterSchema } from './image-paths.ts';
import { layerFieldsSchema } from './layer-input.ts';
import { defaultPageItems, maxPageItems } from './list.ts';
import { presetParametersSchema } from './preset-input.ts';
import { prewarmVariantSchema } from './prewarm-variants.ts';
import {
  headerComponents,
  linkHeader,
  locationHeader,
  plainHeaders,
  rateLimitHeaders,
  readableHeaders,
} from './response-headers.ts';
import {
  bodySchemas,
  layerInputSchema,
  layerNameSchema,
  layerSchema,
  originHostSchema,
  presetInputSchema,
  presetNameSchema,
  presetSchema,
  prewarmIdSchema,
  prewarmInputSchema,
  projectIdSchema,
  purgeIdSchema,
} from './schemas.ts';
import { usageCsv } from './usage-body.ts';
import { maxUsageDays, usageFormats } from './usage-query.ts';

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const layerKinds = { image: ref('LayerImage'), text: ref('LayerText') };

const schemas = {
  ...bodySchemas,
  Preset: presetSchema(ref('PresetParameters')),
  PresetInput: presetInputSchema(ref('PresetParameters')),
  PresetParameters: presetParametersSchema(parameterSchema),
  PrewarmInput: prewarmInputSchema(ref('PrewarmVariant')),
  PrewarmVariant: prewarmVariantSchema(parameterSchema),
  Layer: layerSchema(layerKinds),
  LayerInput: layerInputSchema(layerKinds),
  LayerImage: layerFieldsSchema('image', layerFieldSchema),
  LayerText: layerFieldsSchema('text', layerFieldSchema),
  HealthStatus: healthSchema,
  Readiness: readinessSchema,
  ...imageSchemas,
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

const json = (schema: unknown, example?: unknown) => ({ 'application/json': { schema, example } });

function successBody({ success }: Endpoint): object {
  const name = success.schema as SchemaName & keyof typeof examples;
  const isList = success.isList === true;
  const schema = {
    type: 'object',
    properties: { [success.name]: isList ? { type: 'array', items: ref(name) } : ref(name) },
    required: [success.name],
    additionalProperties: false,
  };
  const example = examples[name];
  return {
    ...json(schema, { [success.name]: isList ? [example] : example }),
    ...(success.isAlsoCsv && csvOfUsage),
  };
}

const csvOfUsage = {
  'text/csv': { schema: { type: 'string' }, example: usageCsv(examples.Usage).text },
};

const inPath = (name: string, schema: object, example: string) => ({
  name,
  in: 'path',
  required: true,
  schema,
  example,
});
const projectIdParameter = inPath('projectId', projectIdSchema, examples.Project.id);
const presetNameParameter = inPath('presetName', presetNameSchema, examples.Preset.name);
const layerNameParameter = inPath('layerName', layerNameSchema, examples.Layer.name);
const prewarmIdParameter = inPath('prewarmId', prewarmIdSchema, examples.PrewarmStatus.id);
const purgeIdParameter = inPath('purgeId', purgeIdSchema, examples.PurgeStatus.id);
const originHostParameter = inPath('host', originHostSchema, examples.ProjectOrigin.host);
const hostParameter = {
  name: 'host',
  in: 'query',
  description: 'The host to remove; takes precedence over the body.',
  schema: bodySchemas.DomainInput.properties.host,
  example: examples.DomainInput.host,
};

const date = { type: 'string', format: 'date' };
const queryParameters = {
  from: {
    description: 'The first day (UTC); 29 days before the last one by default.',
    schema: date,
    example: examples.Usage.from,
  },
  to: {
    description: `The last day, today by default; at most ${maxUsageDays} days in all.`,
    schema: date,
    example: examples.Usage.to,
  },
  format: {
    description: 'Takes precedence over the Accept header.',
    schema: { type: 'string', enum: usageFormats },
    example: 'json',
  },
  limit: {
    description: `Asks for a page with at most so many items; ${defaultPageItems} with \`cursor\` alone.`,
    schema: { type: 'integer', minimum: 1, maximum: maxPageItems },
    example: defaultPageItems,
  },
  cursor: {
    description: 'The page after that one: of its `Link` header.',
    schema: { type: 'string' },
    example: examples.Project.id,
  },
};
const inQuery = (name: keyof typeof queryParameters) => ({
  name,
  in: 'query',
  ...queryParameters[name],
});

/** JSON omits the undefined fields. */
function operationObject(id: string, endpoint: Endpoint): object {
  const { path, input, inputOptional = false, success, summary, description } = endpoint;
  const { query = [] } = endpoint;
  const parameters = [
    ...(path.includes('{projectId}') ? [projectIdParameter] : []),
    ...(path.includes('{presetName}') ? [presetNameParameter] : []),
    ...(path.includes('{layerName}') ? [layerNameParameter] : []),
    ...(path.includes('{host}') ? [originHostParameter] : []),
    ...(path.includes('{prewarmId}') ? [prewarmIdParameter] : []),
    ...(path.includes('{purgeId}') ? [purgeIdParameter] : []),
    ...(inputOptional ? [hostParameter] : []),
    ...query.map(inQuery),
  ];
  return {
    operationId: id,
    tags: ['Control plane'],
    summary,
    description,
    security: [{ bearer: [] }, { serviceApiKey: [] }],
    parameters: parameters.length === 0 ? undefined : parameters,
    requestBody: input && { required: !inputOptional, content: json(ref(input), examples[input]) },
    responses: {
      [success.status]: {
        description: 'Done.',
        headers: {
          ...plainHeaders,
          ...rateLimitHeaders,
          ...(success.hasLocation && locationHeader),
          ...(query.some((name) => name === 'cursor') && linkHeader),
        },
        content: successBody(endpoint),
      },
      ...controlErrors(endpoint.errors),
    },
  };
}

function controlPaths(): Record<string, object> {
  const paths: Record<string, Record<string, object>> = {};
  for (const [id, endpoint] of Object.entries(endpoints)) {
    const path = `${controlPrefix}${endpoint.path}`;
    paths[path] ??= {};
    paths[path][endpoint.method.toLowerCase()] = operationObject(id, endpoint);
  }
  return paths;
}

const healthResponse = (description: string, schema: SchemaName = 'HealthStatus') => ({
  description,
  headers: readableHeaders,
  content: json(ref(schema)),
});
const health = {
  operationId: 'getHealth',
  tags: ['Health'],
  summary: 'Health of the service and what it depends on',
  security: [],
  responses: { 200: healthResponse('Healthy.'), 503: healthResponse('Not healthy.') },
};
const readiness = {
  operationId: 'getReadiness',
  tags: ['Health'],
  summary: 'Whether to send requests to this machine',
  description: 'For load balancers. It is also 200 while the store is unavailable.',
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
      ...imagePaths,
      '/api/health': { get: health },
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
