import t from 'tap';
import { List } from '../../../server/control/list.ts';
import { listProjects } from '../../../server/control/resources/projects.ts';
import type { ApiKey } from '../../../store/keys.ts';
import type { ListedProject, Projects } from '../../../store/projects.ts';
import { project } from '../../project.ts';

const key = { projectId: null, allOrganisations: true, orgId: 'org_1' } as ApiKey;
const { signal } = new AbortController();

/** Returns a store with pages of projects. */
const createStore = (pages: () => AsyncGenerator<ListedProject[]>) => ({
  projects: { pages } as unknown as Projects,
});

t.test('refuses too many projects for one response, and suggests how to list them', async (t) => {
  const hosts = Array.from({ length: 1_000 }, (_, n) => `a-host-with-a-long-name-${n}.example`);
  let read = 0;
  async function* pages() {
    for (; read < 1_000; read += 1) yield [project({ allowedOrigins: hosts })];
  }
  await t.rejects(listProjects(createStore(pages), key, null, signal), {
    code: 'invalid_request',
    message:
      /too many projects for one response: request pages, such as \?limit=100, and follow the Link/,
  });
  t.ok(read < 500, `${read} projects were read`);
});

for (const [name, page, atOnce] of [
  ['reads whole lists one after the other', null, 1],
  ['reads two pages at a time', { limit: 9, cursor: null }, 2],
] as const) {
  t.test(`${name}, and nothing for a disconnected client`, async (t) => {
    let [reading, most, lists] = [0, 0, 0];
    async function* pages() {
      lists += 1;
      reading += 1;
      most = Math.max(most, reading);
      await new Promise(setImmediate);
      yield [project()];
      reading -= 1;
    }
    const store = createStore(pages);
    const leaving = new AbortController();
    const staying = Array.from({ length: atOnce }, () => signal);
    const calls = [...staying, leaving.signal, signal].map((abort) =>
      listProjects(store, key, page, abort),
    );
    leaving.abort(new Error('gone'));
    const results = await Promise.allSettled(calls);
    t.same(
      results.map(({ status }) => status),
      [...staying.map(() => 'fulfilled'), 'rejected', 'fulfilled'],
    );
    t.same([most, lists], [atOnce, atOnce + 1]);
    t.match((await listProjects(store, key, page, signal)).json, /^{"id":/);
  });
}

t.test('pages through a list in memory', async (t) => {
  const all = ['a', 'b', 'c'];
  const of = (page: { limit: number; cursor: string | null } | null) =>
    List.of(all, (name) => name, page);
  t.same([of(null).json, of(null).headers], ['"a","b","c"', []]);
  const first = of({ limit: 2, cursor: null });
  t.same([first.json, first.headers], ['"a","b"', [['link', '<?limit=2&cursor=b>; rel="next"']]]);
  t.same(of({ limit: 2, cursor: 'b' }).headers, []);
  t.equal(of({ limit: 9, cursor: 'aa' }).json, '"b","c"', 'also after one that is gone');
  t.equal(of({ limit: 1, cursor: 'x' }).json, '');
});
