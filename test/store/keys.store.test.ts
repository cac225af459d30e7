import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { newApiKey } from '../../store/identifiers.ts';
import { Keys, type NewKey } from '../../store/keys.ts';
import { testDatabase } from './connection.ts';

const input: NewKey = { name: 'shop', orgId: 'org_1', projectId: 'prj_1', access: 'read' };

async function keysIn(t: Test) {
  const { db } = await testDatabase(t);
  const keys = new Keys(db);
  await keys.ensureIndexes();
  return { keys, stored: () => db.collection('keys').find().toArray() };
}

t.test('finds a key only by its secret, and does not store the secret', async (t) => {
  const { keys, stored } = await keysIn(t);
  const { key, secret } = await keys.issue(input);
  t.match(key, { ...input, _id: /^key_/, createdAt: Date, revokedAt: null });
  t.same(await keys.findBySecret(secret), key);
  t.notMatch(JSON.stringify(await stored()), secret.slice(3));
  const others = ['', key._id, key.hash, secret.slice(0, -1), `${secret} `, secret.toUpperCase()];
  for (const other of [...others, newApiKey()]) t.equal(await keys.findBySecret(other), null);
});

t.test('finds a revoked key, with the date of the first revocation', async (t) => {
  const { keys } = await keysIn(t);
  const { key, secret } = await keys.issue(input);
  const other = await keys.issue(input);
  const revoked = await keys.revoke(key._id);
  t.type(revoked?.revokedAt, Date);
  t.same(await keys.findBySecret(secret), revoked);
  t.same(await keys.revoke(key._id), revoked);
  t.equal((await keys.findBySecret(other.secret))?.revokedAt, null);
  t.equal(await keys.revoke('key_0000000000000000'), null);
});

const rootRights = { projectId: null, access: 'write', revokedAt: null, fromEnvironment: true };

t.test('creates one root key from the environment for concurrent starts', async (t) => {
  const { keys } = await keysIn(t);
  const start = () => keys.storeEnvironmentKey('a key of mine', 'org_1');
  await Promise.all(Array.from({ length: 20 }, start));
  t.equal((await keys.list()).length, 1);
  t.match(await keys.findBySecret('a key of mine'), { ...rootRights, orgId: 'org_1' });
});

t.test('creates one first key for concurrent starts', async (t) => {
  const { keys } = await keysIn(t);
  const orgId = 'org_0123456789abcdef';
  const secrets = Array.from({ length: 20 }, newApiKey);
  const start = () => Promise.all(secrets.map((secret) => keys.storeFirst(secret, orgId)));
  const created = await start();
  const [first = ''] = secrets.filter((_, index) => created[index]);
  const { fromEnvironment: _, ...rights } = rootRights;
  const expected = { ...rights, _id: 'key_0123456789abcdef', orgId, allOrganisations: true };
  t.match(await keys.findBySecret(first), expected);
  t.equal((await keys.list()).length, 1);
  t.same(await start(), created, 'a repeated attempt finds its key');
  await keys.issue(input);
  t.ok(await keys.storeFirst(first, orgId));
  t.notOk(await keys.storeFirst(newApiKey(), orgId));
});

t.test('keeps and lists the previous key when the environment contains another', async (t) => {
  const { keys, stored } = await keysIn(t);
  const issued = await keys.issue(input);
  await keys.storeEnvironmentKey('the first key', 'org_1');
  await keys.storeEnvironmentKey('the second key', 'org_1');
  const first = await keys.findBySecret('the first key');
  t.equal(first?.revokedAt, null, 'another machine may use it');
  t.same(await keys.otherEnvironmentKeys('the second key'), [first?._id]);
  const revokedAt = async (secret: string) => (await keys.findBySecret(secret))?.revokedAt;
  const before = await stored();
  await keys.storeEnvironmentKey('the first key', 'org_1');
  t.same(await stored(), before);

  await keys.revokeOtherEnvironmentKeys('the second key');
  t.type(await revokedAt('the first key'), Date);
  t.equal(await revokedAt('the second key'), null);
  t.equal(await revokedAt(issued.secret), null, 'an issued key is not revoked');
  t.same(await keys.otherEnvironmentKeys('the second key'), []);
  await keys.storeEnvironmentKey('the first key', 'org_1');
  t.equal(await revokedAt('the first key'), null, 'the previous key is valid again');
});

t.test('accepts an issued key in the environment as a root key', async (t) => {
  const { keys } = await keysIn(t);
  const { key, secret } = await keys.issue(input);
  await keys.storeEnvironmentKey(secret, 'org_2');
  t.match(await keys.findBySecret(secret), { ...rootRights, _id: key._id });
});

t.test('lists keys by date of creation', async (t) => {
  const { keys } = await keysIn(t);
  const issued = [];
  for (let i = 0; i < 3; i++) {
    issued.push((await keys.issue(input)).key);
    await sleep(2);
  }
  t.same(await keys.list(), issued);
});
