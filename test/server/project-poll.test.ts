import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { ProjectCache } from '../../server/project-cache.ts';
import { type NewProject, Projects } from '../../store/projects.ts';
import { storeLink } from './store-link.ts';

const input: NewProject = {
  orgId: 'org_1',
  name: 'Shop',
  origin: 'https://pictures.example.com',
  allowedOrigins: [],
};

/** A cache that polls, with all that it says about the store. */
async function polling(t: Test) {
  const link = await storeLink(t);
  const outages: unknown[] = [];
  const cache = new ProjectCache(new Projects(link.db), {
    pollEveryMs: 50,
    onOutage: (error) => outages.push(error),
  });
  cache.start();
  t.teardown(() => cache.stop());
  return { ...link, cache, outages, others: new Projects(link.other) };
}

/** Waits for a thing that takes its time on a busy machine; the tests say how long is too long. */
async function within(ms: number, happened: () => boolean | Promise<boolean>): Promise<boolean> {
  for (const deadline = Date.now() + ms; Date.now() < deadline; ) {
    if (await happened()) return true;
    await sleep(10);
  }
  return happened();
}

t.test('changes of others are seen, one after the other', async (t) => {
  const { cache, others } = await polling(t);
  const one = await others.create(input);
  const two = await others.create(input);
  let state = await cache.find(one._id);
  const untouched = await cache.find(two._id);
  for (let turn = 1; turn <= 5; turn++) {
    await others.addHost(one._id, `host-${turn}.example`);
    const before = state;
    t.ok(await within(2_000, () => before?.stale === true), `change ${turn}`);
    state = await cache.find(one._id);
    t.equal(state?.project.revision, turn + 1);
    t.equal(state?.project.allowedOrigins.length, turn);
  }
  t.notOk(untouched?.stale, 'what did not change stays as it is');
  t.equal(cache.find(two._id), untouched);
});

t.test('the first project of an empty store is followed, too', async (t) => {
  const { cache, others } = await polling(t);
  await sleep(200);
  const { _id } = await others.create(input);
  const state = await cache.find(_id);
  await others.updateSettings(_id, { maxWidth: 5 });
  t.ok(await within(2_000, () => state?.stale === true));
});

t.test('projects that nobody here asked for are not fetched', async (t) => {
  const { others, lookups } = await polling(t);
  const { _id } = await others.create(input);
  for (let turn = 0; turn < 5; turn++) {
    await others.updateSettings(_id, { defaultQuality: 50 + turn });
    await sleep(60);
  }
  t.same(lookups, []);
});

t.test('while the store is unavailable, cached projects are still served', async (t) => {
  const { cache, others, cut, mend, outages } = await polling(t);
  const { _id } = await others.create(input);
  const state = await cache.find(_id);
  await sleep(150);
  t.same(outages, []);

  await cut();
  t.ok(await within(5_000, () => outages.length > 0));
  t.equal(cache.find(_id), state);
  t.notOk(state?.stale);
  await t.rejects(async () => cache.find('prj_0000000000000000'), 'others cannot be had');
  await sleep(1_000);
  t.equal(outages.length, 1, 'it is said once');
  t.ok(outages[0] instanceof Error);

  await others.addHost(_id, 'a.example');
  await mend();
  t.ok(await within(10_000, () => outages.length === 2));
  t.equal(outages[1], null, 'and once when it is over');
  t.ok(await within(2_000, () => state?.stale === true), 'what changed meanwhile is seen');
  t.match(await cache.find(_id), { project: { allowedOrigins: ['a.example'] } });
  t.ok(await cache.find((await others.create(input))._id));
  t.equal(outages.length, 2);
});

t.test('a cache that was stopped asks no more', async (t) => {
  const { cache, others, lookups } = await polling(t);
  const { _id } = await others.create(input);
  const state = await cache.find(_id);
  await sleep(120);
  cache.stop();
  await sleep(120);
  await others.addHost(_id, 'a.example');
  await sleep(300);
  t.notOk(state?.stale);
  t.same(lookups, [_id]);
});

t.test('a cache that is stopped while it asks does not ask again', async (t) => {
  const { db } = await storeLink(t);
  let asked = 0;
  const projects = new (class extends Projects {
    override latestChange(): Promise<Date | null> {
      asked += 1;
      cache.stop();
      return super.latestChange();
    }
  })(db);
  const cache = new ProjectCache(projects, { pollEveryMs: 20, onOutage: () => {} });
  cache.start();
  await sleep(300);
  t.equal(asked, 1);
});
