import t, { type Test } from 'tap';
import { parseS3Location } from '../../../contract/s3-location.ts';
import { Bucket } from '../../../pool/s3/bucket.ts';
import { SharedPurges } from '../../../server/cluster/shared-purges.ts';
import type { Project } from '../../../store/projects.ts';
import { refusing, startTestS3, variables } from '../../pool/s3/server.ts';
import { until } from '../../until.ts';

const tag = (name: string) => name.repeat(30);
const purgedAt = Date.UTC(2026, 1, 1);
const projectOf = (all: number, sources: Record<string, number> = {}): Project =>
  ({
    _id: 'prj_1',
    purges: { last: Math.max(all, ...Object.values(sources)), all, sources },
  }) as unknown as Project;

async function start(t: Test) {
  const server = await startTestS3(t);
  server.pageSize = 3;
  const put = (key: string, modifiedAt = purgedAt - 1) =>
    server.objects.set(`pre fix/${key}`, { body: Buffer.from('a'), modifiedAt });
  for (const source of ['a', 'b']) {
    for (let i = 0; i < 20; i += 1) put(`prj_1/${source.repeat(16)}/${i}`);
  }
  put(`prj_1/${'a'.repeat(16)}/new`, purgedAt + 1);
  put(`prj_2/${'a'.repeat(16)}/0`);
  const bucket = new Bucket(parseS3Location(server.url), variables);
  const log: object[] = [];
  const note = (...[facts]: unknown[]) => void log.push(facts as object);
  const purges = new SharedPurges({
    bucket,
    log: { info: note, warn: note },
    since: purgedAt - 1_000,
    delayMs: 0,
    pauseMs: 1,
  });
  t.teardown(() => {
    purges.close();
    return bucket.destroy();
  });
  const count = (prefix: string) =>
    [...server.objects.keys()].filter((key) => key.startsWith(`pre fix/${prefix}`)).length;
  return { server, purges, count, log };
}

t.test('the objects of a purged source are deleted, and no others', async (t) => {
  const { purges, count, log, server } = await start(t);
  purges.purge(projectOf(0, { [tag('a')]: purgedAt, [tag('c')]: purgedAt - 2_000 }));
  await until('they are deleted', () => log.length === 1);
  t.same(log, [{ project: 'prj_1', objects: 20 }]);
  t.equal(count(`prj_1/${'a'.repeat(16)}/`), 1, 'a newer one');
  t.equal(count('prj_1/b'), 20);
  t.equal(count('prj_2/'), 1);
  t.notOk(
    server.requests.some((line) => line.includes('cccc')),
    'an earlier purge',
  );
  const { length } = server.requests;
  purges.purge(projectOf(0, { [tag('a')]: purgedAt }));
  t.equal(server.requests.length, length, 'the same purge again');
  t.same(purges.totals, { objects: 20, failed: 0 });
});

t.test('a deleted project has no object, also none that was written later', async (t) => {
  const { purges, count } = await start(t);
  purges.purge({ ...projectOf(purgedAt), deletedAt: new Date(purgedAt) });
  await until('they are deleted', () => count('prj_1/') === 0);
  t.equal(count('prj_2/'), 1);
});

t.test('a purge of a project deletes all of its objects', async (t) => {
  const { purges, count } = await start(t);
  purges.purge(projectOf(purgedAt));
  await until('they are deleted', () => count('prj_1/') === 1);
  t.equal(count('prj_2/'), 1);
});

t.test('projects take turns, and the failures of one do not delay another', async (t) => {
  const { server, purges, count } = await start(t);
  purges.purge(projectOf(purgedAt));
  purges.purge({ ...projectOf(purgedAt), _id: 'prj_2' });
  await until('the other project', () => count('prj_2/') === 0);
  t.ok(count('prj_1/') > 20, `${count('prj_1/')} objects are left`);
  await until('the project', () => count('prj_1/') === 1);

  server.handler = refusing;
  purges.purge(projectOf(purgedAt + 5));
  purges.purge({ ...projectOf(purgedAt + 5), _id: 'prj_2' });
  await until('both are given up', () => purges.totals.failed === 2);
  const requests = server.requests.slice(-12).map((line) => /prj_\d/.exec(line)?.[0]);
  t.ok(requests.indexOf('prj_2') < requests.lastIndexOf('prj_1'), requests.join(' '));
});

