import type { Test } from 'tap';
import { type Control, rootKey } from './control.ts';

/** Checks the scope and access of keys. */
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

  t.test("limits an all-project key to its organisation's projects", async (t) => {
    const orgId = (await service.admin('orgs', 'create', 'Other')).trim();
    const made = await service.admin('keys', 'create', '--org', orgId);
    const [, key = ''] = made.trim().split(/\s+/);
    t.same(await projects(key), []);
    for (const [method, path, json] of [
      ['GET', `/projects/${own}`],
      ['PATCH', `/projects/${own}/settings`, { maxWidth: 'not even valid' }],
    ] as const) {
      const { status, body } = await call(method, path, { key, json });
      t.match([status, body.code], [403, 'project_forbidden'], `${method} ${path}`);
    }
    t.equal((await call('GET', '/projects/prj_0000000000000000', { key })).status, 404);
    const input = { name: 'Theirs', origin: 'http://127.0.0.1/' };
    const { project } = (await call('POST', '/projects', { key, json: input })).body;
    t.equal(project.orgId, orgId);
    t.same(await projects(key), [project.id]);
    const settings = `/projects/${project.id}/settings`;
    t.equal((await call('PATCH', settings, { key, json: { maxWidth: 9 } })).status, 200);
    t.equal((await call('GET', `/projects/${project.id}`, { key: allReader })).status, 403);
    t.ok((await projects(rootKey)).includes(project.id), 'the root key accesses all of them');
  });

  t.test('reads a key from either header, but not from the URL or a cookie', async (t) => {
    const path = `/projects/${own}`;
    const cases: ReadonlyArray<readonly [number, path: string, Record<string, string>]> = [
      [200, path, { Authorization: `BEARER ${scoped}`, 'x-service-api-key': 'x' }],
      [200, path, { 'X-SERVICE-API-KEY': scoped }],
      [401, path, { authorization: `Bearer ${'x'.repeat(5_000)}` }],
      [401, path, { cookie: `key=${scoped}` }],
      // Reject keys in URLs, because users log and share URLs.
      [401, `${path}?api_key=${scoped}`, {}],
    ];
    for (const [status, target, headers] of cases) {
      const answer = await call('GET', target, { key: null, headers });
      t.equal(answer.status, status, `${target} ${JSON.stringify(headers)}`);
    }
    const json = { maxWidth: 9 };
    t.equal((await call('PATCH', `${path}/settings`, { key: scoped, json })).status, 200);
  });

  t.test('lists keys with their scope, and no secret', async (t) => {
    const list = await service.admin('keys', 'list');
    t.match(list, new RegExp(`${keyId} +shop +org_\\w+ +${own} +write`));
    for (const secret of [scoped, reader, rootKey]) t.notMatch(list, secret.slice(3));
    const stored = JSON.stringify(await control.store.db.collection('keys').find().toArray());
    for (const secret of [scoped, reader, rootKey]) t.notMatch(stored, secret.slice(3));
  });
}
