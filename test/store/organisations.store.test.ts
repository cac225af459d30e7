import t, { type Test } from 'tap';
import { Organisations } from '../../store/organisations.ts';
import { testDatabase } from './connection.ts';

async function organisationsIn(t: Test): Promise<Organisations> {
  const { db } = await testDatabase(t);
  return new Organisations(db);
}

const unknownId = 'org_0000000000000000';

t.test('grants a new organisation product access, and can revoke it', async (t) => {
  const organisations = await organisationsIn(t);
  const created = await organisations.create('Acme');
  const { _id } = created;
  t.match(created, { _id: /^org_/, name: 'Acme', productAccess: true, createdAt: Date });
  t.same(await organisations.find(_id), created);
  const other = await organisations.create('Other');
  const without = { ...created, productAccess: false };
  t.same(await organisations.setProductAccess(_id, false), without);
  t.same(await organisations.list(), [without, other]);
  t.same(await organisations.setProductAccess(_id, true), created);
  t.equal(await organisations.find(unknownId), null);
  t.equal(await organisations.setProductAccess(unknownId, true), null);
});

t.test('creates the default organisation once, and does not change it again', async (t) => {
  const organisations = await organisationsIn(t);
  const found = await Promise.all(Array.from({ length: 20 }, () => organisations.default()));
  const [first] = found;
  t.match(first, { productAccess: true, name: String });
  for (const organisation of found) t.same(organisation, first);
  const changed = await organisations.setProductAccess(String(first?._id), false);
  t.same(await organisations.default(), changed);
  t.same(await organisations.list(), [changed]);
});
