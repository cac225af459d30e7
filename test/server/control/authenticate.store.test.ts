import t, { type Test } from 'tap';
import {
  Authentication,
  authorise,
  maxConcurrentLookups,
  maxLookupsPerWindow,
  readKey,
  requireProductAccess,
} from '../../../server/control/authenticate.ts';
import type { Operation } from '../../../server/control/operation.ts';
import { operations } from '../../../server/control/operations.ts';
import { type ApiKey, Keys } from '../../../store/keys.ts';
import { Organisations } from '../../../store/organisations.ts';
import { stopClock } from '../../clock.ts';
import { testDatabase } from '../../store/connection.ts';

/** A client's network. */
const client = '192.0.2.1';

t.test('reads a key from either header, and prefers Authorization', async (t) => {
  t.equal(readKey('Bearer a', ''), 'a');
  t.equal(readKey('bearer   a  ', ''), 'a', 'the scheme is case-insensitive (RFC 9110)');
  t.equal(readKey('', 'b'), 'b');
  t.equal(readKey('Bearer a', 'b'), 'a');
  t.throws(() => readKey('', ''), { code: 'api_key_missing' });
  for (const wrong of ['Basic a', 'a', 'Bearer', 'Bearer a b', 'Bearera', ' Bearer a']) {
    t.throws(
      () => readKey(wrong, 'b'),
      { code: 'api_key_invalid', details: { hint: /^Write "Bearer" and a space before / } },
      `${wrong} is not a bearer token`,
    );
  }
});

async function createAuthentication(t: Test) {
  const { db } = await testDatabase(t);
  const keys = new Keys(db);
  const organisations = new Organisations(db);
  const authentication = new Authentication(keys, organisations);
  const { _id: orgId } = await organisations.create('Shop');
  const issue = (inOrganisation = orgId) =>
    keys.issue({ name: 'shop', orgId: inOrganisation, projectId: null, access: 'write' });
  return { authentication, keys, organisations, orgId, issue };
}

t.test('accepts only the secret of a stored, valid key', async (t) => {
  const { authentication, keys, issue } = await createAuthentication(t);
  const { key, secret } = await issue();
  t.same(await authentication.authenticate(secret, client), {
    key,
    productAccess: true,
  });
  t.same((await authentication.authenticate(secret, client)).key, key);
  const others = [key._id, key.hash, secret.slice(0, -1), secret.toUpperCase(), 'x'.repeat(10_000)];
  for (const other of others) {
    await t.rejects(authentication.authenticate(other, client), {
      code: 'api_key_invalid',
    });
  }
  const { key: ended, secret: endedSecret } = await issue();
  await keys.revoke(ended._id);
  await t.rejects(authentication.authenticate(endedSecret, client), {
    code: 'api_key_invalid',
  });
});

t.test('accepts a key only if its organisation has product access', async (t) => {
  const { authentication, organisations, orgId, issue } = await createAuthentication(t);
  const { secret } = await issue();
  const { secret: orphan } = await issue('org_0000000000000000');
  requireProductAccess(await authentication.authenticate((await issue()).secret, client));
  await organisations.setProductAccess(orgId, false);
  for (const key of [secret, orphan]) {
    const credential = await authentication.authenticate(key, client);
    t.throws(() => requireProductAccess(credential), { code: 'product_access_required' });
  }
});

t.test('caches a look-up for one second', async (t) => {
  const { authentication, keys, issue } = await createAuthentication(t);
  const { key, secret } = await issue();
  const clock = stopClock(t);
  t.same((await authentication.authenticate(secret, client)).key, key);
  await keys.revoke(key._id);
  await clock.forward(900);
  t.same((await authentication.authenticate(secret, client)).key, key, 'cached');
  await clock.forward(200);
  await t.rejects(authentication.authenticate(secret, client), { code: 'api_key_invalid' });
});

t.test('starts the second with the query, even if the store is slow', async (t) => {
  const { authentication, keys, issue } = await createAuthentication(t);
  const { key, secret } = await issue();
  const clock = stopClock(t);
  const find = keys.findBySecret.bind(keys);
  keys.findBySecret = async (givenSecret) => {
    const found = await find(givenSecret);
    await keys.revoke(key._id);
    await clock.forward(1_100);
    return found;
  };
  const { key: found } = await authentication.authenticate(secret, client);
  t.equal(found._id, key._id, 'valid at the query');
  await t.rejects(authentication.authenticate(secret, client), { code: 'api_key_invalid' });
});

t.test('looks a key up again if the look-up in progress started a second ago', async (t) => {
  const { authentication, keys, organisations, issue } = await createAuthentication(t);
  const { key, secret } = await issue();
  const clock = stopClock(t);
  const find = organisations.find.bind(organisations);
  let later: Promise<unknown> = Promise.resolve();
  organisations.find = async (id) => {
    organisations.find = find;
    await keys.revoke(key._id);
    await clock.forward(1_100);
    const result = authentication.authenticate(secret, client);
    later = t.rejects(result, { code: 'api_key_invalid' }, 'revoked a second ago');
    return find(id);
  };
  const { key: found } = await authentication.authenticate(secret, client);
  t.equal(found._id, key._id, 'valid at the query');
  await later;
});

