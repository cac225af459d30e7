import { mock } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { computeGeneration, lastGeneration, purgeGroup } from '../../store/generations.ts';
import { newProjectSettings, projectColours } from '../../store/projects.ts';
import { newProject, testProjects } from './projects.ts';
import { together } from './servers.ts';

t.test('creates a project with the default settings', async (t) => {
  const { projects } = await testProjects(t);
  const project = await projects.create(newProject);
  t.match(project, {
    ...newProject,
    _id: /^prj_[0-9a-z]{16}$/,
    ...projectColours(project._id),
    ...newProjectSettings,
    requireSignedUrls: false,
    signedUrlTtlSeconds: null,
    signingSecret: null,
    revision: 1,
    createdAt: Date,
    changedAt: Date,
  });
  t.equal(project.presets, undefined);
  t.same(await projects.find(project._id), project);
});

t.test('lists projects by date of creation, or in pages by id', async (t) => {
  const { projects } = await testProjects(t);
  t.same(await projects.list(), []);
  const created = [];
  for (const name of ['c', 'a', 'b']) {
    created.push((await projects.create({ ...newProject, name }))._id);
    await sleep(2);
  }
  const { _id: other } = await projects.create({ ...newProject, orgId: 'org_2' });
  const toIds = (page: readonly { readonly _id: string }[]) => page.map(({ _id }) => _id);
  t.same(toIds(await projects.list()), [...created, other]);

  for (const [orgId, ids] of [
    [null, [...created, other].sort()],
    [newProject.orgId, [...created].sort()],
    ['org_2', [other]],
    ['org_3', []],
  ] as const) {
    /** Returns the ids in all pages after an id. */
    const pages = async (after: string | null) => {
      const found: string[][] = [];
      for await (const page of projects.pages(orgId, { after, limit: 2 })) found.push(toIds(page));
      return found;
    };
    const [first = [], ...others] = await pages(null);
    t.same(first, ids.slice(0, 2));
    t.same(others.flat(), ids.slice(2));
    t.same(await pages(first.at(-1) ?? null), others);
  }
  const id = created[0] ?? '';
  await projects.setItem(id, 'presets', 'card', { w: 1 });
  await projects.purge(id, ['0123456789abcdef']);
  await projects.requireSignatures(id, null);
  const listed = (await projects.list()).find(({ _id }) => _id === id);
  t.match(listed, { name: 'c', requireSignedUrls: true, defaultQuality: 80 });
  const names = Object.keys(listed ?? {});
  for (const name of ['presets', 'purges', 'signingSecret']) t.notOk(names.includes(name), name);
});

t.test('changes only the updated fields, the revision and the date', async (t) => {
  const { projects } = await testProjects(t);
  const before = await projects.create(newProject);
  await sleep(5);
  const fields = { defaultQuality: 50, maxWidth: 900 };
  const after = await projects.updateSettings(before._id, fields);
  t.same(after, { ...before, ...fields, revision: 2, changedAt: after?.changedAt });
  t.ok(Number(after?.changedAt) > Number(before.changedAt));
  t.same(await projects.find(before._id), after);
  t.match(await projects.updateSettings(before._id, { maxWidth: null }), { maxWidth: null });
});

t.test('adds a host once, and removes only that host', async (t) => {
  const { projects } = await testProjects(t);
  const { _id, allowedOrigins } = await projects.create(newProject);
  for (const host of ['b.example', 'a.example', 'b.example']) await projects.addHost(_id, host);
  const hosts = async () => (await projects.find(_id))?.allowedOrigins;
  t.same(await hosts(), [...allowedOrigins, 'b.example', 'a.example']);
  await projects.removeHost(_id, 'b.example');
  await projects.removeHost(_id, 'never.example');
  t.same(await hosts(), [...allowedOrigins, 'a.example']);
});

t.test(
  'creates a new secret whenever a project requires signatures, and deletes it afterwards',
  async (t) => {
    const { projects } = await testProjects(t);
    const { _id } = await projects.create(newProject);
    const required = { requireSignedUrls: true, signingSecret: /^[\w-]{43}$/ };
    const first = await projects.requireSignatures(_id, 600);
    t.match(first, { ...required, signedUrlTtlSeconds: 600 });
    const second = await projects.requireSignatures(_id, null);
    t.match(second, { ...required, signedUrlTtlSeconds: null });
    t.not(second?.signingSecret, first?.signingSecret);
    const dropped = { requireSignedUrls: false, signedUrlTtlSeconds: null, signingSecret: null };
    t.match(await projects.stopRequiringSignatures(_id), dropped);
  },
);

