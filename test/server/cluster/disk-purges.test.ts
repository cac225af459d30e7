import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import t, { type Test } from 'tap';
import { cacheFilePath } from '../../../pool/cache/disk.ts';
import { DiskCacheIndex } from '../../../server/cluster/disk-cache-index.ts';
import { DiskPurges } from '../../../server/cluster/disk-purges.ts';
import { keyPrefix } from '../../../server/image/key.ts';
import type { Project } from '../../../store/projects.ts';
import { stopClock } from '../../clock.ts';
import { until } from '../../until.ts';

const projectOf = (_id: string, number = 1): Project =>
  ({ _id, purges: { last: number, all: number, sources: {} } }) as unknown as Project;

function start(t: Test) {
  const folder = t.testdir();
  const index = new DiskCacheIndex(folder, Number.MAX_SAFE_INTEGER, (error) => t.error(error));
  /** Damaged files, which are deleted as purged ones are; returns their keys. */
  const write = async (project: string, count: number) => {
    const prefix = keyPrefix(project, 'a'.repeat(16));
    const keys = Array.from({ length: count }, (_, i) => prefix + String(i).padStart(32, '0'));
    for (const key of keys) {
      const path = cacheFilePath(folder, key);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, 'x');
    }
    return keys;
  };
  const store = async (project: string, count: number) => {
    for (const key of await write(project, count)) index.stored(key, 1);
  };
  return { index, write, store };
}

t.test('a small purge does not wait for a large one of another project', async (t) => {
  // The pause after a search depends on its time, and lasts longer than all deletions on a busy machine.
  stopClock(t);
  const { index, store } = start(t);
  await store('prj_large', 1_500);
  await store('prj_small', 40);
  await store('prj_other', 3);
  /** The completed purges, and how many files were left. */
  const completed: [project: string, number: number, left: number][] = [];
  let begun = () => {};
  const purges = new DiskPurges({
    index: {
      keysWhere: (mayMatch) => index.keysWhere(mayMatch),
      deleteWhere: (...deletion) => {
        begun();
        return index.deleteWhere(...deletion);
      },
    },
    log: { info: () => {} },
    onComplete: (project, number) => void completed.push([project, number, index.count]),
    delayMs: 0,
  });
  t.teardown(() => purges.close());
  begun = () => {
    begun = () => {};
    // It may be found in the store again while it is worked on.
    for (let found = 0; found < 2; found += 1) purges.purge(projectOf('prj_small'));
    purges.purge(projectOf('prj_large', 2));
  };
  purges.purge(projectOf('prj_large'));
  await until('all purges', () => completed.length === 3);
  t.same(
    completed.map(([project, number]) => [project, number]),
    [
      ['prj_small', 1],
      ['prj_large', 1],
      ['prj_large', 2],
    ],
  );
  t.ok(Number(completed[0]?.[2]) > 750, `${completed[0]?.[2]} files were left`);
  t.equal(index.count, 3, 'those of a project that has not purged');
  t.equal(purges.totals.purges, 3, 'each is worked on once');
});

t.test('files that the index finds while a purge completes are deleted', async (t) => {
  const { index, write } = start(t);
  const keys = await write('prj_1', 3);
  let searches = 0;
  const purges: DiskPurges = new DiskPurges({
    index: {
      keysWhere: (mayMatch) => {
        searches += 1;
        const found = index.keysWhere(mayMatch);
        if (searches === 2) {
          for (const key of keys) index.stored(key, 1);
          // An older state than the one that is worked on.
          purges.restart([projectOf('prj_1', 1)]);
        }
        return found;
      },
      deleteWhere: (...deletion) => index.deleteWhere(...deletion),
    },
    log: { info: () => {} },
    onComplete: () => {},
    delayMs: 0,
  });
  t.teardown(() => purges.close());
  const project = projectOf('prj_1', 2);
  purges.purge(project);
  await until('the end of the purges', () => purges.isCompleted(project));
  t.equal(index.count, 0);
  t.equal(searches, 4);
});
