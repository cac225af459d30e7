import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { cacheFilePath, cacheTemporaryFolder } from '../../../pool/cache/disk.ts';
import { DiskCacheWrites } from '../../../server/cluster/disk-cache-writes.ts';
import { keyOf } from '../../pool/cache/pictures.ts';
import { until } from '../../until.ts';
import { block, createIndex, numbered } from './index-folder.ts';

t.test('above the limit the least recently used files are deleted', async (t) => {
  const { index, store, remaining, errors } = createIndex(t.testdir(), 20);
  await store(...numbered(1, 20));
  t.same([index.count, index.bytes], [20, 20 * block], 'a cache at its limit keeps its files');
  for (const name of ['1', '3', 'unknown']) index.used(keyOf(name));
  await store('21');
  await index.close();
  t.equal(index.bytes, 18 * block, 'down to a low-water mark');
  t.same(remaining(numbered(1, 21)), ['1', '3', ...numbered(6, 21)]);
  t.same(errors, []);
});

t.test('the size of a file is that of its blocks', async (t) => {
  const { index, write, exists } = createIndex(t.testdir(), 10);
  index.stored(keyOf('a'), 1);
  t.equal(index.bytes, block);
  index.stored(keyOf('a'), block + 1);
  t.equal(index.bytes, 2 * block, 'written again counts once');
  index.stored(keyOf('b'), block);
  await index.removed(keyOf('a'));
  await index.removed(keyOf('a'));
  t.same([index.bytes, index.count], [block, 1]);
  await write('b', { bytes: 2 * block });
  await index.removed(keyOf('b'));
  t.same([index.bytes, index.count], [2 * block, 1], 'rendered again before the report');

  await write('large', { bytes: 11 * block });
  index.stored(keyOf('large'), 11 * block);
  await index.close();
  t.same([exists('large'), index.bytes], [false, 0], 'a file above the limit is deleted');
});

t.test('the start removes temporary files, keeps complete ones, and is private', async (t) => {
  const folder = t.testdir({ tmp: { torn: 'x', deep: { torn: 'x' } } });
  const { index, write, exists } = createIndex(folder, 10);
  await write('a');
  await chmod(folder, 0o755);
  await index.prepare();
  t.same(await readdir(cacheTemporaryFolder(folder)), []);
  t.ok(exists('a'));
  t.equal((await stat(folder)).mode & 0o777, 0o700, 'other users cannot read the folder');
  await index.prepare();
});

t.test('a file that was written again before its deletion stays', async (t) => {
  const { index, store, exists } = createIndex(t.testdir(), 4);
  await store(...numbered(1, 4));
  for (const name of ['5', '1']) index.stored(keyOf(name), block);
  await index.close();
  t.ok(exists('1'));
});

t.test('a file that cannot be deleted is reported', async (t) => {
  const folder = t.testdir();
  const { index, store, errors, exists } = createIndex(folder, 1);
  await mkdir(join(cacheFilePath(folder, keyOf('a')), 'inside'), { recursive: true });
  index.stored(keyOf('a'), block);
  await store('b', 'c');
  await index.close();
  t.equal(errors.length, 1);
  t.notOk(exists('b'), 'the others are deleted');
});

t.test('the index finds the unreported files of a dead front end', async (t) => {
  const folder = t.testdir({ tmp: { 'a-1': 'x', 'a-2': 'x', 'b-1': 'x' } });
  const { index, write } = createIndex(folder, 20);
  const writes = new DiskCacheWrites(index);
  const temporary = () => readdir(cacheTemporaryFolder(folder));
  // Renamed, but not reported; started; reported.
  for (const name of ['renamed', 'reported']) await write(name, { bytes: 2 * block });
  writes.started(1, 'a-1', keyOf('renamed'));
  writes.started(1, 'a-2', keyOf('started'));
  writes.started(1, 'a-3', keyOf('reported'));
  writes.started(2, 'b-1', keyOf('another process'));
  writes.reported(1, ['a-3']);
  writes.ended(1);
  await until('its files are gone', async () => (await temporary()).join() === 'b-1');
  await until('one file is found', () => index.count > 0);
  t.same([index.count, index.bytes], [1, 2 * block]);

  // Messages may arrive after the end of their process.
  await writeFile(join(cacheTemporaryFolder(folder), 'a-4'), 'x');
  await write('late');
  writes.started(1, 'a-4', keyOf('late'));
  await until('the late one is found', () => index.count === 2);
  t.same(await temporary(), ['b-1']);
});
