import { existsSync } from 'node:fs';
import promises, { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import t from 'tap';
import { cacheFilePath, cacheTemporaryFolder } from '../../../pool/cache/disk.ts';
import { toKey } from '../../pool/cache/pictures.ts';
import { block, createIndex, numbered } from './index-folder.ts';

t.test('deletes the least recently used files above the limit', async (t) => {
  const { index, store, remaining, errors } = createIndex(t.testdir(), 20);
  await store(...numbered(1, 20));
  t.same([index.count, index.bytes], [20, 20 * block], 'a cache at its limit keeps its files');
  for (const name of ['1', '3', 'unknown']) index.used(toKey(name));
  await store('21');
  await index.close();
  t.equal(index.bytes, 18 * block, 'down to a low-water mark');
  t.same(remaining(numbered(1, 21)), ['1', '3', ...numbered(6, 21)]);
  t.same(errors, []);
});

t.test("keeps some files of a project when another project's files fill the cache", async (t) => {
  const folder = t.testdir();
  const { index } = createIndex(folder, 40);
  const store = async (project: string, count: number) => {
    const keys = numbered(1, count).map(
      (name) => toKey(project).slice(0, 16) + toKey(name).slice(16),
    );
    for (const key of keys) {
      await mkdir(dirname(cacheFilePath(folder, key)), { recursive: true });
      await writeFile(cacheFilePath(folder, key), '');
      index.stored(key, block);
    }
    return keys.map((key) => cacheFilePath(folder, key));
  };
  const own = await store('own', 4);
  await store('other', 200);
  await index.close();
  t.same(own.filter(existsSync), own);
  t.ok(index.bytes > 30 * block);
});

t.test("counts a file's blocks as its size", async (t) => {
  const { index, write, exists } = createIndex(t.testdir(), 10);
  index.stored(toKey('a'), 1);
  t.equal(index.bytes, block);
  index.stored(toKey('a'), block + 1);
  t.equal(index.bytes, 2 * block, 'written again counts once');
  index.stored(toKey('b'), block);
  await index.removed(toKey('a'));
  await index.removed(toKey('a'));
  t.same([index.bytes, index.count], [block, 1]);
  await write('b', { bytes: 2 * block });
  await index.removed(toKey('b'));
  t.same([index.bytes, index.count], [2 * block, 1], 'rendered again before the report');

  await write('large', { bytes: 11 * block });
  index.stored(toKey('large'), 11 * block);
  await index.close();
  t.same([exists('large'), index.bytes], [false, 0], 'a file above the limit is deleted');
});

t.test('keeps a file that a process reports while another removes it', async (t) => {
  const { index, write } = createIndex(t.testdir(), 10);
  index.stored(toKey('a'), block);
  const removed = index.removed(toKey('a'));
  // The process writes the file after the index has looked for it.
  index.stored(toKey('a'), 2 * block);
  await removed;
  await write('a', { bytes: 2 * block });
  t.same([index.bytes, index.count], [2 * block, 1]);
});

t.test(
  'removes temporary files, keeps complete files, and makes the folder private on start',
  async (t) => {
    const folder = t.testdir({ tmp: { partial: 'x', deep: { partial: 'x' } } });
    const { index, write, exists } = createIndex(folder, 10);
    await write('a');
    await chmod(folder, 0o755);
    await index.prepare();
    t.same(await readdir(cacheTemporaryFolder(folder)), []);
    t.ok(exists('a'));
    t.equal((await stat(folder)).mode & 0o777, 0o700, 'other users cannot read the folder');
    await index.prepare();
  },
);

t.test('uses a folder on a file system without modes', async (t) => {
  const original = promises.chmod;
  t.teardown(() => {
    promises.chmod = original;
    syncBuiltinESMExports();
  });
  const folder = t.testdir();
  const prepare = (code: string) => {
    promises.chmod = () => Promise.reject(Object.assign(new Error(code), { code }));
    syncBuiltinESMExports();
    return createIndex(folder, 10).index.prepare();
  };
  for (const code of ['EPERM', 'ENOSYS']) await prepare(code);
  t.ok(existsSync(cacheTemporaryFolder(folder)));
  await t.rejects(prepare('EROFS'), { code: 'EROFS' });
});

t.test('keeps a file that a process rewrites before its deletion', async (t) => {
  const { index, store, exists } = createIndex(t.testdir(), 4);
  await store(...numbered(1, 4));
  for (const name of ['5', '1']) index.stored(toKey(name), block);
  await index.close();
  t.ok(exists('1'));
});

t.test('reports a file that it fails to delete', async (t) => {
  const folder = t.testdir();
  const { index, store, errors, exists } = createIndex(folder, 1);
  await mkdir(join(cacheFilePath(folder, toKey('a')), 'inside'), { recursive: true });
  index.stored(toKey('a'), block);
  await store('b', 'c');
  await index.close();
  t.equal(errors.length, 1);
  t.notOk(exists('b'), 'the others are deleted');
});

t.test('finds the unreported files of an ended front end', async (t) => {
  const folder = t.testdir({ tmp: { '12-a-1': 'x', '12-a-2': 'x', '123-b-1': 'x' } });
  const { index, write, store } = createIndex(folder, 20);
  await store('reported');
  await write('renamed', { bytes: 2 * block });
  await index.ended(12);
  t.same(await readdir(cacheTemporaryFolder(folder)), ['123-b-1'], 'not of another process');
  t.same([index.count, index.bytes], [2, 3 * block]);
  await write('of another');
  await Promise.all([index.ended(123), index.ended(124)]);
  t.same(await readdir(cacheTemporaryFolder(folder)), []);
  t.equal(index.count, 3);
});
