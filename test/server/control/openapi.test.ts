import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import t from 'tap';
import { openApiDocument } from '../../../server/control/openapi.ts';
import { readOptions } from '../../../server/image/address.ts';
import { fieldsOfKind, layerKinds } from '../../../server/image/layer-fields.ts';
import { urlParameters } from '../../../server/image/overlays.ts';
import {
  type ParameterName,
  parameterNames,
  parameters,
} from '../../../server/image/parameters.ts';
import type { OpenApiDocument } from '../../service/control/response-validator.ts';

const document: OpenApiDocument = JSON.parse(
  JSON.stringify(openApiDocument('https://images.shop.test')),
);
const { paths, components } = document;
const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
const findOperation = (id: string) => operations.find(({ operationId }) => operationId === id);

const publicIds = ['getImage', 'getImageByQuery', 'getHealth', 'getLiveness', 'getReadiness'];
/** Generated clients name their functions by them. */
const controlIds = `listProjects createProject getProject updateProject deleteProject
  getProjectConfiguration updateProjectSettings
  prewarmProjectImages getProjectPrewarm purgeProjectImages getProjectPurge getProjectFreshness
  putProjectFreshness getProjectUsage getProjectTop listProjectFailures getProjectLimits putProjectLimits addProjectDomain
  removeProjectDomain listProjectPresets getProjectPreset putProjectPreset deleteProjectPreset
  listProjectLayers getProjectLayer putProjectLayer deleteProjectLayer listFonts
  listProjectOrigins putProjectOrigin deleteProjectOrigin
  listProjectHosts getProjectHost putProjectHost deleteProjectHost listProjectKeys createProjectKey revokeProjectKey
  getProjectSigning createSigningSecret revokePreviousSigningSecret stopRequiringSignatures signProjectUrl
  listProjectUrlSecrets getProjectUrlSecret putProjectUrlSecret deleteProjectUrlSecret
  getProjectUrlMeaning listProjectCallbacks getServiceVersion`.split(/\s+/);

t.test('declares OpenAPI 3.1, version 1.0.0, and exactly these operations', async (t) => {
  t.match(document, { openapi: '3.1.0', info: { version: '1.0.0' } });
  const ids = operations.map(({ operationId }) => operationId);
  t.same(ids.sort(), [...controlIds, ...publicIds].sort());
});

t.test('documents keys and common errors for every operation of the control plane', async (t) => {
  t.same(Object.keys(components.securitySchemes), ['bearer', 'serviceApiKey']);
  for (const id of controlIds) {
    const { security, responses = {} } = findOperation(id) ?? {};
    t.same(security, [{ bearer: [] }, { serviceApiKey: [] }], id);
    for (const status of [401, 402, 403, 429, 500, 503]) {
      const name = responses[status]?.$ref?.replace('#/components/responses/', '') ?? '';
      const schema = components.responses[name]?.content?.['application/json']?.schema;
      t.same(schema, { $ref: '#/components/schemas/ApiError' }, `${id} ${status}`);
    }
  }
  const limits = { 'RateLimit-Limit': {}, 'RateLimit-Remaining': {}, 'RateLimit-Reset': {} };
  t.match(components.responses['Error429']?.headers, { ...limits, 'Retry-After': {} });
  t.match(components.responses['Error403'], { description: /`root_key_required`/ });
  t.notMatch(components.responses['ImageError403'], {
    description: /`root_key_required`|`project_forbidden`/,
  });
  // Some generated clients reject valid responses because of it.
  t.notMatch(JSON.stringify(components.schemas), /"const":/);
  const { responses: ofDeletion = {} } = findOperation('deleteProject') ?? {};
  t.match(ofDeletion, { 409: { $ref: '#/components/responses/Error409' } });
  t.equal(ofDeletion[204]?.content, undefined, 'a 204 has no body');
  const removal = findOperation('removeProjectDomain');
  t.equal(removal?.requestBody?.required, false);
  t.match(removal?.parameters, [{ name: 'projectId' }, { name: 'host', in: 'query' }]);
});

t.test('requires no key for images and health, and lists all image parameters', async (t) => {
  for (const id of publicIds) t.same(findOperation(id)?.security, [], id);
  for (const id of ['getImage', 'getImageByQuery']) {
    const names = findOperation(id)?.parameters?.map(({ name }) => name) ?? [];
    t.same(names.slice(1), ['project', ...Object.keys(urlParameters), 'exp', 'sig'], id);
    t.ok(
      ['overlay.w', 'overlay4', 'overlay4.radius'].every((name) => names.includes(name)),
      id,
    );
  }
  for (const id of ['getHealth', 'getReadiness']) {
    t.same(Object.keys(findOperation(id)?.responses ?? {}), ['200', '503'], id);
  }
});

t.test('contains only valid examples', async (t) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  const findErrors = (schema: object, example: unknown) => {
    const validate = ajv.compile({ ...schema, components });
    validate(example);
    return validate.errors ?? [];
  };
  let seen = 0;
  const visit = (value: unknown, where: string): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('schema' in value && 'example' in value && typeof value.schema === 'object') {
      t.same(findErrors(value.schema ?? {}, value.example), [], where);
      seen += 1;
      return;
    }
    for (const [name, inner] of Object.entries(value)) visit(inner, `${where}/${name}`);
  };
  visit({ paths, responses: components.responses }, '');
  t.ok(seen > 25, `${seen} examples`);
  t.not(
    findErrors(components.schemas['DomainInput'] ?? {}, {}).length,
    0,
    'invalid values have errors',
  );
});

t.test('states the default of every parameter and every layer field', async (t) => {
  for (const parameter of findOperation('getImage')?.parameters ?? []) {
    const { name } = parameter;
    if (!parameterNames.some((parameterName) => parameterName === name)) continue;
    const { defaultInWords } = parameters[name as ParameterName];
    t.ok(parameter.description?.includes(`Default: ${defaultInWords}.`), name);
  }
  for (const kind of layerKinds) {
    const { properties, required } = components.schemas[
      kind === 'image' ? 'LayerImage' : 'LayerText'
    ] as {
      properties: Record<string, { default?: unknown }>;
      required: string[];
    };
    for (const [name, field] of Object.entries(fieldsOfKind(kind))) {
      const stated = field.default ?? undefined;
      t.equal(properties[name]?.default, stated, `${kind}.${name}`);
      t.equal(required.includes(name), field.default === undefined, `${kind}.${name} is required`);
      if (stated !== undefined) t.not(field.parse(String(stated)), undefined, `${kind}.${name}`);
    }
  }
});

t.test(
  "writes all times in ISO 8601, except a project's date, which the specification defines",
  async (t) => {
    const times: string[] = [];
    const visit = (schema: unknown, where: string): void => {
      for (const [name, inner] of Object.entries(schema ?? {})) {
        if (typeof inner !== 'object') continue;
        const isTime = /(?:At|timestamp)$/.test(name) && 'type' in inner;
        if (isTime && inner.format === 'date-time') times.push(name);
        else if (isTime) t.equal(`${where}/${name}`, '/Project/properties/createdAt');
        visit(inner, `${where}/${name}`);
      }
    };
    // EXIF has local times, without a time zone.
    const { ImageFacts: _, ...schemas } = components.schemas;
    visit(schemas, '');
    t.ok(times.length >= 8, times.join());
  },
);

t.test('accepts the example of every image parameter', async (t) => {
  const all = findOperation('getImage')?.parameters ?? [];
  for (const name of parameterNames) {
    const example = String(all.find((parameter) => parameter.name === name)?.example);
    t.same(Object.keys(readOptions(new Map([[name, example]]))), [name], name);
  }
});
