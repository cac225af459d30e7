import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import t from 'tap';
import { examples } from '../../../server/control/examples.ts';
import { openApiDocument } from '../../../server/control/openapi.ts';
import { readOptions } from '../../../server/image/options.ts';
import { parameterNames } from '../../../server/image/parameters.ts';

interface Content {
  readonly 'application/json'?: { readonly schema: object; readonly example?: unknown };
}
interface Reply {
  readonly $ref?: string;
  readonly content?: Content;
  readonly headers?: object;
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Reply>>;
  readonly security?: readonly object[];
}
interface Document {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>;
    readonly responses: Readonly<Record<string, Reply>>;
    readonly securitySchemes: object;
  };
}

const document: Document = JSON.parse(JSON.stringify(openApiDocument('https://images.shop.test')));
const { paths, components } = document;
const byId = new Map(
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) =>
        [operation.operationId, { path, method: method.toUpperCase(), operation }] as const,
    ),
  ),
);

/** The interface: every operation with its method, path, success status and own error statuses. */
const specified = {
  listProjects: ['GET', '/projects', 200],
  createProject: ['POST', '/projects', 201, 400],
  getProject: ['GET', '/projects/{projectId}', 200, 404],
  getProjectConfiguration: ['GET', '/projects/{projectId}/configuration', 200, 404],
  updateProjectSettings: ['PATCH', '/projects/{projectId}/settings', 200, 400, 404],
  prewarmProjectImages: ['POST', '/projects/{projectId}/prewarm', 202, 400, 404],
  addProjectDomain: ['POST', '/projects/{projectId}/domains', 200, 400, 404],
  removeProjectDomain: ['DELETE', '/projects/{projectId}/domains', 200, 400, 404],
  listProjectPresets: ['GET', '/projects/{projectId}/presets', 200, 404],
  getProjectPreset: ['GET', '/projects/{projectId}/presets/{presetName}', 200, 404],
  putProjectPreset: ['PUT', '/projects/{projectId}/presets/{presetName}', 200, 400, 404],
  deleteProjectPreset: ['DELETE', '/projects/{projectId}/presets/{presetName}', 200, 400, 404],
} as const;

t.test('the document is OpenAPI 3.1, version 1.0.0, with exactly these operations', async (t) => {
  t.match(document, { openapi: '3.1.0', info: { version: '1.0.0' } });
  const others = ['getHealth', 'getImage', 'getImageByQuery'];
  t.same([...byId.keys()].sort(), [...Object.keys(specified), ...others].sort());
});

t.test(
  'every operation of the control plane has its path, keys, responses and errors',
  async (t) => {
    const names = { 1: 'bearer', 2: 'serviceApiKey' };
    t.same(Object.keys(components.securitySchemes), Object.values(names));
    for (const [id, [method, path, success, ...errors]] of Object.entries(specified)) {
      const found = byId.get(id);
      t.equal(found?.method, method, id);
      t.equal(found?.path, `/api/sdk/v1${path}`, id);
      t.same(found?.operation.security, [{ bearer: [] }, { serviceApiKey: [] }], id);
      const failures = [...errors, 401, 402, 403, 429, 500, 503];
      const statuses = Object.keys(found?.operation.responses ?? {}).map(Number);
      t.same(statuses.sort(), [success, ...failures].sort(), id);
      for (const status of failures) {
        const { $ref = '' } = found?.operation.responses[status] ?? {};
        const reply = components.responses[$ref.replace('#/components/responses/', '')];
        const schema = reply?.content?.['application/json']?.schema;
        t.same(schema, { $ref: '#/components/schemas/ApiError' }, `${id} ${status}`);
      }
    }
    const allowance = { 'RateLimit-Limit': {}, 'RateLimit-Remaining': {}, 'RateLimit-Reset': {} };
    t.match(components.responses['Error429']?.headers, { ...allowance, 'Retry-After': {} });
    // Some generated clients reject valid responses because of it.
    t.notMatch(JSON.stringify(components.schemas), /"const":/);
    const removal = byId.get('removeProjectDomain')?.operation;
    t.equal(removal?.requestBody?.required, false);
    t.match(removal?.parameters, [{ name: 'projectId' }, { name: 'host', in: 'query' }]);
  },
);

t.test('images and health need no key; images have all parameters', async (t) => {
  for (const id of ['getImage', 'getImageByQuery', 'getHealth']) {
    t.same(byId.get(id)?.operation.security, [], id);
  }
  for (const id of ['getImage', 'getImageByQuery']) {
    const names = byId.get(id)?.operation.parameters?.map(({ name }) => name) ?? [];
    const more = ['exp', 'sig', 'Range', 'If-Range'];
    t.same(names.slice(1), ['project', ...parameterNames, ...more], id);
  }
  t.same(Object.keys(byId.get('getHealth')?.operation.responses ?? {}), ['200', '503']);
});

t.test('every example is valid by its schema', async (t) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  const errorsOf = (schema: object, example: unknown) => {
    const validate = ajv.compile({ ...schema, components });
    validate(example);
    return validate.errors ?? [];
  };
  let seen = 0;
  const visit = (value: unknown, where: string): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('schema' in value && 'example' in value && typeof value.schema === 'object') {
      t.same(errorsOf(value.schema ?? {}, value.example), [], where);
      seen += 1;
      return;
    }
    for (const [name, inner] of Object.entries(value)) visit(inner, `${where}/${name}`);
  };
  visit({ paths, responses: components.responses }, '');
  t.ok(seen > 25, `${seen} examples`);
  for (const [name, example] of Object.entries(examples)) {
    t.same(errorsOf(components.schemas[name] ?? {}, example), [], name);
  }
  t.not(
    errorsOf(components.schemas['DomainInput'] ?? {}, {}).length,
    0,
    'invalid values have errors',
  );
});

t.test('the service accepts the example of every image parameter', async (t) => {
  const all = byId.get('getImage')?.operation.parameters ?? [];
  for (const name of parameterNames) {
    const parameter = all.find((one) => one.name === name);
    const example = parameter !== undefined && 'example' in parameter ? parameter.example : null;
    t.same(Object.keys(readOptions(new Map([[name, String(example)]]))), [name], name);
  }
});
