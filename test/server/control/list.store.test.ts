import t from 'tap';
import type { PageQuery } from '../../../server/control/list.ts';
import { listProjects } from '../../../server/control/resources/projects.ts';
import type { ApiKey } from '../../../store/keys.ts';
import { newProject, testProjects } from '../../store/projects.ts';

const key = {
  projectId: null,
  allOrganisations: false,
  orgId: newProject.orgId,
} as unknown as ApiKey;
const { signal } = new AbortController();
/** The maximum number of hosts, in the maximum length. */
const allowedOrigins = Array.from(
  { length: 1_000 },
  (_, n) => `${`${'a'.repeat(60)}.`.repeat(4)}${String(n).padStart(9, '0')}`,
);

t.test('ends a page of large projects early, and starts the next page there', async (t) => {
  const { projects } = await testProjects(t);
  const ids: string[] = [];
  while (ids.length < 20) ids.push((await projects.create({ ...newProject, allowedOrigins }))._id);
  for (const name of ['small', 'tiny']) await projects.create({ ...newProject, name });
  const listed: string[] = [];
  let pages = 0;
  for (let page: PageQuery | null = { limit: 200, cursor: null }; page !== null; pages += 1) {
    const { json, next } = await listProjects({ projects }, key, page, signal);
    t.ok(json.length < 2_300_000, `${json.length} characters`);
    listed.push(...JSON.parse(`[${json}]`).map(({ id }: { id: string }) => id));
    if (next !== null) t.equal(next.limit, 200, 'the next page may be longer');
    page = next;
  }
  t.equal(pages, 3);
  t.same(listed, [...listed].sort());
  t.ok(ids.every((id) => listed.includes(id)) && listed.length === 22, 'all projects');
});
