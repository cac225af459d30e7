import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { cacheFilePath, cacheTemporaryFolder } from '../../../pool/cache/disk.ts';
import { DiskCacheWrites } from '../../../server/cluster/disk-cache-writes.ts';
import { keyOf } from '../../pool/cache/pictures.ts';
import { until } from '../../until.ts';
import { block, kept, numbered } from './index-folder.ts';

t.test('the folder stays below its limit and is cleared to a low-water mark', async (t) => {
  const { index, put, remaining, troubles } = kept(t.testdir(), 20);
  for (const name of numbered(1, 20)) {
    await put(name);
    index.stored(keyOf(name), block);
  }
  t.equal(index.count, 20);
  t.equal(index.bytes, 20 * block, 'a cache at its limit keeps its files');
  await put('21');
  index.stored(keyOf('21'), block);
  await index.close();
  t.equal(index.bytes, 18 * block);
  t.same(remaining(numbered(1, 21)), numbered(4, 21), 'the oldest are deleted');
  t.same(troubles, []);
});

t.test('recently used images are deleted last', async (t) => {
  const { index, put, remaining } = kept(t.testdir(), 10);
  for (const name of numbered(1, 10)) {
    await put(name);
    index.stored(keyOf(name), block);
  }
  for (const name of ['1', '3', 'never heard of']) index.used(keyOf(name));
  await put('11');
  index.stored(keyOf('11'), block);
  await index.close();
  t.same(remaining(numbered(1, 11)), ['1', '3', ...numbered(5, 11)]);
});

t.test('the size of a file is that of its blocks', async (t) => {
  const { index } = kept(t.testdir(), 10);
  index.stored(keyOf('a'), 1);
  t.equal(index.bytes, block);
  index.stored(keyOf('a'), block + 1);
  t.equal(index.bytes, 2 * block, 'written again counts once');
  index.stored(keyOf('b'), block);
  await index.removed(keyOf('a'));
  await index.removed(keyOf('a'));
  t.same([index.bytes, index.count], [block, 1]);
});

t.test('a file above the limit is deleted', async (t) => {
  const { index, put, there } = kept(t.testdir(), 2);
  await put('big', { bytes: 3 * block });
  index.stored(keyOf('big'), 3 * block);
  await index.close();
  t.notOk(there('big'));
  t.equal(index.bytes, 0);
});

t.test('the start removes temporary files and keeps complete ones', async (t) => {
  const folder = t.testdir({ tmp: { torn: 'x', deep: { torn: 'x' } } });
  const { index, put, there } = kept(folder, 10);
  await put('a');
  await index.prepare();
  t.same(await readdir(cacheTemporaryFolder(folder)), []);
  t.ok(there('a'));
  await index.prepare();
});

t.test('a file that was written again before its deletion stays', async (t) => {
  const { index, put, there } = kept(t.testdir(), 4);
  for (const name of numbered(1, 4)) {
    await put(name);
    index.stored(keyOf(name), block);
  }
  index.stored(keyOf('5'), block);
  index.stored(keyOf('1'), block);
  await index.close();
  t.ok(there('1'), 'it was stored again before its deletion');
});

t.test('a file that cannot be deleted is reported', async (t) => {
  const folder = t.testdir();
  const { index, put, troubles, there } = kept(folder, 1);
  await mkdir(join(cacheFilePath(folder, keyOf('a')), 'inside'), { recursive: true });
  await put('b');
  for (const name of ['a', 'b']) index.stored(keyOf(name), block);
  await put('c');
  index.stored(keyOf('c'), block);
  await index.close();
  t.equal(troubles.length, 1);
  t.notOk(there('b'), 'the others are deleted');
});

t.test('a damaged file that was rendered again before its report counts', async (t) => {
  const { index, put } = kept(t.testdir(), 4);
  index.stored(keyOf('again'), block);
  await put('again', { bytes: 2 * block });
  await index.removed(keyOf('again'));
  t.same([index.count, index.bytes], [1, 2 * block]);
});

t.test('the index finds the unreported files of a dead front end', async (t) => {
  const folder = t.testdir({ tmp: { 'a-1': 'x', 'a-2': 'x', 'b-1': 'x' } });
  const { index, put } = kept(folder, 20);
  const writes = new DiskCacheWrites(index);
  const temporary = () => readdir(cacheTemporaryFolder(folder));
  // Renamed, but not reported; begun; reported.
  for (const name of ['renamed', 'reported']) await put(name, { bytes: 2 * block });
  writes.begun(1, 'a-1', keyOf('renamed'));
  writes.begun(1, 'a-2', keyOf('begun'));
  writes.begun(1, 'a-3', keyOf('reported'));
  writes.begun(2, 'b-1', keyOf('another process'));
  writes.settled(1, ['a-3']);
  writes.ended(1);
  await until('its files are gone', async () => (await temporary()).join() === 'b-1');
  await until('one file is found', () => index.count > 0);
  t.same([index.count, index.bytes], [1, 2 * block]);

  // Messages may arrive after the end of their process.
  await writeFile(join(cacheTemporaryFolder(folder), 'a-4'), 'x');
  await put('late');
  writes.begun(1, 'a-4', keyOf('late'));
  await until('the late one is found', () => index.count === 2);
  t.same(await temporary(), ['b-1']);
});

t.test('other users cannot read the folder', async (t) => {
  const folder = t.testdir({ cache: {} });
  await chmod(join(folder, 'cache'), 0o755);
  await kept(join(folder, 'cache'), 1).index.prepare();
  t.equal((await stat(join(folder, 'cache'))).mode & 0o777, 0o700);
});
