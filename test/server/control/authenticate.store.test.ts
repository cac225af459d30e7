import t, { type Test } from 'tap';
import {
  Authentication,
  authorise,
  readKey,
  requireProductAccess,
} from '../../../server/control/authenticate.ts';
import { endpoints } from '../../../server/control/endpoints.ts';
import { lookupsAtOnce, lookupsPerWindow } from '../../../server/control/unknown-keys.ts';
import { type ApiKey, type KeyAccess, Keys } from '../../../store/keys.ts';
import { Organisations } from '../../../store/organisations.ts';
import { stopClock } from '../../clock.ts';
import { testDatabase } from '../../store/connection.ts';

/** The network of a client. */
const client = '192.0.2.1';

t.test('a key is read from either header; Authorization takes precedence', async (t) => {
  t.equal(readKey('Bearer a', ''), 'a');
  t.equal(readKey('bearer   a  ', ''), 'a', 'the scheme is case-insensitive (RFC 9110)');
  t.equal(readKey('', 'b'), 'b');
  t.equal(readKey('Bearer a', 'b'), 'a');
  t.throws(() => readKey('', ''), { code: 'api_key_missing' });
  for (const wrong of ['Basic a', 'a', 'Bearer', 'Bearer a b', 'Bearera', ' Bearer a']) {
    t.throws(
      () => readKey(wrong, 'b'),
      { code: 'api_key_invalid' },
      `${wrong} is not a bearer token`,
    );
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

t.test('only the secret of a stored, valid key is accepted', async (t) => {
  const { authentication: who, keys, issue } = await authentication(t);
  const { key, secret } = await issue();
  t.same(await who.authenticate(`Bearer ${secret}`, '', client), { key, productAccess: true });
  t.same((await who.authenticate('', secret, client)).key, key);
  const others = [key._id, key.hash, secret.slice(0, -1), secret.toUpperCase(), 'x'.repeat(10_000)];
  for (const other of others) {
    await t.rejects(who.authenticate(`Bearer ${other}`, '', client), { code: 'api_key_invalid' });
  }
  const { key: ended, secret: endedSecret } = await issue();
  await keys.revoke(ended._id);
  await t.rejects(who.authenticate('', endedSecret, client), { code: 'api_key_invalid' });
});

t.test('a key needs an organisation with product access', async (t) => {
  const { authentication: who, organisations, orgId, issue } = await authentication(t);
  const { secret } = await issue();
  const { secret: orphan } = await issue('org_0000000000000000');
  requireProductAccess(await who.authenticate('', (await issue()).secret, client));
  await organisations.setProductAccess(orgId, false);
  for (const key of [secret, orphan]) {
    const credential = await who.authenticate('', key, client);
    t.throws(() => requireProductAccess(credential), { code: 'product_access_required' });
  }
});

t.test('a look-up is valid for one second', async (t) => {
  const { authentication: who, keys, issue } = await authentication(t);
  const { key, secret } = await issue();
  const clock = stopClock(t);
  t.same((await who.authenticate('', secret, client)).key, key);
  await keys.revoke(key._id);
  await clock.forward(900);
  t.same((await who.authenticate('', secret, client)).key, key, 'cached');
  await clock.forward(200);
  await t.rejects(who.authenticate('', secret, client), { code: 'api_key_invalid' });
});

t.test('the second begins with the query, even if the store is slow', async (t) => {
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
  t.equal((await who.authenticate('', secret, client)).key._id, key._id, 'valid at the query');
  await t.rejects(who.authenticate('', secret, client), { code: 'api_key_invalid' });
});

t.test('the scope and access of keys', async (t) => {
  const key = (projectId: string | null, access: KeyAccess, orgId = 'org_1'): ApiKey => ({
    _id: 'key_1',
    hash: '',
    name: '',
    orgId,
    projectId,
    access,
    createdAt: new Date(),
    revokedAt: null,
  });
  const organisationOf = async (id: string) => (id.startsWith('prj_') ? 'org_1' : null);
  const result = (
    one: ApiKey,
    operation: (typeof endpoints)[keyof typeof endpoints],
    project: string | null,
  ) =>
    authorise(one, operation, project, { organisationOf }).then(
      () => 'yes',
      (error) => error.code,
    );
  const all = Object.entries(endpoints);
  for (const [id, operation] of all) {
    const onProject = operation.path.includes('{projectId}');
    const own = onProject ? 'prj_1' : null;
    const writes = operation.method !== 'GET';
    const reading = writes ? 'write_access_required' : 'yes';
    t.equal(await result(key(null, 'write'), operation, own), 'yes', id);
    t.equal(await result(key(null, 'read'), operation, own), reading, id);
    if (onProject) {
      t.equal(await result(key('prj_1', 'write'), operation, own), 'yes', id);
      t.equal(await result(key('prj_2', 'write'), operation, own), 'project_forbidden', id);
      t.equal(await result(key('prj_2', 'read'), operation, own), 'project_forbidden', id);
      const stranger = key(null, 'write', 'org_2');
      t.equal(await result(stranger, operation, own), 'project_forbidden', id);
      t.equal(await result(stranger, operation, 'none'), 'yes', `${id}, later 404`);
      t.equal(await result({ ...stranger, allOrganisations: true }, operation, own), 'yes', id);
    }
  }
  t.equal(await result(key('prj_1', 'read'), endpoints.listProjects, null), 'yes');
  t.equal(await result(key('prj_1', 'write'), endpoints.createProject, null), 'project_forbidden');
});

t.test('look-ups of unknown keys are limited for each client', async (t) => {
  const { authentication: who, keys, issue } = await authentication(t);
  const { secret } = await issue();
  const { secret: other } = await issue();
  let lookups = 0;
  const find = keys.findBySecret.bind(keys);
  keys.findBySecret = (one) => {
    lookups += 1;
    return find(one);
  };
  const clock = stopClock(t);
  const ask = (key: string, from = client) =>
    who.authenticate('', key, from).then(
      () => 'valid',
      (error) => error.code,
    );
  t.equal(await ask(secret), 'valid');
  const flood = (name: string, from = client) =>
    Promise.all(Array.from({ length: 400 }, (_, i) => ask(`sk_${name}_${i}`, from)));
  lookups = 0;
  const together = await flood('a');
  t.equal(lookups, lookupsPerWindow, 'of concurrent requests');
  t.equal(together.filter((code) => code === 'api_key_invalid').length, lookupsPerWindow);
  t.equal(together.filter((code) => code === 'rate_limited').length, 400 - lookupsPerWindow);
  t.equal(await ask('sk_a_0'), 'api_key_invalid', 'cached');
  t.equal(lookups, lookupsPerWindow);

  await clock.forward(1_100);
  t.equal(await ask(secret), 'valid', 'a key that was valid is looked up again');
  const refusal = await who.authenticate('', other, client).catch((error) => error);
  t.match(refusal, { code: 'rate_limited', details: { retryAfter: 59 } });
  t.equal(await ask(other, '198.51.100.1'), 'valid', 'other clients are not limited');
  await clock.forward(59_000);
  t.equal(await ask('sk_b'), 'api_key_invalid', 'a minute later');

  const { key: ended, secret: endedSecret } = await issue();
  t.equal(await ask(endedSecret), 'valid');
  await keys.revoke(ended._id);
  await clock.forward(1_100);
  lookups = 0;
  for (let i = 0; i < 9; i++) t.equal(await ask(endedSecret), 'api_key_invalid');
  t.ok(lookups <= 2, `${lookups} look-ups of a key that was valid`);

  t.test('valid keys and store failures do not count', async (t) => {
    const from = '198.51.100.2';
    keys.findBySecret = async () => {
      throw new Error('away');
    };
    for (let i = 0; i < 200; i++) await ask(`sk_c_${i}`, from);
    keys.findBySecret = find;
    for (let i = 0; i < 130; i++) t.equal(await ask((await issue()).secret, from), 'valid');
    t.equal(await ask('sk_d', from), 'api_key_invalid');
  });
});

t.test('unknown keys do not evict known ones, and concurrent look-ups are limited', async (t) => {
  const { authentication: who, keys, issue } = await authentication(t);
  const { secret } = await issue();
  await who.authenticate('', secret, client);
  keys.findBySecret = async () => null;
  for (let i = 0; i < 10_000; i++) await who.authenticate('', `sk_${i}`, `${i}`).catch(() => {});
  const { known, unknown } = who.bytes;
  t.ok(unknown > 2e6 && unknown <= 3 * 1024 * 1024, `${unknown} bytes`);
  t.ok(known > 0, 'the valid key is still cached');

  let release = () => {};
  const released = new Promise<null>((resolve) => {
    release = () => resolve(null);
  });
  keys.findBySecret = () => released;
  const asked = Array.from({ length: lookupsAtOnce + 3 }, (_, i) =>
    who.authenticate('', `sk_x_${i}`, `x${i}`).catch((error) => error.code),
  );
  t.same(await Promise.all(asked.slice(lookupsAtOnce)), Array(3).fill('rate_limited'));
  release();
  t.same(new Set(await Promise.all(asked.slice(0, lookupsAtOnce))), new Set(['api_key_invalid']));
});
