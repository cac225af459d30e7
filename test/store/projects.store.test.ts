import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { type NewProject, Projects } from '../../store/projects.ts';
import { testDatabase } from './connection.ts';

const input: NewProject = {
  orgId: 'org_1',
  name: 'Shop',
  origin: 'https://pictures.example.com',
  allowedOrigins: ['pictures.example.com'],
};

async function projectsIn(t: Test): Promise<Projects> {
  const { db } = await testDatabase(t);
  const projects = new Projects(db);
  await projects.ensureIndexes();
  return projects;
}

t.test('a new project has the defaults', async (t) => {
  const projects = await projectsIn(t);
  const project = await projects.create(input);
  t.match(project, {
    ...input,
    _id: /^prj_[0-9a-z]{16}$/,
    color1: /^#[0-9a-f]{6}$/,
    color2: /^#[0-9a-f]{6}$/,
    autoFormat: true,
    defaultQuality: 80,
    defaultDpr: 1,
    defaultFit: 'cover',
    maxWidth: null,
    requireSignedUrls: false,
    signedUrlTtlSeconds: null,
    signingSecret: null,
    stripMetadata: true,
    watermarkEnabled: false,
    watermarkUrl: null,
    watermarkPosition: 'southeast',
    watermarkOpacity: 60,
    watermarkScale: 20,
    watermarkMargin: 16,
    revision: 1,
    createdAt: Date,
    changedAt: Date,
  });
  t.same(await projects.find(project._id), project);
});

t.test('projects are listed in the order of their making', async (t) => {
  const projects = await projectsIn(t);
  t.same(await projects.list(), []);
  const made = [];
  for (const name of ['c', 'a', 'b']) {
    made.push(await projects.create({ ...input, name }));
    await sleep(2);
  }
  t.same(await projects.list(), made);
});

t.test('a change changes what it names, and says so by revision and date', async (t) => {
  const projects = await projectsIn(t);
  const before = await projects.create(input);
  await sleep(5);
  const after = await projects.updateSettings(before._id, { defaultQuality: 50, maxWidth: 900 });
  t.same(after, {
    ...before,
    defaultQuality: 50,
    maxWidth: 900,
    revision: 2,
    changedAt: after?.changedAt,
  });
  t.ok(Number(after?.changedAt) > Number(before.changedAt));
  t.same(await projects.find(before._id), after);
  t.match(await projects.updateSettings(before._id, { maxWidth: null }), { maxWidth: null });
});

t.test('a host stands on the list once, and its removal leaves the others', async (t) => {
  const projects = await projectsIn(t);
  const { _id } = await projects.create(input);
  for (const host of ['b.example', 'a.example', 'b.example']) await projects.addHost(_id, host);
  t.same((await projects.find(_id))?.allowedOrigins, [
    'pictures.example.com',
    'b.example',
    'a.example',
  ]);
  await projects.removeHost(_id, 'b.example');
  const left = await projects.removeHost(_id, 'never.example');
  t.same(left?.allowedOrigins, ['pictures.example.com', 'a.example']);
});

t.test('signed URLs go on with a new secret each time, and off without one', async (t) => {
  const projects = await projectsIn(t);
  const { _id } = await projects.create(input);
  const first = await projects.requireSignatures(_id, 600);
  t.match(first, {
    requireSignedUrls: true,
    signedUrlTtlSeconds: 600,
    signingSecret: /^[\w-]{43}$/,
  });
  const second = await projects.requireSignatures(_id, null);
  t.match(second, { requireSignedUrls: true, signedUrlTtlSeconds: null });
  t.not(second?.signingSecret, first?.signingSecret);
  t.match(await projects.dropSignatures(_id), {
    requireSignedUrls: false,
    signedUrlTtlSeconds: null,
    signingSecret: null,
  });
});

