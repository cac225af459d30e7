import { existsSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { KnownProjects } from '../../../server/cluster/known-projects.ts';
import { KnownProjectsFile } from '../../../server/cluster/known-projects-file.ts';
import { project as projectWith } from '../../project.ts';
import { until } from '../../until.ts';

const storeUrl = 'mongodb://somebody:password@db.example/';
const idOf = (number: number): string => `prj_${String(number).padStart(16, '0')}`;
const project = (number: number, revision = 1) =>
  projectWith({ _id: idOf(number), revision, signingSecret: 'the-secret-of-signed-urls' });

/** The known projects of a primary and their file. */
function opened(t: Test, path = join(t.testdir(), 'known-projects'), url = storeUrl) {
  const known = new KnownProjects(3, () => 1);
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  const file = new KnownProjectsFile({ path, storeUrl: url, known, onError });
  return { path, known, errors, file };
}

t.test('the primary keeps the latest revision of each project', async (t) => {
  const { known } = opened(t);
  t.ok(known.receive({ type: 'project-known', project: project(1, 2) }));
  t.notOk(known.receive({ type: 'project-known', project: project(1, 1) }), 'an older one');
  t.ok(known.receive({ type: 'project-known', project: project(2) }));
  t.notOk(known.receive({ type: 'projects-confirmed', at: 70 }));
  t.notOk(known.receive({ type: 'projects-confirmed', at: 60 }));
  t.same(new Set(known.snapshot.projects), new Set([project(1, 2), project(2)]));
  t.equal(known.confirmedAt, 70);
  t.ok(known.receive({ type: 'project-forgotten', id: idOf(1) }));
  for (const number of [3, 4, 5, 6]) {
    known.receive({ type: 'project-known', project: project(number) });
  }
  t.equal(known.snapshot.projects.length, 3, 'not more than a front end');
});

t.test(
  'the known projects are written within seconds, for this store and this user only',
  async (t) => {
    const { path, known, file, errors } = opened(t);
    t.equal(await file.read(), null);
    known.receive({ type: 'project-known', project: project(1) });
    known.receive({ type: 'projects-confirmed', at: 1_000 });
    file.changed();
    await until('a file', () => existsSync(path));
    t.equal((await stat(path)).mode & 0o777, 0o600);
    const bytes = await readFile(path);
    t.notOk(bytes.includes('the-secret') || bytes.includes(idOf(1)), 'it is encrypted');
    t.same(await opened(t, path).file.read(), { confirmedAt: 1_000, projects: [project(1)] });
    t.equal(await opened(t, path, 'mongodb://other.example/').file.read(), null);

    known.receive({ type: 'projects-confirmed', at: 2_000 });
    await file.close();
    t.match(await opened(t, path).file.read(), { confirmedAt: 2_000 }, 'written at the end');
    t.same(await readdir(join(path, '..')), ['known-projects'], 'nothing is left over');
    t.same(errors, []);
  },
);

t.test('a truncated, changed or foreign file is not read', async (t) => {
  const { path, known, file } = opened(t);
  known.receive({ type: 'project-known', project: project(1) });
  known.receive({ type: 'projects-confirmed', at: 1_000 });
  await file.close();
  const whole = await readFile(path);
  t.ok(await opened(t, path).file.read());
  const flipped = (at: number) => {
    const copy = Buffer.from(whole);
    copy[at] = (copy[at] ?? 0) ^ 1;
    return copy;
  };
  const others = [0, 20, 34, 46, 70, whole.length - 1].map(flipped);
  for (const bytes of [...others, whole.subarray(0, -1), whole.subarray(0, 30), Buffer.alloc(0)]) {
    await writeFile(path, bytes);
    t.equal(await opened(t, path).file.read(), null);
  }
});

t.test('a folder that is not writable is reported once', async (t) => {
  const { known, file, errors } = opened(t, join(t.testdir(), 'none', 'known-projects'));
  for (const at of [1_000, 2_000]) {
    known.receive({ type: 'projects-confirmed', at });
    await file.close();
  }
  t.match(errors, [{ code: 'ENOENT' }]);
});
