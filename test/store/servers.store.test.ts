import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { MongoServerError } from 'mongodb';
import t from 'tap';
import { serverLimits } from '../../store/open.ts';
import { retryOnDeadlock, retryOnDuplicateKey } from '../../store/writes.ts';
import { scriptArguments, scriptUrl } from '../scripts.ts';
import { plainNode } from '../service/service.ts';
import { embeddedUrl, testDatabase } from './connection.ts';
import { identify } from './servers.ts';

const refusal = (code: number, message: string) => new MongoServerError({ code, message });

/** Returns an upsert that fails with these errors first. */
function failing(...errors: readonly Error[]) {
  let calls = 0;
  return async () => {
    const error = errors[calls];
    calls += 1;
    if (error !== undefined) throw error;
    return calls;
  };
}

t.test('ends an upsert in the same way on every server', async (t) => {
  const duplicates = [
    refusal(11_000, 'E11000 duplicate key error'),
    // FerretDB 2.7 responds like this to findAndModify, for `_id` and for a unique index.
    refusal(1, 'duplicate key value violates unique constraint "collection_pk_801"'),
    refusal(1, 'conflicting key value violates exclusion constraint "documents_rum_index_983"'),
  ];
  for (const duplicate of duplicates) {
    await t.rejects(retryOnDeadlock(failing(duplicate)), { code: 11_000 });
    t.equal(await retryOnDuplicateKey(failing(duplicate)), 2);
    await t.rejects(retryOnDuplicateKey(failing(duplicate, duplicate)), { code: 11_000 });
  }

  // FerretDB responds like this to findAndModify and to update.
  const deadlocks = [1, 16_908_292].map((code) => refusal(code, 'deadlock detected'));
  t.equal(await retryOnDeadlock(failing(...deadlocks)), 3);
  const lasting = [...deadlocks, ...deadlocks];
  await t.rejects(retryOnDeadlock(failing(...lasting)), { message: 'deadlock detected' });

  const others = [refusal(1, 'it violates unique constraint "x"'), new Error('deadlock detected')];
  for (const other of others) {
    const caught = await retryOnDeadlock(failing(other)).catch((error) => error);
    t.equal(caught, other, 'any other error is as it was');
  }
});

t.test("prints the server's name in test:store, or exits with 2", async (t) => {
  const url = await embeddedUrl();
  t.match(await identify(url), { name: 'embedded' });
  const check = fileURLToPath(scriptUrl('./check-server', import.meta.url));
  const [program, ...args] = plainNode;
  for (const [given, message] of [
    ['', 'SERVICE_MONGODB_URL is not set'],
    ['http://127.0.0.1/', 'does not respond: Invalid scheme'],
  ] as const) {
    const env = { ...process.env, SERVICE_MONGODB_URL: given };
    const { status, stderr } = spawnSync(program, [...args, ...scriptArguments, check], { env });
    t.equal(status, 2);
    t.match(String(stderr), message);
  }
});

t.test("describes the server's limits in one sentence", async (t) => {
  const { db, url } = await testDatabase(t);
  const { name, version } = await identify(url);
  const expected = {
    embedded: 'the embedded store serves this machine only',
    ferretdb: `FerretDB ${version}: concurrent writes of one document wait`,
    mongodb: null,
  }[name];
  const limits = await serverLimits(db);
  if (expected === null) t.equal(limits, null);
  else t.match(limits, expected);
});