t.test('a rotation keeps the secret before it until that is revoked', async (t) => {
  const projects = await projectsIn(t);
  const before = await projects.create(input);
  t.equal(await projects.rotateSecret(before), null, 'without a secret there is none to keep');
  const first = await projects.requireSignatures(before._id, 600);
  if (first === null) throw new Error('no project');
  const [one, other] = await Promise.all([
    projects.rotateSecret(first),
    projects.rotateSecret(first),
  ]);
  const rotated = one ?? other;
  t.equal([one, other].filter((result) => result !== null).length, 1, 'one of two at once');
  t.match(rotated, {
    requireSignedUrls: true,
    signedUrlTtlSeconds: 600,
    signingSecret: /^[\w-]{43}$/,
    previousSigningSecret: first.signingSecret,
    revision: first.revision + 1,
  });
  t.not(rotated?.signingSecret, first.signingSecret);
  t.equal(
    rotated && (await projects.rotateSecret(rotated)),
    null,
    'a third one would end the first',
  );

  const revoked = await projects.revokePreviousSecret(before._id);
  t.equal(revoked?.signingSecret, rotated?.signingSecret);
  t.notOk(revoked?.previousSigningSecret);
  t.ok(revoked && (await projects.rotateSecret(revoked)), 'and so on');
  t.notOk((await projects.requireSignatures(before._id, null))?.previousSigningSecret);
  const again = await projects.find(before._id);
  t.ok(again && (await projects.rotateSecret(again)));
  t.notOk((await projects.dropSignatures(before._id))?.previousSigningSecret);
});

t.test('presets are part of a project, each changed by itself', async (t) => {
  const projects = await projectsIn(t);
  const { _id } = await projects.create(input);
  t.equal((await projects.find(_id))?.presets, undefined);
  await Promise.all([
    projects.setPreset(_id, 'card', { w: 400, flip: true, fmt: 'webp' }),
    projects.setPreset(_id, 'constructor', { q: 0.5 }),
    projects.setPreset(_id, 'hero-2_x', { w: 1 }),
  ]);
  const changed = await projects.setPreset(_id, 'hero-2_x', { h: 2 });
  const presets = {
    card: { w: 400, flip: true, fmt: 'webp' },
    constructor: { q: 0.5 },
    'hero-2_x': { h: 2 },
  };
  t.same(changed?.presets, presets);
  t.equal(changed?.revision, 5, 'each change is one that processes follow');
  t.same((await projects.find(_id))?.presets, presets);
  const { card, ...left } = presets;
  t.same((await projects.removePreset(_id, 'card'))?.presets, left);
  t.same((await projects.removePreset(_id, 'card'))?.presets, left);
  t.same((await projects.updateSettings(_id, { maxWidth: 5 }))?.presets, left);
  for (const name of ['', 'a.b', '$a', '1', 'A', '__proto__', 'a\0', 'a'.repeat(41)]) {
    t.throws(() => projects.setPreset(_id, name, { w: 1 }), name);
    t.throws(() => projects.removePreset(_id, name), name);
  }
  t.equal((await projects.create(input)).presets, undefined);
});

t.test('a project that is not there is not made by a change', async (t) => {
  const projects = await projectsIn(t);
  const id = 'prj_0000000000000000';
  t.equal(await projects.find(id), null);
  t.equal(await projects.updateSettings(id, { maxWidth: 1 }), null);
  t.equal(await projects.addHost(id, 'a.example'), null);
  t.equal(await projects.removeHost(id, 'a.example'), null);
  t.equal(await projects.setPreset(id, 'card', { w: 1 }), null);
  t.equal(await projects.removePreset(id, 'card'), null);
  t.equal(await projects.requireSignatures(id, null), null);
  t.equal(await projects.dropSignatures(id), null);
  t.equal(await projects.revokePreviousSecret(id), null);
  t.same(await projects.list(), []);
});

t.test('ids are only ever compared, never read as queries', async (t) => {
  const projects = await projectsIn(t);
  await projects.create(input);
  for (const id of ['', '{"$ne":null}', '.*', '$where', 'prj_\u0000']) {
    t.equal(await projects.find(id), null, id);
  }
});
