// Own process: compares moments that are tenths of a second apart.
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { ProjectCache } from '../../server/project-cache.ts';
import { StoreUnavailable } from '../../store/outage.ts';
import type { ProjectChanges } from '../../store/project-changes.ts';
import { type Project, Projects } from '../../store/projects.ts';
import { stopClock } from '../clock.ts';
import { newProject } from '../store/projects.ts';
import { until } from '../until.ts';
import { storeLink } from './store-link.ts';

/** Projects that count the reads of a cache. */
class PolledProjects extends Projects {
  polls = 0;
  /** Reads of revisions, begun and ended. */
  comparisons = 0;
  compared = 0;
  /** Whether polls find no changes in time. */
  failing = false;
  failed = 0;

  override async revisionsOf(ids: readonly string[]): Promise<Map<string, number>> {
    if (ids.length > 0) this.comparisons += 1;
    const revisions = await super.revisionsOf(ids);
    this.compared += 1;
    return revisions;
  }

  override followChanges(): ProjectChanges {
    const changes = super.followChanges();
    const next = changes.next.bind(changes);
    changes.next = async () => {
      this.polls += 1;
      if (!this.failing) return next();
      this.failed += 1;
      const { compared } = this;
      await until('the comparison of this poll', () => this.compared > compared);
      throw new StoreUnavailable('late');
    };
    return changes;
  }

  /** Resolves when a number of further polls have started. */
  async nextPolls(times: number): Promise<void> {
    const wanted = this.polls + times;
    await until(`${times} polls`, () => this.polls >= wanted);
  }

  /** Resolves after a number of complete polls. */
  completePolls(times: number): Promise<void> {
    // A poll may be in progress.
    return this.nextPolls(times + 1);
  }
}

/** A polling cache, with its reports about the store. */
async function polling(t: Test, maxAgeMs = 600_000, pollEveryMs = 50) {
  const link = await storeLink(t);
  const outages: unknown[] = [];
  const projects = new PolledProjects(link.db);
  const cache = new ProjectCache(projects, {
    pollEveryMs,
    maxAgeMs,
    onOutage: (error) => outages.push(error),
    onUpdate: () => {},
  });
  await cache.start();
  t.teardown(() => cache.stop());
  return { ...link, cache, projects, outages, others: new Projects(link.other) };
}

/** Resolves after the time of several polls. */
async function waitForPolls(t: Test): Promise<void> {
  const { projects, cache } = await polling(t);
  await projects.completePolls(5);
  cache.stop();
}

t.test('changes of other processes are seen in order', async (t) => {
  const { cache, others } = await polling(t);
  const one = await others.create(newProject);
  const two = await others.create(newProject);
  let state = await cache.find(one._id);
  const untouched = await cache.find(two._id);
  for (let turn = 1; turn <= 5; turn++) {
    await others.addHost(one._id, `host-${turn}.example`);
    const before = state;
    await until(`change ${turn}`, () => before?.stale === true);
    state = await cache.find(one._id);
    t.equal(state?.project.revision, turn + 1);
    t.equal(state?.project.allowedOrigins.length, turn + 1);
  }
  t.notOk(untouched?.stale, 'unchanged states stay');
  t.equal(cache.find(two._id), untouched);
});

t.test('the first project of an empty store is followed', async (t) => {
  const { cache, others, projects } = await polling(t);
  await projects.completePolls(2);
  const { _id } = await others.create(newProject);
  const state = await cache.find(_id);
  await others.updateSettings(_id, { maxWidth: 5 });
  await until('the change is seen', () => state?.stale === true);
});

t.test('projects that were not requested are not loaded', async (t) => {
  const { others, projects, lookups } = await polling(t);
  const { _id } = await others.create(newProject);
  for (let turn = 0; turn < 5; turn++) {
    await others.updateSettings(_id, { defaultQuality: 50 + turn });
    await projects.completePolls(1);
  }
  t.same(lookups, []);
});

