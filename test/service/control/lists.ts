import type { Test } from 'tap';
import { type Control, rootKey } from './control.ts';

/** Lists as a whole and in pages. */
export async function lists(t: Test, control: Control): Promise<void> {
  const { call, service, store } = control;
  const orgId = (await service.admin('orgs', 'create', 'Lists')).trim();
  const issue = async (projectId: string | null) =>
    (await store.keys.issue({ name: 'lists', orgId, projectId, access: 'write' })).secret;
  const key = await issue(null);
  const ids: string[] = [];
  while (ids.length < 5) {
    const json = { name: 'Shop', origin: 'http://127.0.0.1/' };
    ids.push((await call('POST', '/projects', { key, json })).body.project.id);
  }

  /** Returns the items of all pages at a path by following their links. */
  const listPages = async (path: string, name: string, first: string, given = key) => {
    const pages: { readonly [field: string]: string }[][] = [];
    for (let next: string | null = first; next !== null; ) {
      const { status, headers, body } = await call('GET', `${path}${next}`, { key: given });
      t.equal(status, 200, next);
      t.same(Object.keys(body), [name], 'the body of a page is that of the list');
      pages.push(body[name]);
      const [, link = null] = /^<(.*)>; rel="next"$/.exec(String(headers['link'] ?? '')) ?? [];
      next = link;
    }
    return pages;
  };
  const idsIn = (pages: Awaited<ReturnType<typeof listPages>>) =>
    pages.map((page) => page.map(({ id }) => id));

  const whole = await call('GET', '/projects', { key });
  t.same(
    whole.body.projects.map(({ id }: { id: string }) => id),
    ids,
    'the whole list is by date of creation',
  );
  t.equal(whole.headers['link'], undefined);
  const sorted = [...ids].sort();
  const inPages = await listPages('/projects', 'projects', '?limit=2');
  t.same(idsIn(inPages), [sorted.slice(0, 2), sorted.slice(2, 4), sorted.slice(4)]);
  const byId = new Map(inPages.flat().map((project) => [project['id'], project]));
  t.same(
    ids.map((id) => byId.get(id)),
    whole.body.projects,
    'the projects are the same',
  );
  t.same(idsIn(await listPages('/projects', 'projects', '?limit=5')), [sorted], 'no empty page');
  const cursor = `?cursor=${sorted[1]}`;
  t.same(idsIn(await listPages('/projects', 'projects', cursor)), [sorted.slice(2)]);
  const all = await listPages('/projects', 'projects', '?limit=200', rootKey);
  t.ok(sorted.every((id) => idsIn(all).flat().includes(id)));

  const scoped = await issue(ids[0] ?? null);
  t.same(idsIn(await listPages('/projects', 'projects', '?limit=1', scoped)), [[ids[0]]]);
  const after = `?cursor=${sorted.at(-1)}`;
  t.same(idsIn(await listPages('/projects', 'projects', after, scoped)), [[]]);

  const names = ['a', 'b-1', 'b_2'];
  for (const name of names) {
    const path = `/projects/${ids[0]}/presets/${name}`;
    await call('PUT', path, { key, json: { parameters: { w: 9 } } });
  }
  const presets = await listPages(`/projects/${ids[0]}/presets`, 'presets', '?limit=2');
  t.same(
    presets.map((page) => page.map(({ name }) => name)),
    [['a', 'b-1'], ['b_2']],
  );
  t.same(await listPages(`/projects/${ids[0]}/layers`, 'layers', '?limit=1'), [[]]);
  t.same(await listPages(`/projects/${ids[0]}/origins`, 'origins', '?limit=1'), [[]]);

  for (const [query, message] of [
    ['limit=0', /limit must be a whole number from 1 to 200/],
    ['limit=201', /limit must be/],
    ['limit=', /limit must be/],
    ['limit=1.5', /limit must be/],
    ['limit=1&limit=1', /limit is given more than once/],
    ['cursor=prj_1', /cursor must come from a Link header/],
    ['cursor=', /cursor must come from a Link header/],
  ] as const) {
    const { status, body } = await call('GET', `/projects?${query}`, { key });
    t.equal(status, 400, query);
    t.match(body, { code: 'invalid_request', message });
  }
  const unknown = '/projects/prj_0000000000000000/presets';
  t.equal((await call('GET', `${unknown}?limit=0`)).status, 400);
  t.equal((await call('GET', `${unknown}?limit=1`)).status, 404);
}
