import type { Test } from 'tap';
import { until } from '../../until.ts';
import type { Answer, Call, Control } from './control.ts';

/** Checks the status and code of every error, in the order of the checks. */
export async function statuses(t: Test, control: Control): Promise<void> {
  const { call, store } = control;
  const jobs = store.db.collection('jobs');
  const jobsBefore = await jobs.countDocuments();
  const id = await control.project();
  const on = `/projects/${id}`;
  const writer = await control.issue(id, 'write');
  const reader = await control.issue(id, 'read');
  const allReader = await control.issue(null, 'read');
  const otherWriter = await control.issue(await control.project(), 'write');
  const before = (await call('GET', '/projects')).body;
  const missing = '/projects/prj_0000000000000000';

  const checkError = (t: Test, answer: Answer, status: number, code: string, name: string) => {
    t.same([answer.status, answer.body.code], [status, code], name);
    t.same(Object.keys(answer.body).sort(), ['code', 'error', 'message', 'resolution_hint'], name);
    for (const text of Object.values(answer.body)) t.match(text, /./, name);
  };
  const settings = { json: { defaultQuality: 50 } };
  const broken = { body: '{' };
  const source = { json: { src: 'https://a.example/' } };
  const input = { json: { name: 'x', origin: 'https://a.example/' } };

  const cases: ReadonlyArray<
    readonly [status: number, code: string, method: string, path: string, Call?]
  > = [
    // The service checks the route before the key.
    [404, 'endpoint_not_found', 'GET', '/nothing', { key: null }],
    [405, 'method_not_allowed', 'PUT', on, { key: 'sk_wrong', body: '{}' }],
    // The service checks the key before everything else.
    [401, 'api_key_missing', 'GET', '/projects', { key: null }],
    [401, 'api_key_missing', 'POST', '/projects', { key: null, ...broken }],
    [401, 'api_key_invalid', 'PATCH', `${missing}/settings`, { key: 'sk_wrong', ...broken }],
    // The service checks scope and access before the body and the project's existence.
    [403, 'project_forbidden', 'GET', missing, { key: writer }],
    [403, 'project_forbidden', 'PATCH', `${missing}/settings`, { key: reader, ...broken }],
    [403, 'project_forbidden', 'POST', '/projects', { key: writer, ...input }],
    [403, 'write_access_required', 'PATCH', `${on}/settings`, { key: reader, ...broken }],
    [403, 'project_forbidden', 'GET', `${on}/presets`, { key: otherWriter }],
    [403, 'project_forbidden', 'PATCH', on, { key: otherWriter, ...broken }],
    [403, 'project_forbidden', 'DELETE', on, { key: otherWriter }],
    [403, 'write_access_required', 'PATCH', on, { key: reader, ...broken }],
    [403, 'write_access_required', 'DELETE', `${on}?force=true`, { key: reader }],
    [400, 'invalid_request', 'PATCH', missing, { json: {} }],
    [400, 'invalid_request', 'DELETE', `${missing}?force=yes`],
    [404, 'project_not_found', 'PATCH', missing, { json: { name: 'x' } }],
    [404, 'project_not_found', 'PATCH', missing, { json: { origin: 'https://a.example/' } }],
    [404, 'project_not_found', 'DELETE', missing],
    [403, 'write_access_required', 'DELETE', `${missing}/domains`, { key: allReader }],
    [404, 'preset_not_found', 'GET', `${on}/presets/card`, { key: reader }],
    [400, 'invalid_request', 'PUT', `${missing}/presets/card`, { json: {} }],
    [404, 'layer_not_found', 'GET', `${on}/layers/badge`, { key: reader }],
    [400, 'invalid_request', 'PUT', `${missing}/layers/badge`, { json: {} }],
    [404, 'prewarm_not_found', 'GET', `${on}/prewarms/pre_0`, { key: reader }],
    [404, 'project_not_found', 'GET', `${missing}/prewarms/pre_0`],
    [404, 'purge_not_found', 'GET', `${on}/purges/1`, { key: reader }],
    [404, 'project_not_found', 'GET', `${missing}/purges/1`],
    [403, 'project_forbidden', 'GET', `${on}/purges/1`, { key: otherWriter }],
    [403, 'project_forbidden', 'GET', `${on}/prewarms/pre_0`, { key: otherWriter }],
    // The service checks the body before the project's existence.
    [400, 'invalid_request', 'PATCH', `${missing}/settings`, broken],
    [400, 'invalid_request', 'POST', `${missing}/prewarm`, { json: {} }],
    [400, 'invalid_request', 'POST', `${missing}/domains`, { json: { host: 'http://a' } }],
    [400, 'invalid_request', 'DELETE', `${missing}/domains`, {}],
    [404, 'project_not_found', 'GET', missing],
    [404, 'project_not_found', 'GET', `${missing}/configuration`],
    [404, 'project_not_found', 'PATCH', `${missing}/settings`, settings],
    [404, 'project_not_found', 'POST', `${missing}/prewarm`, source],
    [404, 'project_not_found', 'POST', `${missing}/domains`, { json: { host: 'a.example' } }],
    [404, 'project_not_found', 'DELETE', `${missing}/domains?host=a.example`],
  ];
  for (const [status, code, method, path, options = {}] of cases) {
    const name = `${method} ${path.replace(/prj_\w+/, 'prj')} ${status} ${code}`;
    checkError(t, await call(method, path, options), status, code, name);
  }

  t.test('checks product access right after the key', async (t) => {
    const { _id: orgId } = await store.organisations.create('Unpaid');
    const issued = { name: 'unpaid', orgId, projectId: id, access: 'read' } as const;
    const { secret: key } = await store.keys.issue(issued);
    t.equal((await call('GET', on, { key })).status, 200);
    t.match(await control.service.admin('orgs', 'access', orgId, 'off'), /off/);
    await until('it takes effect', async () => (await call('GET', on, { key })).status !== 200);
    for (const [method, path, options] of [
      ['GET', on, {}],
      ['PATCH', `${missing}/settings`, broken],
      ['POST', '/projects', input],
    ] as const) {
      const answer = await call(method, path, { key, ...options });
      checkError(t, answer, 402, 'product_access_required', `${method} ${path}`);
      t.match(answer.headers, { 'ratelimit-limit': '1000000', 'ratelimit-remaining': /^\d+$/ });
    }
    checkError(t, await call('GET', '/nothing', { key }), 404, 'endpoint_not_found', 'the route');
    t.equal((await call('GET', on)).status, 200, 'other organisations are not affected');
  });

  t.test('stores nothing on rejected calls', async (t) => {
    t.same((await call('GET', '/projects')).body, before);
    t.equal(await jobs.countDocuments(), jobsBefore);
  });
}
