import t, { type Test } from 'tap';
import {
  Authentication,
  authorise,
  readKey,
  requireProductAccess,
} from '../../../server/control/authenticate.ts';
import { operations } from '../../../server/control/operations.ts';
import { type ApiKey, type KeyAccess, Keys } from '../../../store/keys.ts';
import { Organisations } from '../../../store/organisations.ts';
import { stopClock } from '../../clock.ts';
import { testDatabase } from '../../store/connection.ts';

t.test('a key comes in either header, and Authorization wins', async (t) => {
  t.equal(readKey('Bearer a', ''), 'a');
  t.equal(readKey('bearer   a  ', ''), 'a', 'the scheme is case-insensitive (RFC 9110)');
  t.equal(readKey('', 'b'), 'b');
  t.equal(readKey('Bearer a', 'b'), 'a');
  t.throws(() => readKey('', ''), { code: 'api_key_missing' });
  for (const wrong of ['Basic a', 'a', 'Bearer', 'Bearer a b', 'Bearera', ' Bearer a']) {
    t.throws(() => readKey(wrong, 'b'), { code: 'api_key_invalid' }, `${wrong} is no bearer token`);
  }
});

async function authentication(t: Test) {
  const { db } = await testDatabase(t);
  const keys = new Keys(db);
  const organisations = new Organisations(db);
  const { _id: orgId } = await organisations.create('Shop');
  const issue = (inOrganisation = orgId) =>
    keys.issue({ name: 'shop', orgId: inOrganisation, projectId: null, access: 'write' });
  return {
    authentication: new Authentication(keys, organisations),
    keys,
    organisations,
    orgId,
    issue,
    db,
  };
}

t.test('a key in the store is known by its secret and by nothing else', async (t) => {
  const { authentication: who, keys, issue } = await authentication(t);
  const { key, secret } = await issue();
  t.same(await who.authenticate(`Bearer ${secret}`, ''), { key, productAccess: true });
  t.same((await who.authenticate('', secret)).key, key);
  const others = [key._id, key.hash, secret.slice(0, -1), secret.toUpperCase(), 'x'.repeat(10_000)];
  for (const other of others) {
    await t.rejects(who.authenticate(`Bearer ${other}`, ''), { code: 'api_key_invalid' });
  }
  const { key: ended, secret: endedSecret } = await issue();
  await keys.revoke(ended._id);
  await t.rejects(who.authenticate('', endedSecret), { code: 'api_key_invalid' });
});

t.test('without product access, or without its organisation, a key is not enough', async (t) => {
  const { authentication: who, organisations, orgId, issue } = await authentication(t);
  const { secret } = await issue();
  const { secret: orphan } = await issue('org_0000000000000000');
  requireProductAccess(await who.authenticate('', (await issue()).secret));
  await organisations.setProductAccess(orgId, false);
  for (const key of [secret, orphan]) {
    const credential = await who.authenticate('', key);
    t.throws(() => requireProductAccess(credential), { code: 'product_access_required' });
  }
});

t.test('what a look-up found does not count for longer than a second', async (t) => {
  const { authentication: who, keys, issue } = await authentication(t);
  const { key, secret } = await issue();
  const clock = stopClock(t);
  t.same((await who.authenticate('', secret)).key, key);
  await keys.revoke(key._id);
  await clock.forward(900);
  t.same((await who.authenticate('', secret)).key, key, 'the store is not asked every time');
  await clock.forward(200);
  await t.rejects(who.authenticate('', secret), { code: 'api_key_invalid' });
});

t.test('a second from when it was asked for, however long the store takes to answer', async (t) => {
  let meanwhile = async () => {};
  class SlowKeys extends Keys {
    override async findBySecret(secret: string) {
      const found = await super.findBySecret(secret);
      await meanwhile();
      return found;
    }
  }
  const { keys, organisations, issue, db } = await authentication(t);
  const who = new Authentication(new SlowKeys(db), organisations);
  const { key, secret } = await issue();
  const clock = stopClock(t);
  meanwhile = async () => {
    await keys.revoke(key._id);
    await clock.forward(1_100);
  };
  t.equal(
    (await who.authenticate('', secret)).key._id,
    key._id,
    'it was good when the store was asked',
  );
  await t.rejects(who.authenticate('', secret), { code: 'api_key_invalid' });
});

t.test('what a key is good for', async (t) => {
  const key = (projectId: string | null, access: KeyAccess, orgId = 'org_1'): ApiKey => ({
    ...{ _id: 'key_1', hash: '', name: '', orgId, projectId, access },
    ...{ createdAt: new Date(), revokedAt: null },
  });
  const organisationOf = async (id: string) => (id.startsWith('prj_') ? 'org_1' : null);
  const verdict = (
    one: ApiKey,
    operation: (typeof operations)[keyof typeof operations],
    project: string | null,
  ) =>
    authorise(one, operation, project, { organisationOf }).then(
      () => 'yes',
      (error) => error.code,
    );
  const all = Object.entries(operations);
  for (const [id, operation] of all) {
    const onProject = operation.path.includes('{projectId}');
    const own = onProject ? 'prj_1' : null;
    const writes = operation.method !== 'GET';
    const reading = writes ? 'write_access_required' : 'yes';
    t.equal(await verdict(key(null, 'write'), operation, own), 'yes', id);
    t.equal(await verdict(key(null, 'read'), operation, own), reading, id);
    if (onProject) {
      t.equal(await verdict(key('prj_1', 'write'), operation, own), 'yes', id);
      t.equal(await verdict(key('prj_2', 'write'), operation, own), 'project_forbidden', id);
      t.equal(await verdict(key('prj_2', 'read'), operation, own), 'project_forbidden', id);
      const stranger = key(null, 'write', 'org_2');
      t.equal(await verdict(stranger, operation, own), 'project_forbidden', id);
      t.equal(await verdict(stranger, operation, 'none'), 'yes', `${id}, to be found missing`);
      t.equal(await verdict({ ...stranger, allOrganisations: true }, operation, own), 'yes', id);
    }
  }
  t.equal(await verdict(key('prj_1', 'read'), operations.listProjects, null), 'yes');
  t.equal(
    await verdict(key('prj_1', 'write'), operations.createProject, null),
    'project_forbidden',
  );
});

t.test('keys that nobody has are bounded in bytes', async (t) => {
  const { authentication: who, keys } = await authentication(t);
  keys.findBySecret = async () => null;
  for (let i = 0; i < 25_000; i++) await who.authenticate('', `sk_${i}`).catch(() => {});
  t.ok(who.cacheBytes > 1e6 && who.cacheBytes <= 8 * 1024 * 1024, `${who.cacheBytes}`);
});
