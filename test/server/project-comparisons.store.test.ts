// Own process: compares moments that are tenths of a second apart.
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { ProjectCache } from '../../server/project-cache.ts';
import { StoreUnavailable } from '../../store/outage.ts';
import { type Project, Projects } from '../../store/projects.ts';
import { advanceDate, stopClock } from '../clock.ts';
import { newProject } from '../store/projects.ts';
import { until } from '../until.ts';
import { storeLink } from './store-link.ts';

/** Projects that count the comparisons of a cache. */
class ComparedProjects extends Projects {
  comparisons = 0;
  /** Ids in all comparisons. */
  compared = 0;
  failing = false;

  override async findRevisions(ids: readonly string[]): Promise<Map<string, number>> {
    this.comparisons += 1;
    this.compared += ids.length;
    if (this.failing) throw new StoreUnavailable('late');
    return super.findRevisions(ids);
  }

  /** Resolves once a number of additional comparisons have started. */
  async next(times: number): Promise<void> {
    const wanted = this.comparisons + times;
    await until(`${times} comparisons`, () => this.comparisons >= wanted);
  }
}

/** Returns a cache that compares its projects, with its store reports. */
async function comparing(t: Test, maxAgeMs = 600_000, compareEveryMs = 50) {
  const link = await storeLink(t);
  const outages: unknown[] = [];
  const projects = new ComparedProjects(link.db);
  const cache = new ProjectCache(projects, {
    compareEveryMs,
    maxAgeMs,
    onOutage: (error) => outages.push(error),
    onUpdate: () => {},
  });
  await cache.start();
  t.teardown(() => cache.stop());
  return { ...link, cache, projects, outages, others: new Projects(link.other) };
}

/** Longer than any test. */
const neverMs = 600_000;

t.test("applies other processes' changes in order", async (t) => {
  const { cache, others } = await comparing(t);
  const first = await others.create(newProject);
  const two = await others.create(newProject);
  let state = await cache.find(first._id);
  const untouched = await cache.find(two._id);
  for (let turn = 1; turn <= 5; turn++) {
    await others.addHost(first._id, `host-${turn}.example`);
    const before = state;
    await until(`change ${turn}`, () => before?.stale === true);
    state = await cache.find(first._id);
    t.equal(state?.project.revision, turn + 1);
    t.equal(state?.project.allowedOrigins.length, turn + 1);
  }
  t.notOk(untouched?.stale, 'unchanged states stay');
  t.equal(cache.find(two._id), untouched);
});

t.test('serves cached projects while the store is unavailable', async (t) => {
  const { cache, others, cut, mend, projects, outages } = await comparing(t);
  const { _id } = await others.create(newProject);
  const state = await cache.find(_id);
  await projects.next(2);
  t.same(outages, []);

  await cut();
  await until('an outage is reported', () => outages.length > 0);
  t.equal(cache.find(_id), state);
  t.notOk(state?.stale);
  await t.rejects(async () => cache.find('prj_0000000000000000'), 'other URLs do not exist');
  await projects.next(2);
  t.equal(outages.length, 1, 'it is reported once');
  t.ok(outages[0] instanceof Error);

  await others.addHost(_id, 'a.example');
  await mend();
  await until('its end is reported', () => outages.length === 2);
  t.equal(outages[1], null, 'its end is reported once');
  await until('the change during the outage is seen', () => state?.stale === true);
  t.match(await cache.find(_id), {
    project: { allowedOrigins: ['pictures.example.com', 'a.example'] },
  });
  t.ok(await cache.find((await others.create(newProject))._id));
  t.equal(outages.length, 2);
});

t.test('makes no scheduled comparisons after it stops', async (t) => {
  const [stopped, running] = [await comparing(t), await comparing(t)];
  stopped.cache.stop();
  // A comparison can be in progress.
  await running.projects.next(3);
  const { comparisons } = stopped.projects;
  await running.projects.next(5);
  t.equal(stopped.projects.comparisons, comparisons);
});