t.test('keeps the previous secret in a rotation until its revocation', async (t) => {
  const { projects } = await testProjects(t);
  const before = await projects.create(newProject);
  t.equal(await projects.rotateSecret(before), null, 'without a secret');
  const first = await projects.requireSignatures(before._id, 600);
  if (first === null) throw new Error('no project');
  const results = await Promise.all([projects.rotateSecret(first), projects.rotateSecret(first)]);
  const [rotated, ...others] = results.filter((result) => result !== null);
  t.same(others, [], 'one of two concurrent rotations succeeds');
  t.match(rotated, {
    requireSignedUrls: true,
    signedUrlTtlSeconds: 600,
    signingSecret: /^[\w-]{43}$/,
    previousSigningSecret: first.signingSecret,
    revision: first.revision + 1,
  });
  t.not(rotated?.signingSecret, first.signingSecret);
  t.equal(rotated && (await projects.rotateSecret(rotated)), null, 'a third secret');

  const revoked = await projects.revokePreviousSecret(before._id);
  t.equal(revoked?.signingSecret, rotated?.signingSecret);
  t.notOk(revoked?.previousSigningSecret);
  t.ok(revoked && (await projects.rotateSecret(revoked)), 'another rotation after the revocation');
  t.notOk((await projects.requireSignatures(before._id, null))?.previousSigningSecret);
  const again = await projects.find(before._id);
  t.ok(again && (await projects.rotateSecret(again)));
  t.notOk((await projects.stopRequiringSignatures(before._id))?.previousSigningSecret);
});

t.test('claims each delivery host for one project', async (t) => {
  const { projects } = await testProjects(t);
  const { hostClaims } = projects;
  const ids = await Promise.all([1, 2].map(async () => (await projects.create(newProject))._id));
  const [a = '', b = ''] = ids;
  const claimed = await together(
    Array.from({ length: 10 }, (_, i) => () => hostClaims.claim('img.example', ids[i % 2] ?? '')),
  );
  const [owner = ''] = claimed;
  t.same(new Set(claimed), new Set([owner]), 'one of the projects has it');
  const other = owner === a ? b : a;
  await hostClaims.release('img.example', other);
  t.equal(await hostClaims.claim('img.example', other), owner, 'nobody else releases it');

  const host = { host: 'img.example', base: 'https://a.example/x/', updatedAt: new Date(0) };
  const changed = await projects.setItem(owner, 'hosts', host.host, host);
  t.same(changed?.hosts, { 'img%2Eexample': host });
  t.same(await projects.findByHosts(['img.example', 'x.example']), [changed]);
  t.same(await projects.findByHosts(['x.example']), []);
  t.same((await projects.removeItem(owner, 'hosts', 'img.example'))?.hosts, {});
  await hostClaims.release('img.example', owner);
  t.same(await projects.findByHosts(['img.example']), []);
  t.equal(await hostClaims.claim('img.example', other), other);
  await projects.setItem(other, 'hosts', host.host, host);
  t.equal((await projects.delete(other))?.hosts, undefined);
});

t.test('keeps at most two secrets per service for its URLs', async (t) => {
  const { projects } = await testProjects(t);
  const { _id } = await projects.create(newProject);
  const set = async (secret: string, keepPrevious: boolean) => {
    const changed = await projects.setUrlSecret(_id, 'imgix', { secret }, keepPrevious);
    return changed?.urlSecrets?.['imgix']?.valid.map(({ secret }) => secret);
  };
  t.same(await set('a', true), ['a']);
  t.same(await set('b', true), ['b', 'a']);
  t.same(await set('b', true), ['b', 'a']);
  t.same(await set('c', true), ['c', 'b']);
  t.same(await set('d', false), ['d']);
  const salted = { secret: 'e', salt: 'f' };
  const both = await projects.setUrlSecret(_id, 'imgproxy', salted);
  t.match(both?.urlSecrets, { imgix: {}, imgproxy: { valid: [salted] } });
  t.same(Object.keys((await projects.removeItem(_id, 'urlSecrets', 'imgix'))?.urlSecrets ?? {}), [
    'imgproxy',
  ]);
  t.equal((await projects.delete(_id))?.urlSecrets, undefined);
});

