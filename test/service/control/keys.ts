import type { Test } from 'tap';
import { type Control, rootKey } from './control.ts';

/** The scope and access of keys. */
export async function keys(t: Test, control: Control): Promise<void> {
  const { call, service } = control;
  const projects = async (key: string) => {
    const { body } = await call('GET', '/projects', { key });
    return body.projects.map(({ id }: { id: string }) => id);
  };
  const before = await projects(rootKey);
  const own = await control.project();
  const other = await control.project();
  const options = ['--name', 'shop', '--project', own, '--access', 'write'];
  const issued = await service.admin('keys', 'create', ...options);
  const [keyId = '', scoped = ''] = issued.split(/\s+/);
  t.match(scoped, /^sk_[\w-]{43}$/);
  const reader = await control.issue(own, 'read');
  const allReader = await control.issue(null, 'read');

  t.same(await projects(rootKey), [...before, own, other]);
  t.same(await projects(allReader), [...before, own, other]);
  t.same(await projects(scoped), [own], 'a scoped key lists its own project');
  t.same(await projects(reader), [own]);

  t.test('a scoped write key may use every operation of its project', async (t) => {
    const key = scoped;
    const host = { json: { host: 'a.example' }, key };
    const on = `/projects/${own}`;
    const src = 'https://a.example/1.jpg';
    for (const [status, method, path, options] of [
      [200, 'GET', on, { key }],
      [200, 'GET', `${on}/configuration`, { key }],
      [200, 'PATCH', `${on}/settings`, { key, json: { maxWidth: 9 } }],
      [200, 'POST', `${on}/domains`, host],
      [202, 'POST', `${on}/prewarm`, { key, json: { src } }],
      [200, 'DELETE', `${on}/domains`, host],
    ] as const) {
      t.equal((await call(method, path, options)).status, status, `${method} ${path}`);
    }
  });

  t.test('an all-project key is limited to the projects of its organisation', async (t) => {
    const orgId = (await service.admin('orgs', 'create', 'Other')).trim();
    const made = await service.admin('keys', 'create', '--org', orgId);
    const [, key = ''] = made.trim().split(/\s+/);
    t.same(await projects(key), []);
    const calls = [
      ['GET', `/projects/${own}`],
      ['GET', `/projects/${own}/configuration`],
      ['PATCH', `/projects/${own}/settings`, { maxWidth: 9 }],
      ['POST', `/projects/${own}/domains`, { host: 'evil.example' }],
      ['DELETE', `/projects/${own}/domains`, { host: '127.0.0.1' }],
      ['POST', `/projects/${own}/prewarm`, { src: 'http://127.0.0.1/1.jpg' }],
      ['PATCH', `/projects/${own}/settings`, { maxWidth: 'not even valid' }],
    ] as const;
    for (const [method, path, json] of calls) {
      const { status, body } = await call(method, path, { key, json });
      t.match([status, body.code], [403, 'project_forbidden'], `${method} ${path}`);
    }
    t.equal((await call('GET', '/projects/prj_0000000000000000', { key })).status, 404);
    const input = { name: 'Theirs', origin: 'http://127.0.0.1/' };
    const created = await call('POST', '/projects', { key, json: input });
    t.equal(created.body.project.orgId, orgId);
    const { id } = created.body.project;
    t.same(await projects(key), [id]);
    const settings = `/projects/${id}/settings`;
    t.equal((await call('PATCH', settings, { key, json: { maxWidth: 9 } })).status, 200);
    t.equal((await call('GET', `/projects/${id}`, { key: allReader })).status, 403);
    t.ok((await projects(rootKey)).includes(id), 'the root key accesses every organisation');
  });

  t.test('a key is read from either header; Authorization takes precedence', async (t) => {
    const status = async (headers: Record<string, string>) =>
      (await call('GET', `/projects/${own}`, { key: null, headers })).status;
    const service = { 'x-service-api-key': scoped };
    const cases: ReadonlyArray<readonly [status: number, ...headers: Record<string, string>[]]> = [
      [200, { authorization: `Bearer ${scoped}` }, { Authorization: `BEARER ${scoped}` }],
      [200, service, { 'X-SERVICE-API-KEY': scoped }],
      [200, { authorization: `Bearer ${scoped}`, 'x-service-api-key': 'x' }],
      [
        401,
        { authorization: 'Bearer sk_x', ...service },
        { authorization: 'Basic eDp5', ...service },
      ],
      [401, { authorization: scoped }, { 'x-service-api-key': `Bearer ${scoped}` }],
      [401, { authorization: `Bearer ${'x'.repeat(5_000)}` }, { cookie: `key=${scoped}` }],
    ];
    for (const [expected, ...all] of cases) {
      for (const headers of all) t.equal(await status(headers), expected, JSON.stringify(headers));
    }
    const inQuery = await call('GET', `/projects?api_key=${scoped}`, { key: null });
    t.equal(inQuery.status, 401, 'URLs are logged and shared, so they must not contain keys');
  });

  t.test('the list of keys shows their scope, and no secret', async (t) => {
    const list = await service.admin('keys', 'list');
    t.match(list, new RegExp(`${keyId} +shop +org_\\w+ +${own} +write`));
    for (const secret of [scoped, reader, rootKey]) t.notMatch(list, secret.slice(3));
    const stored = JSON.stringify(await control.store.db.collection('keys').find().toArray());
    for (const secret of [scoped, reader, rootKey]) t.notMatch(stored, secret.slice(3));
  });
}