t.test('enforces the scope and access of keys', async (t) => {
  const key: ApiKey = {
    _id: 'key_1',
    hash: '',
    name: '',
    orgId: 'org_1',
    projectId: null,
    access: 'write',
    createdAt: new Date(),
    revokedAt: null,
  };
  const stranger = { orgId: 'org_2' };
  const findOrganisation = async (id: string) => (id.startsWith('prj_') ? 'org_1' : null);
  for (const [id, operation] of Object.entries<Operation>(operations)) {
    const { method, path, scope } = operation;
    const onProject = path.includes('{projectId}');
    const result = (changes: Partial<ApiKey>, project = 'prj_1') =>
      authorise({ ...key, ...changes }, operation, onProject ? project : null, {
        findOrganisation,
      }).then(
        () => 'allowed',
        (error) => error.code,
      );
    const reading = method === 'GET' ? 'allowed' : 'write_access_required';
    const writing = scope === 'root' ? 'root_key_required' : 'allowed';
    const scoped = scope === 'all-projects' ? 'project_forbidden' : writing;
    t.equal(await result({}), writing, id);
    t.equal(await result({ access: 'read' }), reading, id);
    t.equal(await result({ projectId: 'prj_1' }), scoped, id);
    if (!onProject) continue;
    t.equal(await result({ projectId: 'prj_2' }), 'project_forbidden', id);
    t.equal(await result({ projectId: 'prj_2', access: 'read' }), 'project_forbidden', id);
    const strange = scope === 'root' ? 'root_key_required' : 'project_forbidden';
    t.equal(await result(stranger), strange, id);
    t.equal(await result(stranger, 'none'), writing, `${id}: a missing project gets 404 later`);
    t.equal(await result({ ...stranger, allOrganisations: true }), 'allowed', id);
  }
});

t.test('limits look-ups of unknown keys per client', async (t) => {
  const { authentication, keys, issue } = await createAuthentication(t);
  const { secret } = await issue();
  const { secret: other } = await issue();
  let lookups = 0;
  const find = keys.findBySecret.bind(keys);
  // The store need not look up a hundred unknown keys within its deadline.
  const isUnknown = (givenSecret: string) => /^sk_[a-d](_\d+)?$/.test(givenSecret);
  keys.findBySecret = async (givenSecret) => {
    lookups += 1;
    return isUnknown(givenSecret) ? null : find(givenSecret);
  };
  const clock = stopClock(t);
  const getResult = (key: string, from = client) =>
    authentication.authenticate(key, from).then(
      () => 'valid',
      (error) => error.code,
    );
  t.equal(await getResult(secret), 'valid');
  const flood = (name: string, from = client) =>
    Promise.all(Array.from({ length: 400 }, (_, i) => getResult(`sk_${name}_${i}`, from)));
  lookups = 0;
  const together = await flood('a');
  t.equal(lookups, maxLookupsPerWindow, 'of concurrent requests');
  t.equal(together.filter((code) => code === 'api_key_invalid').length, maxLookupsPerWindow);
  t.equal(together.filter((code) => code === 'rate_limited').length, 400 - maxLookupsPerWindow);

  await clock.forward(1_100);
  t.equal(await getResult(secret), 'valid', 'a key that was valid is looked up again');
  const refusal = await authentication.authenticate(other, client).catch((error) => error);
  t.match(refusal, { code: 'rate_limited', details: { retryAfter: 59 } });
  t.equal(await getResult(other, '198.51.100.1'), 'valid', 'other clients are not limited');
  await clock.forward(59_000);
  t.equal(await getResult('sk_b'), 'api_key_invalid', 'a minute later');

  const { key: ended, secret: endedSecret } = await issue();
  t.equal(await getResult(endedSecret), 'valid');
  await keys.revoke(ended._id);
  await clock.forward(1_100);
  for (let i = 0; i < 9; i++) t.equal(await getResult(endedSecret), 'api_key_invalid');

  t.test('does not count valid keys and store failures', async (t) => {
    const from = '198.51.100.2';
    keys.findBySecret = async () => {
      throw new Error('unavailable');
    };
    for (let i = 0; i < 200; i++) await getResult(`sk_c_${i}`, from);
    keys.findBySecret = find;
    for (let i = 0; i < 130; i++) t.equal(await getResult((await issue()).secret, from), 'valid');
    t.equal(await getResult('sk_d', from), 'api_key_invalid');
  });
});

t.test('keeps valid keys when unknown keys arrive, and limits concurrent look-ups', async (t) => {
  const clock = stopClock(t);
  const { authentication, keys, issue } = await createAuthentication(t);
  const { secret } = await issue();
  await authentication.authenticate(secret, client);
  keys.findBySecret = async () => null;
  for (let i = 0; i < 10_000; i++)
    await authentication.authenticate(`sk_${i}`, `${i}`).catch(() => {});
  await clock.forward(1_100);

  let release = () => {};
  const released = new Promise<null>((resolve) => {
    release = () => resolve(null);
  });
  keys.findBySecret = () => released;
  const results = Array.from({ length: maxConcurrentLookups + 3 }, (_, i) =>
    authentication.authenticate(`sk_x_${i}`, `x${i}`).catch((error) => error.code),
  );
  t.same(await Promise.all(results.slice(maxConcurrentLookups)), Array(3).fill('rate_limited'));
  const known = authentication.authenticate(secret, client).catch((error) => error.code);
  release();
  t.equal(await known, 'api_key_invalid', 'a key that was valid is not limited');
  t.same(
    new Set(await Promise.all(results.slice(0, maxConcurrentLookups))),
    new Set(['api_key_invalid']),
  );
});
