import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { parseS3Location } from '../../../contract/s3-location.ts';
import { cacheFilePath } from '../../../pool/cache/disk.ts';
import { objectKey } from '../../../pool/cache/object-key.ts';
import { Bucket } from '../../../pool/s3/bucket.ts';
import { DiskCacheIndex } from '../../../server/cluster/disk-cache-index.ts';
import { Sweep, type SweepOptions } from '../../../server/cluster/sweep.ts';
import { cacheKey } from '../../../server/image/key.ts';
import { changeGroups, purgeGroup } from '../../../store/generations.ts';
import type { SweptProject } from '../../../store/projects.ts';
import { UsageRecords } from '../../../store/usage.ts';
import { refusing, startTestS3, variables } from '../../pool/s3/server.ts';
import { newProject, testProjects } from '../../store/projects.ts';
import { until } from '../../until.ts';

const toTag = (name: string): string => name.repeat(30);
const purgedAt = Date.now();
/** In the folder `0`. */
const toInput = (name: string) => ({ tag: toTag(name), folders: [`/${toTag('0')}`] });

/** Returns a project that purged all images, or the images of named sources. */
function createProject(
  all: number,
  sources: Record<string, number> = {},
  _id = 'prj_1',
): SweptProject {
  const groups = Object.assign(
    {},
    ...Object.entries(sources).map(([name, number]) =>
      changeGroups({}, [purgeGroup(toTag(name))], number),
    ),
  );
  const last = Math.max(all, ...Object.values(sources));
  return { _id, deletedAt: null, generations: { last, all, groups } };
}

/** Returns the keys of images with the given inputs. */
const createKeys = (inputs: string, count: number, generation = 0, project = 'prj_1'): string[] => {
  const [first = '', ...others] = inputs;
  const origin = {
    project,
    inputs: [toInput(first), ...others.map(toInput)],
    generation,
  } as const;
  return Array.from({ length: count }, (_, index) => cacheKey(origin, [index]));
};

/** Ends with the test. */
function stopping(t: Test): AbortController {
  const controller = new AbortController();
  t.teardown(() => controller.abort());
  return controller;
}

/** Sweeps the test's purges, with short pauses. */
function startSweep(t: Test, parts: Pick<SweepOptions, 'index' | 'bucket' | 'log'>) {
  const purged = new Map<string, SweptProject>();
  let looks = 0;
  const sweep = new Sweep({
    ...parts,
    projects: {
      async *purgedSince() {
        looks += 1;
        yield* [...purged.values()];
      },
      deleteDocuments: async () => {},
    },
    signal: stopping(t).signal,
    onError: (error) => t.error(error),
    pauseMs: 20,
  });
  void sweep.follow();
  return {
    totals: sweep.totals,
    purge: (...projects: readonly SweptProject[]) => {
      for (const project of projects) purged.set(project._id, project);
    },
    /** Resolves once it has found all earlier purges, and swept the new purges. */
    looked: () => {
      const before = looks;
      return until('two looks', () => looks > before + 1);
    },
  };
}

async function startDisk(t: Test) {
  const folder = t.testdir();
  const index = new DiskCacheIndex(folder, Number.MAX_SAFE_INTEGER, (error) => t.error(error));
  const lines: object[] = [];
  const note = (...[facts]: unknown[]) => void lines.push(facts as object);
  const sweep = startSweep(t, { index, bucket: null, log: { info: note, warn: note } });
  const store = async (keys: readonly string[]) => {
    for (const key of keys) {
      const path = cacheFilePath(folder, key);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, 'x');
      index.stored(key, 1);
    }
  };
  const left = (keys: readonly string[]) =>
    keys.filter((key) => existsSync(cacheFilePath(folder, key))).length;
  return { index, sweep, lines, store, left };
}

t.test('deletes only the files of old generations', async (t) => {
  const { index, sweep, lines, store, left } = await startDisk(t);
  const old = [...createKeys('a', 20), ...createKeys('a', 5, purgedAt - 1), ...createKeys('ba', 3)];
  const current = [
    ...createKeys('a', 2, purgedAt),
    ...createKeys('a', 2, purgedAt + 1),
    ...createKeys('b', 4),
    ...createKeys('ba', 1, purgedAt),
    ...createKeys('a', 3, 0, 'prj_2'),
  ];
  await store([...old, ...current]);
  sweep.purge(createProject(0, { a: purgedAt }));
  await until('they are deleted', () => lines.length === 1);
  t.match(lines, [{ projects: 1, images: old.length }]);
  t.equal(left(old), 0, 'also images with a purged layer');
  t.equal(left(current), current.length);
  t.equal(index.count, current.length);
  await sweep.looked();
  t.equal(lines.length, 1, 'each purge once');
  sweep.purge(createProject(purgedAt + 9));
  await until('all are deleted', () => lines.length === 2);
  t.equal(index.count, 3, 'those of a project that has not purged');
  t.match(sweep.totals, { purges: 2, images: old.length + current.length - 3, failed: 0 });
});

t.test('deletes the purges of many projects together', async (t) => {
  const { index, sweep, lines, store } = await startDisk(t);
  const names = Array.from({ length: 50 }, (_, index) => `prj_${index}`);
  for (const name of names) await store(createKeys('a', 3, 0, name));
  sweep.purge(...names.map((name) => createProject(purgedAt, {}, name)));
  await until('the log', () => sweep.totals.purges === names.length);
  t.equal(index.count, 0);
  t.equal(lines.length, 1, 'in one pass');
});

