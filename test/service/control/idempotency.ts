import type { Test } from 'tap';
import { maxCalls } from '../../../server/control/idempotency.ts';
import { bulkUpdate } from '../../../store/writes.ts';
import { type Control, findProcess, locatedPath } from './control.ts';

const input = { name: 'Once', origin: 'https://once.example/' };

/** Calls with an Idempotency-Key take effect once, in whichever process they arrive. */
export async function idempotency(t: Test, { call, project, issue, store }: Control) {
  const create = (key: string, json: object = input) =>
    call('POST', '/projects', { json, headers: { 'idempotency-key': key } });
  interface Remembered {
    readonly _id: string;
    readonly keyId: string;
    readonly answer: string | null;
  }
  const calls = store.db.collection<Remembered>('idempotentCalls');

  const first = await create('a');
  t.equal(first.status, 201);
  const processes = new Set<number>();
  for (let count = 0; processes.size < 2 && count < 1_000; count += 1) {
    const again = await create('a');
    t.same([again.status, again.body], [201, first.body], 'the same answer');
    processes.add(findProcess(again));
  }
  const other = await create('a', { ...input, name: 'Another' });
  t.match(other, { status: 409, body: { code: 'idempotency_key_reused' } });
  const others = { key: await issue(null, 'write'), json: input };
  const ofOthers = await call('POST', '/projects', {
    ...others,
    headers: { 'idempotency-key': 'a' },
  });
  t.not(ofOthers.body.project.id, first.body.project.id, 'another API key has its own calls');

  const name = 'At once';
  const burst = await Promise.all(
    Array.from({ length: 12 }, () => create('b', { ...input, name })),
  );
  const created = burst.filter(({ status }) => status === 201).map(({ body }) => body.project.id);
  t.equal(new Set(created).size, 1, 'concurrent calls create one project');
  for (const { status, body, headers } of burst.filter(({ status }) => status !== 201)) {
    t.same([status, body.code], [409, 'idempotency_key_in_use']);
    t.equal(headers['retry-after'], '1');
  }
  const { projects } = (await call('GET', '/projects')).body;
  t.equal(projects.filter((one: { name: string }) => one.name === name).length, 1);

  t.equal((await create('c', { name: 'No origin' })).status, 400);
  t.equal((await create('c')).status, 201, 'a failed call is forgotten');
  t.equal((await create('not ascii é')).status, 400);

  const id = await project(['pictures.example']);
  const withKey = (path: string, json: object) =>
    call('POST', `/projects/${id}${path}`, { json, headers: { 'idempotency-key': 'd' } });
  t.equal((await call('GET', `/projects/${id}`)).status, 200);
  const secret = (await withKey('/keys', { name: 'backend' })).body.key.secret;
  t.equal((await withKey('/keys', { name: 'backend' })).body.key.secret, secret);
  const stored = JSON.stringify(await calls.find().toArray());
  t.notMatch(stored, secret, 'the store does not contain the secret');
  t.notMatch(stored, Buffer.from(secret).toString('base64url').slice(2, -2));

  const prewarm = (key: string) =>
    call('POST', `/projects/${id}/prewarm`, {
      json: { src: 'https://pictures.example/a.jpg' },
      headers: { 'idempotency-key': key },
    });
  const location = locatedPath(await prewarm('e'));
  t.match(location, /^\/projects\/.*pre_/);
  t.equal(locatedPath(await prewarm('e')), location, 'the same headers');

  // As a process leaves it that is killed during the call.
  const before = new Set((await calls.find().toArray()).map(({ _id }) => _id));
  t.equal((await create('f')).status, 201);
  const _id = (await calls.find().toArray()).map((one) => one._id).find((one) => !before.has(one));
  const abandon = (age: number) => {
    const startedAt = new Date(Date.now() - age);
    return calls.updateOne({ _id: String(_id) }, { $set: { answer: null, startedAt } });
  };
  await abandon(30_000);
  t.equal((await create('f')).status, 409, 'it may still run');
  await abandon(61_000);
  t.equal((await create('f')).status, 201, 'it does not run any more');

  const { keyId = '' } = (await calls.findOne({ _id: String(_id) })) ?? {};
  const [size, pieces] = [500, maxCalls / 500];
  for (let piece = 0; piece < pieces; piece += 1) {
    const ids = Array.from({ length: size }, (_, index) => `${piece} ${index}`);
    const u = { $set: { keyId, answer: '' } };
    await bulkUpdate(
      store.db,
      'idempotentCalls',
      ids.map((id) => ({ q: { _id: id }, u, upsert: true })),
    );
  }
  const count = await calls.countDocuments();
  const refused = await create('g');
  t.match(refused, { status: 429, body: { code: 'rate_limited' } });
  t.equal(await calls.countDocuments(), count, 'a refused call is forgotten');
  t.equal((await create('f')).status, 201, 'earlier calls keep their answers');
  await calls.deleteMany({ answer: '' });
}
