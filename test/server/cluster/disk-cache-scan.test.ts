import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import t from 'tap';
import { cacheFilePath } from '../../../pool/cache/disk.ts';
import { keyOf } from '../../pool/cache/pictures.ts';
import { block, kept, numbered } from './index-folder.ts';

t.test('after a start the existing files count, in the order of their age', async (t) => {
  const folder = t.testdir();
  const before = kept(folder, 100);
  for (const name of numbered(1, 12)) await before.put(name, { age: 1_000 - Number(name) });
  const { index, remaining } = kept(folder, 10);
  await index.scan();
  await index.close();
  t.same(remaining(numbered(1, 12)), numbered(4, 12));
  t.equal(index.bytes, 9 * block);
});

t.test('files of an earlier version are moved', async (t) => {
  const folder = t.testdir();
  const { index, put, there, troubles } = kept(folder, 10);
  await put('new');
  const key = keyOf('old');
  const former = join(folder, 'files', key.slice(0, 2), key.slice(2, 4), key);
  await mkdir(dirname(former), { recursive: true });
  await writeFile(former, Buffer.alloc(block));
  await index.scan();
  await index.close();
  t.same([there('old'), there('new'), index.count], [true, true, 2]);
  t.notOk(existsSync(former));
  t.same(troubles, []);
});

t.test('files that are written or used during the scan are newer than its results', async (t) => {
  const folder = t.testdir();
  const { index, put, remaining } = kept(folder, 12);
  for (const name of numbered(1, 10)) await put(name, { age: 1_000 - Number(name) });
  const scan = index.scan();
  index.used(keyOf('1'));
  for (const name of ['11', '12']) {
    await put(name);
    index.stored(keyOf(name), block);
  }
  await scan;
  t.equal(index.count, 12, 'each counts once');
  await put('13');
  index.stored(keyOf('13'), block);
  await index.close();
  t.same(remaining(numbered(1, 13)), ['1', ...numbered(5, 13)]);
});

t.test('files that are removed during the scan stay removed', async (t) => {
  const folder = t.testdir();
  const { index, put } = kept(folder, 200);
  for (const name of numbered(1, 100)) await put(name);
  const scan = index.scan();
  for (const name of numbered(1, 100)) {
    await rm(cacheFilePath(folder, keyOf(name)));
    await index.removed(keyOf(name));
  }
  await scan;
  t.same([index.count, index.bytes], [0, 0]);
});

t.test('the limit holds during the scan', async (t) => {
  const folder = t.testdir();
  const { index, put, remaining } = kept(folder, 10);
  for (const name of numbered(1, 10)) await put(name, { age: 1_000 });
  const scan = index.scan();
  for (const name of numbered(11, 31)) {
    await put(name);
    index.stored(keyOf(name), block);
  }
  await scan;
  await index.close();
  const left = remaining(numbered(1, 31));
  t.equal(left.length * block, index.bytes, 'the index matches the disk');
  t.ok(index.bytes <= 10 * block);
  t.ok(left.includes('31'));
});

t.test('foreign files are neither counted nor changed', async (t) => {
  const folder = t.testdir({ files: { 'readme.txt': 'x', ab: { 'notes.txt': 'x' } } });
  const { index, put } = kept(folder, 1);
  const key = keyOf('a');
  const deep = dirname(cacheFilePath(folder, key));
  await put('a');
  await writeFile(join(deep, 'foreign'), Buffer.alloc(50_000));
  await writeFile(join(deep, `${key}.bak`), Buffer.alloc(50_000));
  await writeFile(join(deep, keyOf('of another folder')), Buffer.alloc(50_000));
  const folderLikeAKey = `${key.slice(0, 4)}${'0'.repeat(60)}`;
  await mkdir(join(deep, folderLikeAKey));
  const linkLikeAKey = `${key.slice(0, 4)}${'1'.repeat(60)}`;
  await symlink(join(deep, 'foreign'), join(deep, linkLikeAKey));
  const before = (await readdir(folder, { recursive: true })).sort();

  await index.scan();
  await index.close();
  t.same([index.count, index.bytes], [1, block]);
  t.same((await readdir(folder, { recursive: true })).sort(), before);
});

t.test('a missing folder is an empty cache', async (t) => {
  const { index } = kept(join(t.testdir(), 'none'), 10);
  await index.scan();
  t.same([index.count, index.bytes], [0, 0]);
  await index.prepare();
});

t.test('a scan ends early when the index is closed', async (t) => {
  const { index, put } = kept(t.testdir(), 1_000);
  for (const name of numbered(1, 60)) await put(name);
  const scan = index.scan();
  await index.close();
  await scan;
  t.ok(index.count < 60);
});