async function startBucket(t: Test) {
  const server = await startTestS3(t);
  server.pageSize = 3;
  const put = (project: string, keys: readonly string[]) => {
    for (const key of keys) {
      const object = { body: Buffer.from('a'), modifiedAt: 0 };
      server.objects.set(join('pre fix', objectKey(project, key)), object);
    }
  };
  put('prj_1', [...createKeys('a', 20), ...createKeys('b', 20), ...createKeys('a', 1, purgedAt)]);
  put('prj_2', createKeys('a', 1, 0, 'prj_2'));
  Object.assign(process.env, variables);
  const bucket = new Bucket(parseS3Location(server.url));
  const log: object[] = [];
  const note = (...[facts]: unknown[]) => void log.push(facts as object);
  t.teardown(() => bucket.destroy());
  const index = { deleteWhere: async () => 0 };
  const sweep = startSweep(t, { index, bucket, log: { info: note, warn: note } });
  const count = (part: string) =>
    [...server.objects.keys()].filter((key) => key.startsWith(`pre fix/${part}`)).length;
  return { server, sweep, count, log };
}

t.test('deletes only the objects of a purged source', async (t) => {
  const { server, sweep, count, log } = await startBucket(t);
  sweep.purge(createProject(0, { a: purgedAt, c: purgedAt - 7_200_000 }));
  await until('they are deleted', () => log.length === 1);
  t.match(log, [{ projects: 1, objects: 20 }]);
  t.equal(count('prj_1/a'), 1, 'one of the current generation');
  t.equal(count('prj_1/b'), 20);
  t.equal(count('prj_2/'), 1);
  t.notOk(
    server.requests.some((line) => /prefix=[^&]*%2Fcc/.test(line)),
    'an earlier purge',
  );
  const { length } = server.requests;
  await sweep.looked();
  t.equal(server.requests.length, length, 'the same purge again');
  sweep.purge(createProject(purgedAt + 1));
  await until('all are deleted', () => count('prj_1/') === 0);
  t.equal(count('prj_2/'), 1);
});

t.test('repeats failed deletions while the store returns the purge', async (t) => {
  const { server, sweep, count } = await startBucket(t);
  server.handler = refusing;
  sweep.purge(createProject(0, { a: purgedAt }));
  await until('it fails twice', () => sweep.totals.failed >= 2);
  t.equal(sweep.totals.purges, 0);
  server.handler = null;
  await until('they are deleted', () => count('prj_1/a') === 1);
});

/** Follows the purges of a test database, with short pauses. */
async function startFollowing(t: Test, fails = () => {}) {
  const { db, projects } = await testProjects(t);
  const end = stopping(t);
  const errors: unknown[] = [];
  const found = new Map<string, number>();
  const log = { info: () => {}, warn: () => {} };
  const index = { deleteWhere: async () => 0 };
  const observed = {
    deleteDocuments: (id: string) => projects.deleteDocuments(id),
    async *purgedSince(time: Date) {
      for await (const project of projects.purgedSince(time)) {
        found.set(project._id, (found.get(project._id) ?? 0) + 1);
        fails();
        yield project;
      }
    },
  };
  const sweep = new Sweep({
    projects: observed,
    index,
    bucket: null,
    log,
    signal: end.signal,
    onError: (error) => errors.push(error),
    pauseMs: 10,
  });
  const follow = () => sweep.follow();
  const usage = new UsageRecords(db);
  const use = (project: string) =>
    usage.write([{ project, date: '2026-11-20', writer: 'a', counts: { memory: 1 } }]);
  const isUsed = async (project: string) =>
    (await usage.find(project, '2026-11-20', '2026-11-20')).length > 0;
  return { db, projects, follow, found, errors, end, use, isUsed };
}

t.test("deletes files written after a project's deletion", async (t) => {
  const { projects, follow, found, errors, end, use, isUsed } = await startFollowing(t);
  const [first, other] = [await projects.create(newProject), await projects.create(newProject)];
  for (const { _id } of [first, other]) await use(_id);
  await projects.delete(first._id);
  await projects.purge(other._id, null);
  const ended = follow();
  for (let i = 0; i < 2; i += 1) {
    await until('it is gone', async () => !(await isUsed(first._id)));
    await use(first._id);
  }
  t.same([...found.keys()].sort(), [first._id, other._id].sort());
  t.ok(await isUsed(other._id), 'that of a project that exists stays');
  end.abort();
  await ended;
  t.same(errors, []);
});

t.test('finds earlier purges once after a start, and continues after an error', async (t) => {
  const failures = [new Error('test')];
  const { db, projects, follow, found, errors } = await startFollowing(t, () => {
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
  });
  const { _id } = await projects.create(newProject);
  await projects.purge(_id, null);
  const purgedAt = new Date(Date.now() - 7 * 86_400_000);
  await db.collection<{ _id: string }>('projects').updateOne({ _id }, { $set: { purgedAt } });
  const { _id: recent } = await projects.create(newProject);
  await projects.purge(recent, null);
  void follow();
  await until('several looks', () => (found.get(recent) ?? 0) > 3);
  t.equal(errors.length, 1);
  t.ok(Number(found.get(_id)) <= 2, `${found.get(_id)} times`);
});