t.test('finds deletions, and changes with any date', async (t) => {
  const { cache, others, other } = await comparing(t);
  const [first, two, three] = await Promise.all([1, 2, 3].map(() => others.create(newProject)));
  if (!first || !two || !three) throw new Error('no projects');
  const states = await Promise.all([first, two, three].map(({ _id }) => cache.find(_id)));
  const stored = other.collection<Project>('projects');
  // Simulates a machine with a fast clock.
  const changedAt = new Date(Date.now() + 600_000);
  await stored.updateOne({ _id: first._id }, { $set: { changedAt }, $inc: { revision: 1 } });
  await until('the change is seen', () => states[0]?.stale === true);
  await others.addHost(two._id, 'a.example');
  await until('the next change is seen', () => states[1]?.stale === true);
  await stored.deleteMany({ _id: three._id });
  await until('the deleted project is gone', () => cache.find(three._id) === null);
  t.ok(states[2]?.stale);
});

t.test('serves cached projects for a limited time during a store outage', async (t) => {
  const maxAgeMs = 600_000;
  const forward = advanceDate(t);
  const { cache, others, cut, mend } = await comparing(t, maxAgeMs);
  const { _id } = await others.create(newProject);
  const state = await cache.find(_id);
  await cut();
  await until('an outage is reported', () => cache.isStoreDown);
  t.equal(cache.find(_id), state);
  forward(maxAgeMs);
  await until('the time limit', () => state?.stale === true);
  t.throws(() => cache.find(_id), { code: 'store_unavailable' });
  await mend();
  await until('the store', () => !cache.isStoreDown);
  t.match(await cache.find(_id), { project: { _id } });
});

t.test('queries the store first after a two-second suspension of the process', async (t) => {
  const clock = stopClock(t);
  const { cache, projects, others } = await comparing(t, 600_000, neverMs);
  const { _id: id } = await others.create(newProject);
  const before = await cache.find(id);
  await others.purge(id, null);
  projects.comparisons = 0;
  await clock.forward(1_200);
  t.equal(cache.find(id), before);
  t.equal(projects.comparisons, 0, 'without reading the store');
  await clock.forward(700);
  const [found] = await Promise.all([cache.find(id), cache.find(id)]);
  t.ok(found?.project.generations !== undefined, 'the purge is known');
  t.equal(projects.comparisons, 1, 'requests share a read');
  t.equal(before?.stale, true);
});

t.test('compares a project in use before requests have to wait', async (t) => {
  const clock = stopClock(t);
  const { cache, others } = await comparing(t, 600_000, neverMs);
  const { _id: id } = await others.create(newProject);
  const before = await cache.find(id);
  await others.purge(id, null);
  await clock.forward(1_201);
  t.equal(cache.find(id), before);
  await until('the purge is known', () => before?.stale === true);
});

t.test('confirms all projects of a process with one comparison', async (t) => {
  const clock = stopClock(t);
  const { cache, projects, others } = await comparing(t, 600_000, neverMs);
  const created = await Promise.all(Array.from({ length: 10 }, () => others.create(newProject)));
  const states = await Promise.all(created.map(({ _id }) => cache.find(_id)));
  await clock.forward(1_800);
  projects.comparisons = 0;
  const [first] = created;
  const before = states[0]?.readAt ?? 0;
  t.equal(cache.find(first?._id ?? ''), states[0]);
  await until('it is confirmed', () => (states[0]?.readAt ?? 0) > before);
  await clock.forward(1_000);
  for (const [index, { _id }] of created.entries()) t.equal(cache.find(_id), states[index]);
  t.equal(projects.comparisons, 1);
});

