import t, { type Test } from 'tap';
import type { ProjectUpdate } from '../../server/cluster/channel.ts';
import { ProjectCache } from '../../server/project-cache.ts';
import { requireProject } from '../../server/request-errors.ts';
import { type Project, Projects } from '../../store/projects.ts';
import { stopClock } from '../clock.ts';
import { newProject } from '../store/projects.ts';
import { until } from '../until.ts';
import { storeLink } from './store-link.ts';

/** Projects that delay look-ups until the test releases them. */
class SlowProjects extends Projects {
  readonly #held: (() => void)[] = [];
  holding = false;
  /** True to send look-ups to the store; otherwise no project exists. */
  asking = true;

  override findAll(ids: readonly string[]): Promise<Project[]> {
    return this.#answer(this.asking ? super.findAll(ids) : []);
  }

  async #answer<T>(found: T | Promise<T>): Promise<T> {
    const answer = await found;
    if (this.holding) await new Promise<void>((release) => this.#held.push(release));
    return answer;
  }

  async held(count: number): Promise<void> {
    await until(`${count} look-ups`, () => this.#held.length >= count);
  }

  release(): void {
    this.holding = false;
    for (const answer of this.#held.splice(0)) answer();
  }
}

/** Returns a cache that does not poll during the test, and a store that the test changes. */
async function cached(t: Test) {
  const link = await storeLink(t);
  const projects = new SlowProjects(link.db);
  const news: ProjectUpdate[] = [];
  const cache = new ProjectCache(projects, {
    compareEveryMs: 60_000,
    maxAgeMs: 60_000,
    onOutage: () => {},
    onUpdate: (update) => news.push(update),
  });
  t.teardown(() => cache.stop());
  return { ...link, projects, cache, news, others: new Projects(link.other) };
}

t.test('shares one project look-up among concurrent requests', async (t) => {
  const { cache, others, lookups } = await cached(t);
  const project = await others.create(newProject);
  const found = await Promise.all([1, 2, 3].map(() => cache.find(project._id)));
  t.match(found[0], { project, stale: false });
  for (const entry of found) t.equal(entry, found[0]);
  t.equal(cache.find(project._id), found[0], 'the next look-up finds it');
  t.same(lookups, [project._id]);
});

t.test('caches an unknown id for a short time', async (t) => {
  const { cache, lookups, other } = await cached(t);
  const others = new Projects(other);
  const id = 'prj_0000000000000000';
  const clock = stopClock(t);
  t.equal(await cache.find(id), null);
  const { _id, ...rest } = await others.create(newProject);
  await other.collection<Project>('projects').insertOne({ ...rest, _id: id });
  await clock.forward(900);
  t.equal(cache.find(id), null);
  t.equal(lookups.length, 1);
  await clock.forward(200);
  t.match(await cache.find(id), { project: { _id: id } });
});

/** Gives a project a host. */
async function assign(projects: Projects, id: string, host: string): Promise<void> {
  await projects.hostClaims.claim(host, id);
  await projects.setItem(id, 'hosts', host, { host, base: null, updatedAt: new Date(0) });
}

t.test("finds a host's project, and looks up a limited number of hosts at once", async (t) => {
  const { cache, others } = await cached(t);
  const clock = stopClock(t);
  const { _id } = await others.create(newProject);
  t.equal(cache.knownAt('img.example'), undefined);
  t.equal(await cache.findAt('img.example'), null);
  t.equal(cache.knownAt('img.example'), null);
  await assign(others, _id, 'img.example');
  await clock.forward(1_000);
  t.equal(cache.knownAt('img.example'), null, 'known for a while');
  await clock.forward(500);
  t.equal(cache.knownAt('img.example'), null, 'looked up again meanwhile');
  await clock.forward(500);
  const found = await cache.findAt('img.example');
  t.match(found, { project: { _id } });
  t.equal(cache.knownAt('img.example'), found);

  const flood = Array.from({ length: 256 }, (_, i) => cache.findAt(`x${i}.example`));
  await t.rejects(cache.findAt('more.example'), { code: 'overloaded' });
  await clock.forward(100);
  t.same(new Set(await Promise.all(flood)), new Set([null]));
  t.equal(cache.knownAt('img.example'), found, 'known hosts wait for none');
});

t.test('drops a host that its project loses, and finds its next project', async (t) => {
  const { cache, others } = await cached(t);
  const a = await others.create(newProject);
  const b = await others.create(newProject);
  await assign(others, a._id, 'img.example');
  t.match(await cache.findAt('img.example'), { project: { _id: a._id } });
  await others.hostClaims.release('img.example', a._id);
  const changed = await others.removeItem(a._id, 'hosts', 'img.example');
  cache.apply(requireProject(a._id, changed));
  t.equal(cache.knownAt('img.example'), undefined);
  await assign(others, b._id, 'img.example');
  t.match(await cache.findAt('img.example'), { project: { _id: b._id } });
});

t.test("finds a host's next project after a slow look-up of its previous project", async (t) => {
  const { cache, others, projects } = await cached(t);
  const clock = stopClock(t);
  const a = await others.create(newProject);
  const b = await others.create(newProject);
  await assign(others, a._id, 'img.example');
  projects.holding = true;
  const slow = cache.find(a._id);
  await projects.held(1);
  await others.removeItem(a._id, 'hosts', 'img.example');
  await others.hostClaims.release('img.example', a._id);
  await assign(others, b._id, 'img.example');
  cache.apply(requireProject(b._id, await others.find(b._id)));
  projects.release();
  await slow;
  await clock.forward(1_900);
  t.match(await cache.findAt('img.example'), { project: { _id: b._id } });
});

t.test('resolves the hosts of cached projects while the store is unavailable', async (t) => {
  const { cache, others, cut } = await cached(t);
  const { _id } = await others.create(newProject);
  await assign(others, _id, 'img.example');
  await cache.find(_id);
  await cut();
  cache.assumeStoreDown(true);
  t.match(await cache.findAt('img.example'), { project: { _id } });
  t.equal(await cache.findAt('x.example'), null);
});

t.test('finds a new project, even after requests for its id', async (t) => {
  const { cache, others, other, lookups } = await cached(t);
  const { _id, ...rest } = await others.create(newProject);
  const unknown = { ...rest, _id: 'prj_0000000000000000' };
  t.equal(await cache.find(unknown._id), null);
  await other.collection<Project>('projects').insertOne(unknown);
  cache.apply(unknown);
  t.match(await cache.find(unknown._id), { project: unknown });
  t.equal(lookups.length, 1);
});

t.test("compares an uncached project before it applies the project's change", async (t) => {
  const { cache, others } = await cached(t);
  await cache.start();
  const { _id } = await others.create(newProject);
  const changed = requireProject(_id, await others.addHost(_id, 'a.example'));
  await others.purge(_id, null);
  await cache.start();
  t.ok(cache.apply(changed).project.generations === undefined);
  t.ok((await cache.find(_id))?.project.generations !== undefined, 'a poll has ignored the purge');
});

t.test('replaces the old state with a reported project', async (t) => {
  const { cache, others } = await cached(t);
  const { _id } = await others.create(newProject);
  const before = await cache.find(_id);
  const changed = requireProject(_id, await others.addHost(_id, 'a.example'));
  const after = cache.apply(changed);
  t.same([before?.stale, after.stale], [true, false]);
  t.equal(cache.find(_id), after);
  t.equal(cache.apply(changed), after, 'a repeated report changes nothing');
  t.notOk(after.stale);
});

t.test('never replaces a newer revision by an older revision', async (t) => {
  const { cache, others, projects } = await cached(t);
  const first = await others.create(newProject);
  projects.holding = true;
  const slow = cache.find(first._id);
  await projects.held(1);
  const second = requireProject(first._id, await others.addHost(first._id, 'a.example'));
  const state = cache.apply(second);
  projects.release();
  t.equal(await slow, state, 'the slow look-up brings the newer one, too');
  t.equal(cache.apply(first), state);
  t.notOk(state.stale);
  t.equal(await cache.find(first._id), state);
});

t.test("replaces the old state with another process's change", async (t) => {
  const { cache, others, lookups } = await cached(t);
  const { _id } = await others.create(newProject);
  const before = await cache.find(_id);
  await others.addHost(_id, 'a.example');
  cache.compare(_id);
  await until('it is compared', () => before?.stale);
  t.match(await cache.find(_id), {
    project: { revision: 2, allowedOrigins: ['pictures.example.com', 'a.example'] },
  });
  t.same(lookups, [_id, _id]);
  const other = await others.create(newProject);
  cache.compare(other._id);
  await cache.start();
  t.equal(lookups.length, 2, 'a project that it does not know is not loaded');
});

t.test('detects a change even if a look-up started before it', async (t) => {
  const { cache, others, projects } = await cached(t);
  const clock = stopClock(t);
  const { _id } = await others.create(newProject);
  projects.holding = true;
  const slow = cache.find(_id);
  await projects.held(1);
  await others.addHost(_id, 'a.example');
  await clock.forward(1_900);
  projects.release();
  t.match(await slow, { project: { revision: 2 } }, 'an answer that is too old is compared');
});

t.test('reports a loaded project to the other processes once', async (t) => {
  const { cache, others, news } = await cached(t);
  const project = await others.create(newProject);
  await cache.find(project._id);
  cache.apply(project);
  cache.remember([{ ...project, _id: toId(1) }], 5);
  t.same(
    news,
    [{ type: 'project-known', project }],
    'projects of other processes are not reported again',
  );
  await cache.start();
  t.same(news.slice(1), [{ type: 'project-forgotten', id: toId(1) }]);
});

t.test("compares other processes' projects with an available store", async (t) => {
  const { cache, others, other } = await cached(t);
  const [same, changed, gone] = await Promise.all([1, 2, 3].map(() => others.create(newProject)));
  if (!same || !changed || !gone) throw new Error('no projects');
  const restored = { ...(await others.create(newProject)), revision: 9 };
  await others.addHost(changed._id, 'a.example');
  await other.collection<Project>('projects').deleteMany({ _id: gone._id });
  const all = [same, changed, gone, restored];
  cache.remember(all, Date.now());
  t.match(await cache.find(changed._id), { project: { revision: 2 } }, 'reads the store');
  t.equal(await cache.find(gone._id), null);
  t.match(await cache.find(restored._id), { project: { revision: 1 } }, 'from before a backup');
  cache.remember([gone], Date.now());

  cache.assumeStoreDown(true);
  const states = [same, changed, gone].map(({ _id }) => cache.find(_id));
  t.match(states, [{ project: same }, { project: { revision: 2 } }, { project: gone }]);
  t.throws(() => cache.find(toId(1)), { code: 'store_unavailable' }, 'other URLs do not exist');

  await cache.start();
  t.equal(cache.find(same._id), states[0], 'unchanged projects stay');
  t.equal(cache.find(gone._id), null);
});

t.test('waits at most two seconds for a silent store', async (t) => {
  const { cache, others, hold, release } = await cached(t);
  const [known, remembered] = [await others.create(newProject), await others.create(newProject)];
  await cache.find(known._id);
  cache.remember([remembered], Date.now());
  hold();
  t.teardown(release);
  t.match(cache.find(known._id), { project: known }, 'a known project does not wait');
  const startedAt = performance.now();
  const unknown = t.rejects(async () => cache.find(toId(1)), { code: 'store_unavailable' });
  t.match(await cache.find(remembered._id), { project: remembered }, 'after two reads');
  await unknown;
  // Twice the deadline, on a busy machine. Without it the driver's own 20-second timeout applies.
  t.ok(performance.now() - startedAt < 15_000);
});

const toId = (number: number): string => `prj_${String(number).padStart(16, '0')}`;

t.test('neither looks up nor caches an invalid id', async (t) => {
  const { cache, lookups } = await cached(t);
  const long = 'x'.repeat(100_000);
  const texts = ['', 'prj_', long, '__proto__', `${toId(1)}0`, ` ${toId(1)}`, `${toId(1)}\n`];
  const others = [toId(1).toUpperCase(), 'prj_000000000000000Z', 'org_0000000000000000'];
  for (const text of [...texts, ...others, '{"$ne":null}']) {
    t.equal(cache.find(text), null, JSON.stringify(text.slice(0, 30)));
  }
  t.equal(cache.knowledge.count, 0);
  t.same(lookups, []);
  t.equal(await cache.find(toId(1)), null);
  t.same(lookups, [toId(1)], 'a valid one is');
});

t.test('limits waiting look-ups, and still serves cached projects', async (t) => {
  const { cache, others, projects } = await cached(t);
  const { _id } = await others.create(newProject);
  await cache.find(_id);
  projects.holding = true;
  projects.asking = false;
  const waiting: unknown[] = [];
  t.throws(
    () => {
      for (let i = 0; i < 2_000; i++) waiting.push(cache.find(toId(i)));
    },
    { code: 'overloaded' },
  );
  t.ok(waiting.length >= 64 && waiting.length <= 1_024, `${waiting.length} wait`);
  t.match(cache.find(_id), { project: { _id } });
  await projects.held(waiting.length);
  projects.release();
  for (const found of await Promise.all(waiting)) t.equal(found, null);
  t.equal(await cache.find(toId(2_000)), null, 'later look-ups are accepted again');
});

t.test('limits the caches of unknown ids and of projects', async (t) => {
  const { cache, projects } = await cached(t);
  const project = await projects.create(newProject);
  const allowedOrigins = Array.from({ length: 1_000 }, (_, i) => `${'h'.repeat(60)}.n${i}.example`);
  for (let i = 0; i < 400; i++) {
    cache.apply({ ...project, _id: toId(i), allowedOrigins });
  }
  const { count } = cache.knowledge;
  t.ok(count > 100 && count < 250, `${count} projects of about 144 KB in 32 MiB`);
  stopClock(t);
  const missing: string[] = [];
  projects.findAll = async ([id = '']) => {
    missing.push(id);
    return [];
  };
  const unknown = (index: number) => cache.find(`prj_${String(index).padStart(16, 'z')}`);
  for (let i = 0; i < 10_000; i++) await unknown(i);
  await unknown(9_999);
  await unknown(0);
  t.equal(missing.length, 10_001, 'the first one is looked up again');
});