t.test('an older state of a project does not replace a newer one that waits', async (t) => {
  const { purges, count } = await start(t);
  purges.purge(projectOf(0, { [tag('a')]: purgedAt }));
  purges.purge(projectOf(0, { [tag('a')]: purgedAt, [tag('b')]: purgedAt + 2 }));
  purges.purge(projectOf(0, { [tag('a')]: purgedAt + 1 }));
  await until('the last purge', () => count('prj_1/b') === 0);
});

t.test('an earlier purge is worked on when it is known to be open', async (t) => {
  const { purges, count, server } = await start(t);
  const purgedBefore = purgedAt - 5_000;
  const body = Buffer.from('c');
  server.objects.set(`pre fix/prj_1/${'c'.repeat(16)}/0`, { body, modifiedAt: purgedBefore - 1 });
  const project = projectOf(0, { [tag('c')]: purgedBefore, [tag('a')]: purgedBefore - 1 });
  purges.purge(project);
  t.equal(server.requests.length, 0);
  purges.purge(project, purgedBefore);
  await until('they are deleted', () => count('prj_1/c') === 0);
  t.notOk(
    server.requests.some((line) => line.includes('aaaa')),
    'an earlier one is completed',
  );
});

t.test('an earlier purge that is known to be open later is worked on once', async (t) => {
  const { purges, count, server, log } = await start(t);
  const purgedBefore = purgedAt - 5_000;
  const body = Buffer.from('c');
  const key = `pre fix/prj_1/${'c'.repeat(16)}/0`;
  server.objects.set(key, { body, modifiedAt: purgedBefore - 1 });
  const later = projectOf(0, { [tag('c')]: purgedBefore, [tag('a')]: purgedAt });
  purges.purge(later);
  await until('the later purge', () => log.length === 1);
  t.ok(server.objects.has(key));
  purges.purge(later, purgedBefore);
  await until('the earlier one', () => log.length === 2);
  t.notOk(server.objects.has(key));

  const last = projectOf(0, { ...later.purges?.sources, [tag('b')]: purgedAt + 5 });
  purges.purge(last);
  server.requests.length = 0;
  // Until a machine has noted that the last purge is completed, it is found in the store.
  for (let found = 0; found < 2; found += 1) purges.purge(last, purgedAt + 5);
  await until('the last purge', () => count('prj_1/b') === 0 && log.length === 3);
  const { length } = server.requests;
  purges.purge(last, purgedAt + 5);
  t.equal(server.requests.length, length);
  t.notOk(server.requests.some((line) => /cccc|aaaa/.test(line)));
});

t.test('a purge that is known to be open while a later one is worked on', async (t) => {
  const { purges, server } = await start(t);
  const purgedBefore = purgedAt - 5_000;
  const key = `pre fix/prj_1/${'c'.repeat(16)}/0`;
  server.objects.set(key, { body: Buffer.from('c'), modifiedAt: purgedBefore - 1 });
  const project = projectOf(0, { [tag('c')]: purgedBefore, [tag('a')]: purgedAt });
  // The only request of the later one: a list without objects.
  server.handler = (_, response) => {
    server.handler = null;
    purges.purge(project, purgedBefore);
    response.end('<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"/>');
  };
  purges.purge(project);
  await until('the earlier one', () => !server.objects.has(key));
});

t.test('failed deletions are repeated, and again with the next purge', async (t) => {
  const { server, purges, count } = await start(t);
  server.handler = refusing;
  purges.purge(projectOf(0, { [tag('a')]: purgedAt }));
  await until('the deletion is repeated', () => server.requests.length >= 2);
  await until('it is given up', () => purges.totals.failed === 1);
  t.equal(server.requests.length, 6);
  server.handler = null;
  purges.purge(projectOf(0, { [tag('a')]: purgedAt, [tag('b')]: purgedAt + 5 }));
  await until('both are deleted', () => count('prj_1/') === 1);
});