t.test('loads all of many simultaneous changes', async (t) => {
  const { cache, other, others } = await comparing(t);
  const { _id, ...project } = await others.create(newProject);
  const ids = Array.from({ length: 250 }, (_, index) => `prj_${String(index).padStart(16, '0')}`);
  const stored = other.collection<Project>('projects');
  const all = ids.map((id) => ({ ...project, _id: id }));
  for (const otherProject of all) await stored.insertOne(otherProject);
  cache.remember(all, Date.now());
  await cache.start();
  const states = await Promise.all(ids.map((id) => cache.find(id)));
  await stored.updateMany({}, { $inc: { revision: 1 } });
  await until('all are replaced', () => states.every((state) => state?.stale));
  for (const id of ids) t.match(await cache.find(id), { project: { revision: 2 } });
});

t.test('does not call a store unavailable if it responds to some reads in time', async (t) => {
  const { cache, projects, others, outages } = await comparing(t, 600_000, neverMs);
  const { _id: id } = await others.create(newProject);
  await cache.find(id);
  projects.failing = true;
  await cache.start();
  projects.failing = false;
  await cache.start();
  projects.failing = true;
  await cache.start();
  t.same([cache.isStoreDown, outages], [false, []]);
  await cache.start();
  t.match([cache.isStoreDown, outages], [true, [StoreUnavailable]], 'two in a row are an outage');
});

t.test('receives a purge within two seconds, however slow the store is', async (t) => {
  /** Returns how often the cache returned an old state too late. */
  const purgeWith = async (answerMs: number) => {
    const { cache, others, slow, projects } = await comparing(t, 600_000, 1_000);
    const { _id: id } = await others.create(newProject);
    await cache.find(id);
    // A front end keeps its connections open.
    await Promise.all(Array.from({ length: 10 }, () => projects.find(id)));
    slow(answerMs / 2);
    let late = 0;
    const statuses = new Set<string>();
    for (let round = 0; round < 3; round += 1) {
      const purged = await others.purge(id, null);
      const purgedAt = performance.now();
      while (performance.now() - purgedAt < 2_500) {
        const askedMs = performance.now() - purgedAt;
        const found = await cache.find(id);
        const isOld = found?.project.generations?.last !== purged?.generations?.last;
        if (isOld && askedMs > 2_000) late += 1;
        statuses.add(cache.status);
        await sleep(10);
      }
    }
    return { answerMs, late, isSlow: statuses.has('slow') };
  };
  const [fast, ...slow] = await Promise.all([0, 500, 1_000].map(purgeWith));
  t.equal(fast?.late, 0);
  t.match(slow, [
    { answerMs: 500, late: 0 },
    { answerMs: 1_000, late: 0, isSlow: true },
  ]);
});

t.test("does not make requests wait for a process's changes", async (t) => {
  const { cache, others, slow } = await comparing(t, 600_000, 1_000);
  const { _id: id } = await others.create(newProject);
  await cache.find(id);
  slow(100);
  const startedAt = performance.now();
  let found = false;
  // Change the project between the start and the response of each comparison.
  await until('a state is found while the changes go on', async () => {
    const changed = await others.addHost(id, `${Math.random()}.example`);
    if (changed !== null) cache.apply(changed);
    if (performance.now() - startedAt < 2_500) return false;
    void Promise.resolve(cache.find(id)).then(() => {
      found = true;
    });
    return found;
  });
  t.ok(found);
});

t.test('treats a store that takes three seconds as unavailable, until it is faster', async (t) => {
  const { cache, others, slow, projects } = await comparing(t, 600_000, 1_000);
  const { _id: id } = await others.create(newProject);
  const before = await cache.find(id);
  slow(1_500);
  await until('it is unavailable', () => cache.status === 'unavailable');
  await others.purge(id, null);
  t.equal(cache.find(id), before);
  slow(0);
  await projects.next(1);
  await until('it is available', () => !cache.isStoreDown);
  t.ok((await cache.find(id))?.project.generations !== undefined, 'the purge is in effect at once');
});
