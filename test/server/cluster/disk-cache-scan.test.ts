import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import t from 'tap';
import { cacheFilePath } from '../../../pool/cache/disk.ts';
import { toKey } from '../../pool/cache/pictures.ts';
import { block, createIndex, numbered } from './index-folder.ts';

const toPath = (folder: string, name: string) => cacheFilePath(folder, toKey(name));

t.test('adds existing files by age', async (t) => {
  const folder = t.testdir();
  const before = createIndex(folder, 100);
  for (const name of numbered(1, 12)) await before.write(name, { age: 1_000 - Number(name) });
  const { index, remaining } = createIndex(folder, 10);
  await index.scan();
  await index.close();
  t.same(remaining(numbered(1, 12)), numbered(4, 12));
  t.equal(index.bytes, 9 * block);
});

t.test('treats files written or used during the scan as newer than its results', async (t) => {
  const folder = t.testdir();
  const { index, write, store, remaining } = createIndex(folder, 12);
  for (const name of numbered(1, 10)) await write(name, { age: 1_000 - Number(name) });
  const scan = index.scan();
  await Promise.resolve();
  index.used(toKey('1'));
  await store('11', '12');
  await scan;
  t.equal(index.count, 12, 'each counts once');
  await store('13');
  await index.close();
  t.same(remaining(numbered(1, 13)), ['1', ...numbered(5, 13)]);
});

t.test('does not restore files removed during the scan', async (t) => {
  const folder = t.testdir();
  const { index, write } = createIndex(folder, 200);
  for (const name of numbered(1, 100)) await write(name);
  const scan = index.scan();
  for (const name of numbered(1, 100)) {
    await rm(cacheFilePath(folder, toKey(name)));
    await index.removed(toKey(name));
  }
  await scan;
  t.same([index.count, index.bytes], [0, 0]);
});

t.test('enforces the limit during the scan', async (t) => {
  const folder = t.testdir();
  const { index, write, store, remaining } = createIndex(folder, 10);
  for (const name of numbered(1, 10)) await write(name, { age: 1_000 });
  const scan = index.scan();
  await store(...numbered(11, 31));
  await scan;
  await index.close();
  const left = remaining(numbered(1, 31));
  t.equal(left.length * block, index.bytes, 'the index matches the disk');
  t.ok(index.bytes <= 10 * block);
  t.ok(left.includes('31'));
});

t.test('finds the files that processes wrote before the request', async (t) => {
  const { index, write } = createIndex(t.testdir(), 100);
  await write('1');
  const first = index.scan();
  await write('2');
  const next = index.scan();
  t.not(next, first);
  t.equal(index.scan(), next, 'only one waits');
  await next;
  t.equal(index.count, 2);
});

t.test('skips a file under deletion when the scan starts', async (t) => {
  const { index, write, store } = createIndex(t.testdir(), 100);
  await store(...numbered(1, 50));
  await write('unknown');
  index.shrinkTo(0);
  await index.scan();
  t.same([index.count, index.bytes], [1, block]);
});

t.test('keeps the order and sizes of indexed files', async (t) => {
  const { index, write, store, remaining } = createIndex(t.testdir(), 12);
  await store(...numbered(1, 9));
  await write('unknown', { age: 1_000 });
  await write('1', { bytes: 9 * block });
  await index.scan();
  t.equal(index.bytes, 10 * block);
  await store(...numbered(11, 13));
  await index.close();
  t.same(remaining([...numbered(1, 13), 'unknown']), [
    ...numbered(4, 9),
    ...numbered(11, 13),
    'unknown',
  ]);
});

t.test('neither counts nor changes foreign files', async (t) => {
  const folder = t.testdir({ files: { 'readme.txt': 'x', ab: { 'notes.txt': 'x' } } });
  const { index, write } = createIndex(folder, 1);
  const key = toKey('a');
  const deep = dirname(cacheFilePath(folder, key));
  await write('a');
  await writeFile(join(deep, 'foreign'), Buffer.alloc(50_000));
  await writeFile(join(deep, `${key}.bak`), Buffer.alloc(50_000));
  await writeFile(join(deep, toKey('of another folder')), Buffer.alloc(50_000));
  const folderLikeAKey = `${'0'.repeat(32)}-0--${'0'.repeat(30)}${key.slice(-2)}`;
  await mkdir(join(deep, folderLikeAKey));
  const linkLikeAKey = `${'1'.repeat(62)}${key.slice(-2)}`;
  await symlink(join(deep, 'foreign'), join(deep, linkLikeAKey));
  const before = (await readdir(folder, { recursive: true })).sort();

  await index.scan();
  await index.close();
  t.same([index.count, index.bytes], [1, block]);
  t.same((await readdir(folder, { recursive: true })).sort(), before);
});

t.test('treats a missing folder as an empty cache', async (t) => {
  const { index } = createIndex(join(t.testdir(), 'none'), 10);
  await index.scan();
  t.same([index.count, index.bytes], [0, 0]);
  await index.prepare();
});

t.test('ends early when the index closes', async (t) => {
  const { index, write } = createIndex(t.testdir(), 1_000);
  for (const name of numbered(1, 60)) await write(name);
  const scan = index.scan();
  await index.close();
  await scan;
  t.ok(index.count < 60);
});

t.test('forgets the files that were removed by hand', async (t) => {
  const { index, store, exists } = createIndex(t.testdir(), 100);
  await store(...numbered(1, 40));
  for (const name of numbered(1, 30)) await rm(toPath(t.testdirName, name));
  await index.removed(toKey('new'));
  t.equal(index.count, 40, 'a miss does not start a comparison');
  await index.removed(toKey('7'));
  await index.scan();
  t.same([index.count, index.bytes], [10, 10 * block], 'unread ones too');
  t.ok(numbered(31, 40).every(exists));
});

t.test('forgets the other missing files when it deletes one to make room', async (t) => {
  const { index, store } = createIndex(t.testdir(), 20);
  await store(...numbered(1, 20));
  for (const name of numbered(1, 10)) await rm(toPath(t.testdirName, name));
  await store('21');
  await index.settled;
  await index.scan();
  t.equal(index.count, 11);
});

t.test('keeps its list if a folder cannot be read', async (t) => {
  const folder = t.testdir();
  const { index, store } = createIndex(folder, 100);
  await store('1');
  const path = dirname(toPath(folder, '1'));
  await rm(path, { recursive: true });
  await writeFile(path, 'not a folder');
  await index.scan();
  t.equal(index.count, 1);
});
