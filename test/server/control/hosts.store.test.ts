import t, { type Test } from 'tap';
import { hosts } from '../../../server/control/resources/hosts.ts';
import { Projects } from '../../../store/projects.ts';
import { testDatabase } from '../../store/connection.ts';

const host = 'img.example';

/** Runs an action before the next call of a method. */
function once<Name extends string>(
  target: { [name in Name]: (...args: never) => Promise<unknown> },
  name: Name,
  action: () => Promise<unknown>,
): void {
  const method = target[name];
  target[name] = async (...args) => {
    target[name] = method;
    await action();
    return method.apply(target, args);
  };
}

async function start(t: Test) {
  const { db } = await testDatabase(t);
  const projects = new Projects(db);
  await projects.ensureIndexes();
  const services = { projects, onChange: () => {}, baseUrl: 'http://127.0.0.1:3000' };
  const create = async () => {
    const fields = { orgId: 'org_1', origin: 'https://shop.example/', allowedOrigins: [] };
    return (await projects.create({ ...fields, name: 'Test' }))._id;
  };
  const ids = [await create(), await create()] as const;
  const owners = async () => {
    const claims = await db.collection('hosts').find().toArray();
    return claims.map(({ _id, projectId }) => `${_id} ${projectId}`).sort();
  };
  const listed = async () => {
    const found = await projects.findAll(ids);
    return found
      .flatMap((project) =>
        Object.values(project.hosts ?? {}).map(({ host }) => `${host} ${project._id}`),
      )
      .sort();
  };
  const put = (id: string, name: string) => hosts.put(services, id, name, {});
  const remove = (id: string, name: string) => hosts.remove(services, id, name);
  return { db, projects, services, ids, owners, listed, put, remove };
}

t.test('lists a host only in the project that owns it, after changes at once', async (t) => {
  const { projects, ids, owners, listed, put, remove } = await start(t);
  const [a, b] = ids;
  await put(a, host);
  once(projects, 'setItem', async () => {
    await remove(a, host);
    await put(b, host);
  });
  await t.rejects(put(a, host), { code: 'host_taken' });
  t.same([await listed(), await owners()], [[`${host} ${b}`], [`${host} ${b}`]]);
  once(projects.hostClaims, 'release', async () => {
    await put(b, host);
  });
  await remove(b, host);
  t.same([await listed(), await owners()], [[`${host} ${b}`], [`${host} ${b}`]]);
});

t.test('keeps no claim of a deleted project', async (t) => {
  const { projects, ids, owners, put } = await start(t);
  const [id] = ids;
  once(projects.hostClaims, 'claim', async () => {
    await projects.delete(id);
    await projects.deleteDocuments(id);
  });
  await t.rejects(put(id, host), { code: 'project_not_found' });
  t.same(await owners(), []);
});

t.test('releases a host after an interrupted deletion', async (t) => {
  const { projects, ids, owners, listed, put, remove } = await start(t);
  const [a, b] = ids;
  await put(a, host);
  once(projects.hostClaims, 'release', () => Promise.reject(new Error('no store')));
  await t.rejects(remove(a, host));
  t.same(await listed(), [], 'no project lists it without owning it');
  await t.rejects(put(b, host), { code: 'host_taken' });
  t.same(await remove(a, host), []);
  await put(b, host);
  t.same([await owners(), await listed()], [[`${host} ${b}`], [`${host} ${b}`]]);
});
