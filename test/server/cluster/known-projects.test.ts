import { existsSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { KnownProjects } from '../../../server/cluster/known-projects.ts';
import { project as projectWith } from '../../project.ts';
import { until } from '../../until.ts';

const storeUrl = 'mongodb://somebody:password@db.example/';
const toId = (number: number): string => `prj_${String(number).padStart(16, '0')}`;
const project = (number: number, revision = 1) =>
  projectWith({ _id: toId(number), revision, signingSecret: 'the-secret-of-signed-urls' });

/** Opens a primary's cached projects with their file. */
async function opened(t: Test, path = join(t.testdir(), 'known-projects'), url = storeUrl) {
  const known = new KnownProjects();
  const errors: unknown[] = [];
  const close = await known.keepIn(path, url, (error) => errors.push(error));
  t.teardown(close);
  return { path, known, errors, close };
}

t.test("keeps each project's latest revision", async (t) => {
  const known = new KnownProjects();
  t.ok(known.receive({ type: 'project-known', project: project(1, 2) }));
  t.notOk(known.receive({ type: 'project-known', project: project(1, 1) }), 'an older one');
  t.ok(known.receive({ type: 'project-known', project: project(2) }));
  for (const at of [70, 60]) known.confirm(at);
  const projects = new Set([project(1, 2), project(2)]);
  t.same(known.snapshot, { confirmedAt: 70, projects: [...projects].reverse() });
  t.ok(known.receive({ type: 'project-forgotten', id: toId(1) }));
  t.ok(known.receive({ type: 'project-known', project: project(1, 1) }), 'of a restored store');
  const names = Array.from({ length: 20_000 }, (_, index) => project(index + 9));
  for (const projectName of names) known.receive({ type: 'project-known', project: projectName });
  t.ok(known.snapshot.projects.length < 15_000, 'not more than a front end');
});

t.test('writes the projects within seconds, for this store and user only', async (t) => {
  const { path, known, errors, close } = await opened(t);
  known.receive({ type: 'project-known', project: project(1) });
  known.confirm(1_000);
  await until('a file', () => existsSync(path));
  t.equal((await stat(path)).mode & 0o777, 0o600);
  const bytes = await readFile(path);
  t.notOk(bytes.includes('the-secret') || bytes.includes(toId(1)), 'it is encrypted');
  const read = async (url?: string) => (await opened(t, path, url)).known.snapshot;
  t.same(await read(), { confirmedAt: 1_000, projects: [project(1)] });
  known.confirm(2_000);
  await close();
  t.match(await read(), { confirmedAt: 2_000 }, 'written at the end');
  t.same(await readdir(join(path, '..')), ['known-projects'], 'nothing is left over');
  t.same(await read('mongodb://other.example/'), { confirmedAt: 0, projects: [] });
  t.same(errors, []);
});

t.test('writes the last changes after a write in progress', async (t) => {
  const { path, known, errors, close } = await opened(t);
  known.receive({ type: 'project-known', project: project(1) });
  const first = close();
  known.receive({ type: 'project-known', project: project(2) });
  await Promise.all([first, close()]);
  t.same(errors, []);
  const { snapshot } = (await opened(t, path)).known;
  t.same(new Set(snapshot.projects), new Set([project(1), project(2)]));
});

t.test('does not read a truncated, changed or foreign file', async (t) => {
  const { path, known, close } = await opened(t);
  known.receive({ type: 'project-known', project: project(1) });
  known.confirm(1_000);
  await close();
  const whole = await readFile(path);
  const flipped = (at: number) => {
    const copy = Buffer.from(whole);
    copy[at] = (copy[at] ?? 0) ^ 1;
    return copy;
  };
  const count = async (bytes: Buffer) => {
    await writeFile(path, bytes);
    const { known, close } = await opened(t, path);
    const { length } = known.snapshot.projects;
    await writeFile(path, whole);
    await close();
    return length;
  };
  t.equal(await count(whole), 1);
  const others = [0, 20, 34, 46, 70, whole.length - 9].map(flipped);
  for (const bytes of [...others, whole.subarray(0, -1), whole.subarray(0, 30), Buffer.alloc(0)]) {
    t.equal(await count(bytes), 0);
  }
});

t.test('reports an unwritable folder once', async (t) => {
  const { known, errors, close } = await opened(t, join(t.testdir(), 'none', 'known-projects'));
  for (const at of [1_000, 2_000]) {
    known.confirm(at);
    await close();
  }
  t.match(errors, [{ code: 'ENOENT' }]);
});