t.test('sets and removes presets one by one', async (t) => {
  const { projects } = await testProjects(t);
  const { _id } = await projects.create(newProject);
  const card = { w: 400, flip: true, fmt: 'webp' };
  const others = { constructor: { q: 0.5 }, 'hero-2_x': { w: 1 } };
  const presets = { card, ...others };
  const calls = Object.entries(presets).map((preset) =>
    projects.setItem(_id, 'presets', ...preset),
  );
  await Promise.all(calls);
  const changed = await projects.setItem(_id, 'presets', 'hero-2_x', { h: 2 });
  t.same(changed?.presets, { ...presets, 'hero-2_x': { h: 2 } });
  t.equal(changed?.revision, 5, 'each change increments the revision');
  const restored = await projects.setItem(_id, 'presets', 'hero-2_x', others['hero-2_x']);
  t.same(restored?.presets, presets);
  for (let i = 0; i < 2; i += 1) {
    t.same((await projects.removeItem(_id, 'presets', 'card'))?.presets, others);
  }
  t.same((await projects.updateSettings(_id, { maxWidth: 5 }))?.presets, others);
  for (const name of ['', 'a.b', '$a', '1', 'A', '__proto__', 'a\0', 'a'.repeat(41)]) {
    t.throws(() => projects.setItem(_id, 'presets', name, { w: 1 }), name);
    t.throws(() => projects.removeItem(_id, 'presets', name), name);
  }
});

t.test('sets and removes layers one by one', async (t) => {
  const { projects } = await testProjects(t);
  const { _id } = await projects.create(newProject);
  const badge = { image: { url: 'https://a.example/b.png', scale: 10 } };
  const sale = { text: { words: 'Sale' } };
  await projects.setItem(_id, 'layers', 'badge', badge);
  t.same((await projects.setItem(_id, 'layers', 'constructor', sale))?.layers, {
    badge,
    constructor: sale,
  });
  t.same((await projects.removeItem(_id, 'layers', 'badge'))?.layers, { constructor: sale });
  for (const name of ['', 'a.b', '$a', '__proto__']) {
    t.throws(() => projects.setItem(_id, 'layers', name, badge), name);
    t.throws(() => projects.removeItem(_id, 'layers', name), name);
  }
});

t.test('stores a new name or site, and adds its host to the allowlist', async (t) => {
  const { projects } = await testProjects(t);
  const { _id } = await projects.create(newProject);
  t.match(await projects.updateIdentity(_id, { name: 'New' }, null), {
    name: 'New',
    origin: newProject.origin,
    allowedOrigins: newProject.allowedOrigins,
  });
  const origin = 'https://new.example/';
  for (let i = 0; i < 2; i += 1) {
    t.match(await projects.updateIdentity(_id, { origin }, 'new.example'), {
      name: 'New',
      origin,
      allowedOrigins: [...newProject.allowedOrigins, 'new.example'],
    });
  }
});

t.test('finds a deleted project only by its id and revision', async (t) => {
  const { db, projects } = await testProjects(t);
  const before = new Date();
  const { _id, orgId } = await projects.create(newProject);
  const { _id: other } = await projects.create({ ...newProject, orgId });
  await projects.setItem(_id, 'presets', 'card', { w: 400 });
  await projects.requireSignatures(_id, 600);
  // Not earlier, because the store removes long-deleted projects.
  const now = before.getTime();
  await projects.purge(_id, ['a'], () => now - 100);
  const { revision = 0 } = (await projects.find(_id)) ?? {};
  const deleted = await projects.delete(_id, () => now);
  const generations = { last: now, all: now };
  t.match(deleted, { _id, orgId, generations });
  t.ok((deleted?.revision ?? 0) > revision, 'it is a change like others');
  t.same(await projects.findAll([_id]), [deleted]);
  t.equal((await projects.findRevisions([_id])).get(_id), deleted?.revision);
  const stored = await db.collection<{ _id: string }>('projects').findOne({ _id });
  t.notMatch(JSON.stringify(stored), /Shop|example|card|[\w-]{43}/, 'nothing of a client remains');

  const again = await Promise.all([
    projects.find(_id),
    projects.findOrganisation(_id),
    projects.delete(_id),
    projects.purge(_id, null),
    projects.addHost(_id, 'a.example'),
    projects.updateIdentity(_id, { name: 'x' }, null),
  ]);
  t.same(new Set(again), new Set([null]), 'it has no other change');
  const ids = (listed: readonly { readonly _id: string }[]) => listed.map((project) => project._id);
  t.same(ids(await projects.list()), [other]);
  for await (const page of projects.pages(orgId)) t.same(ids(page), [other]);
  const swept = async (time: Date) => {
    const found: object[] = [];
    for await (const project of projects.purgedSince(time)) found.push(project);
    return found;
  };
  t.match(await swept(before), [{ _id, generations, deletedAt: before }]);
  t.same(await swept(new Date(Date.now() + 60_000)), []);
  t.equal((await projects.find(other))?._id, other);
});