t.test('known projects are served while the store is unavailable', async (t) => {
  const { cache, others, cut, mend, projects, outages } = await polling(t);
  const { _id } = await others.create(newProject);
  const state = await cache.find(_id);
  await projects.completePolls(2);
  t.same(outages, []);

  await cut();
  await until('an outage is reported', () => outages.length > 0);
  t.equal(cache.find(_id), state);
  t.notOk(state?.stale);
  await t.rejects(async () => cache.find('prj_0000000000000000'), 'other URLs do not exist');
  await projects.nextPolls(2);
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

t.test('a stopped cache does not poll', async (t) => {
  const { cache, others, projects, lookups } = await polling(t);
  const { _id } = await others.create(newProject);
  const state = await cache.find(_id);
  await projects.completePolls(1);
  cache.stop();
  await waitForPolls(t);
  const { polls } = projects;
  // One is by a poll, if it saw the new project during the look-up.
  const lookedUp = [...lookups];
  await others.addHost(_id, 'a.example');
  await waitForPolls(t);
  t.equal(projects.polls, polls);
  t.notOk(state?.stale);
  t.same(lookups, lookedUp);
});

t.test('a cache that is stopped during a poll does not poll again', async (t) => {
  const { db } = await storeLink(t);
  const projects = new PolledProjects(db);
  const options = { pollEveryMs: 50, maxAgeMs: 1_000, onOutage: () => {}, onUpdate: () => {} };
  const cache = new ProjectCache(projects, options);
  const poll = cache.start();
  cache.stop();
  await poll;
  await waitForPolls(t);
  t.equal(projects.polls, 1);
});

t.test('changes with any date, and unmarked changes, are found', async (t) => {
  const { cache, others, other } = await polling(t);
  const [one, two, three] = await Promise.all([1, 2, 3].map(() => others.create(newProject)));
  if (!one || !two || !three) throw new Error('no projects');
  const states = await Promise.all([one, two, three].map(({ _id }) => cache.find(_id)));
  const stored = other.collection<Project>('projects');
  // As an older release on a machine whose clock is ahead does it.
  const changedAt = new Date(Date.now() + 600_000);
  await stored.updateOne({ _id: one._id }, { $set: { changedAt }, $inc: { revision: 1 } });
  await until('the change is seen', () => states[0]?.stale === true);
  await others.addHost(two._id, 'a.example');
  await until('the next change is seen', () => states[1]?.stale === true);
  await stored.deleteMany({ _id: three._id });
  await until('the deleted project is gone', () => cache.find(three._id) === null);
  t.ok(states[2]?.stale);
});

t.test('known projects are served without the store for a limited time', async (t) => {
  const { cache, others, cut, mend } = await polling(t, 4_000);
  const { _id } = await others.create(newProject);
  const state = await cache.find(_id);
  await cut();
  await until('an outage is reported', () => cache.isStoreDown);
  t.equal(cache.find(_id), state);
  await until('the time limit', () => state?.stale === true);
  t.ok((cache.knowledge.confirmedAgoMs ?? 0) > 4_000);
  t.throws(() => cache.find(_id), { code: 'store_unavailable' });
  await mend();
  await until('the store', () => !cache.isStoreDown);
  t.match(await cache.find(_id), { project: { _id } });
});

t.test('a process that was suspended for two seconds asks the store first', async (t) => {
  const clock = stopClock(t);
  const { cache, projects, others } = await polling(t, 600_000, 600_000);
  const { _id: id } = await others.create(newProject);
  const before = await cache.find(id);
  await others.purge(id, null);
  await clock.forward(1_200);
  t.equal(cache.find(id), before, 'it polls in time otherwise');
  t.equal(projects.comparisons, 0, 'without reading the store');
  await clock.forward(700);
  const [found] = await Promise.all([cache.find(id), cache.find(id)]);
  t.ok(found?.project.purges !== undefined, 'the purge is known');
  t.equal(projects.comparisons, 1, 'requests share a read');
  t.equal(before?.stale, true);
});

t.test('a project in use is compared before requests have to wait', async (t) => {
  const clock = stopClock(t);
  const { cache, others } = await polling(t, 600_000, 600_000);
  const { _id: id } = await others.create(newProject);
  const before = await cache.find(id);
  await others.purge(id, null);
  await clock.forward(1_201);
  t.equal(cache.find(id), before);
  await until('the purge is known', () => before?.stale === true);
});

t.test('a store that answers some reads in time is not unavailable', async (t) => {
  const { cache, projects, others, outages } = await polling(t);
  const { _id: id } = await others.create(newProject);
  const before = await cache.find(id);
  projects.failing = true;
  await until('two failed polls', () => projects.failed >= 2);
  await until('it is too old', () => cache.status === 'slow');
  await others.purge(id, null);
  const purgedAt = performance.now();
  await until('the purge is in effect', () => performance.now() - purgedAt > 2_000);
  t.ok((await cache.find(id))?.project.purges !== undefined);
  t.equal(before?.stale, true);
  t.same([cache.isStoreDown, outages], [false, []]);
});

t.test('a purge is known after two seconds, however slowly the store answers', async (t) => {
  /** How often an old state was found too late. */
  const purgeWith = async (answerMs: number) => {
    const { cache, others, slow, projects } = await polling(t, 600_000, 1_000);
    const { _id: id } = await others.create(newProject);
    await cache.find(id);
    // The connections of a front end stay open.
    await Promise.all(Array.from({ length: 10 }, () => projects.find(id)));
    slow(answerMs / 2);
    let late = 0;
    const statuses = new Set<string>();
    for (let round = 0; round < 3; round += 1) {
      const purged = await others.purge(id, null);
      const purgedAt = performance.now();
      while (performance.now() - purgedAt < 2_500) {
        const found = await cache.find(id);
        const isOld = found?.project.purges?.last !== purged?.purges?.last;
        if (isOld && performance.now() - purgedAt > 2_000) late += 1;
        statuses.add(cache.status);
        await sleep(10);
      }
    }
    // A busy machine may be slow for a moment, or fast.
    const expected = answerMs < 500 ? 'ok' : 'slow';
    return { answerMs, late, isSeen: statuses.has(expected) };
  };
  t.same(await Promise.all([100, 500, 1_000].map(purgeWith)), [
    { answerMs: 100, late: 0, isSeen: true },
    { answerMs: 500, late: 0, isSeen: true },
    { answerMs: 1_000, late: 0, isSeen: true },
  ]);
});
