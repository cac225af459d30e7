import t, { type Test } from 'tap';
import { Organisations } from '../../store/organisations.ts';
import { testDatabase } from './connection.ts';

async function organisationsIn(t: Test): Promise<Organisations> {
  const { db } = await testDatabase(t);
  return new Organisations(db);
}

t.test('a new organisation has product access', async (t) => {
  const organisations = await organisationsIn(t);
  const made = await organisations.create('Acme');
  t.match(made, { _id: /^org_[0-9a-z]{16}$/, name: 'Acme', productAccess: true, createdAt: Date });
  t.same(await organisations.find(made._id), made);
  t.equal(await organisations.find('org_0000000000000000'), null);
});

t.test('product access can be changed', async (t) => {
  const organisations = await organisationsIn(t);
  const made = await organisations.create('Acme');
  const other = await organisations.create('Other');
  t.same(await organisations.setProductAccess(made._id, false), { ...made, productAccess: false });
  t.match(await organisations.find(made._id), { productAccess: false });
  t.match(await organisations.find(other._id), { productAccess: true });
  t.match(await organisations.setProductAccess(made._id, true), { productAccess: true });
  t.equal(await organisations.setProductAccess('org_0000000000000000', true), null);
  t.equal((await organisations.list()).length, 2);
});

t.test('the default organisation is created once, and not changed again', async (t) => {
  const organisations = await organisationsIn(t);
  const found = await Promise.all(Array.from({ length: 50 }, () => organisations.default()));
  const [first] = found;
  t.match(first, { productAccess: true, name: String });
  for (const one of found) t.same(one, first);
  t.same(await organisations.list(), [first]);
  await organisations.create('Acme');
  await organisations.setProductAccess(String(first?._id), false);
  t.same(await organisations.default(), { ...first, productAccess: false });
  t.equal((await organisations.list()).length, 2);
});