t.test('accepts one of several concurrent deletions', async (t) => {
  const { projects } = await testProjects(t);
  const { _id } = await projects.create(newProject);
  const results = await Promise.all(Array.from({ length: 5 }, () => projects.delete(_id)));
  t.equal(results.filter((result) => result !== null).length, 1);
});

/** Groups of sources: `a` and `b` belong to different groups. */
const [a, b] = ['a'.repeat(30), 'b'.repeat(30)];

t.test('numbers each purge higher than all before', async (t) => {
  const { projects } = await testProjects(t);
  const { _id } = await projects.create(newProject);
  const generation = async (...tags: string[]) => {
    const project = await projects.find(_id);
    return project && computeGeneration(project, tags.map(purgeGroup));
  };
  t.same(await generation(a), 0);
  const purge = (tags: readonly string[] | null, at: number) => projects.purge(_id, tags, () => at);
  await purge([a], 1_000);
  t.same([await generation(a), await generation(b), await generation(b, a)], [1_000, 0, 1_000]);
  await purge([b], 1_000);
  t.equal(await generation(b), 1_001, 'in the same millisecond');
  await purge([a], 5);
  t.equal(await generation(a), 1_002, 'after the clock was set back');
  await purge(null, 2_000);
  t.same([await generation(), await generation(a, b)], [2_000, 2_000]);
  await purge([a], 3_000);
  t.same([await generation(a), await generation(b)], [3_000, 2_000]);
});

t.test('loses no concurrent purge', async (t) => {
  const { projects } = await testProjects(t);
  const { _id } = await projects.create(newProject);
  const purges = await together(
    Array.from({ length: 20 }, (_, index) => () => projects.purge(_id, [index % 2 ? a : b])),
  );
  const numbers = purges.map((purged) => purged && lastGeneration(purged));
  const last = await projects.find(_id);
  t.equal(last && lastGeneration(last), Math.max(...numbers.map(Number)));
  t.equal(new Set(numbers).size, 20, 'each has a number of its own');
});

t.test('creates no project on a change of an unknown id', async (t) => {
  const { projects } = await testProjects(t);
  const id = 'prj_0000000000000000';
  const results = await Promise.all([
    projects.find(id),
    projects.updateSettings(id, { maxWidth: 1 }),
    projects.addHost(id, 'a.example'),
    projects.removeHost(id, 'a.example'),
    projects.setItem(id, 'presets', 'card', { w: 1 }),
    projects.removeItem(id, 'presets', 'card'),
    projects.requireSignatures(id, null),
    projects.stopRequiringSignatures(id),
    projects.revokePreviousSecret(id),
  ]);
  t.same(new Set(results), new Set([null]));
  t.same(await projects.list(), []);
});

t.test('does not interpret ids as queries', async (t) => {
  const { projects } = await testProjects(t);
  await projects.create(newProject);
  for (const id of ['', '{"$ne":null}', '.*', '$where', 'prj_\u0000']) {
    t.equal(await projects.find(id), null, id);
  }
});

const numbered = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

t.test('stores all concurrent changes, with a revision each', async (t) => {
  const { projects } = await testProjects(t);
  const removed = numbered(6, (index) => `old-${index}.example`);
  const added = numbered(6, (index) => `new-${index}.example`);
  const { _id } = await projects.create({ ...newProject, allowedOrigins: removed });
  const fields = { defaultQuality: 31, watermarkMargin: 7, maxWidth: 1_234, autoFormat: false };
  const results = await Promise.all([
    ...removed.map((host) => projects.removeHost(_id, host)),
    ...added.map((host) => projects.addHost(_id, host)),
    ...Object.entries(fields).map(([name, value]) =>
      projects.updateSettings(_id, { [name]: value }),
    ),
    ...added.map((host) => projects.addHost(_id, host)),
  ]);
  const revisions = new Set(results.map((result) => result?.revision));
  t.same(revisions, new Set(numbered(results.length, (index) => index + 2)));
  const after = await projects.find(_id);
  t.same([...(after?.allowedOrigins ?? [])].sort(), added.sort());
  t.match(after, fields);
  t.equal(after?.revision, 1 + results.length);
});

t.test("dates a change by the store's clock", async (t) => {
  const { projects } = await testProjects(t);
  t.teardown(() => mock.timers.reset());
  const hour = 3_600_000;
  mock.timers.enable({ apis: ['Date'], now: Date.now() + hour });
  const created = await projects.create(newProject);
  mock.timers.reset();
  t.ok(Math.abs(created.changedAt.getTime() - Date.now()) < hour / 2);
  t.same(await projects.find(created._id), created);
});
