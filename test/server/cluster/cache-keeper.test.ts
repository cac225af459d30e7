import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import t from 'tap';
import { cacheFilePath, cacheTemporaryFolder } from '../../../pool/cache/disk.ts';
import { CacheKeeper } from '../../../server/cluster/cache-keeper.ts';
import { keyOf } from '../../pool/cache/pictures.ts';

const block = 4_096;

/** A folder with a keeper of so many blocks, and ways to see what is there. */
function kept(folder: string, blocks: number) {
  const troubles: Error[] = [];
  const keeper = new CacheKeeper(folder, blocks * block, (error) => troubles.push(error));
  const there = (name: string) => existsSync(cacheFilePath(folder, keyOf(name)));
  return {
    keeper,
    troubles,
    there,
    /** Those of the names that have a file. */
    remaining: (names: readonly string[]) => names.filter(there),
    /** Puts a file where a front end would; its age in seconds. */
    async put(name: string, { bytes = block, age = 0 } = {}): Promise<void> {
      const path = cacheFilePath(folder, keyOf(name));
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, Buffer.alloc(bytes));
      const then = Date.now() / 1_000 - age;
      await utimes(path, then, then);
    },
  };
}

const numbered = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, i) => String(from + i));

t.test(
  'the folder stays below its limit, and clearing goes down to a low-water mark',
  async (t) => {
    const { keeper, put, remaining, troubles } = kept(t.testdir(), 20);
    for (const name of numbered(1, 20)) {
      await put(name);
      keeper.stored(keyOf(name), block);
    }
    t.equal(keeper.count, 20);
    t.equal(keeper.bytes, 20 * block, 'just full is not too full');
    await put('21');
    keeper.stored(keyOf('21'), block);
    await keeper.close();
    t.equal(keeper.bytes, 18 * block);
    t.same(remaining(numbered(1, 21)), numbered(4, 21), 'the oldest are gone from the disk');
    t.same(troubles, []);
  },
);

t.test('what is used goes later than what is not', async (t) => {
  const { keeper, put, remaining } = kept(t.testdir(), 10);
  for (const name of numbered(1, 10)) {
    await put(name);
    keeper.stored(keyOf(name), block);
  }
  for (const name of ['1', '3', 'never heard of']) keeper.used(keyOf(name));
  await put('11');
  keeper.stored(keyOf('11'), block);
  await keeper.close();
  t.same(remaining(numbered(1, 11)), ['1', '3', ...numbered(5, 11)]);
});

t.test('files count by the blocks that they occupy', async (t) => {
  const { keeper } = kept(t.testdir(), 10);
  keeper.stored(keyOf('a'), 1);
  t.equal(keeper.bytes, block);
  keeper.stored(keyOf('a'), block + 1);
  t.equal(keeper.bytes, 2 * block, 'written again counts once');
  keeper.stored(keyOf('b'), block);
  keeper.removed(keyOf('a'));
  keeper.removed(keyOf('a'));
  t.same([keeper.bytes, keeper.count], [block, 1]);
});

t.test('a file above the whole limit does not stay, whatever else there is', async (t) => {
  const { keeper, put, there } = kept(t.testdir(), 2);
  await put('big', { bytes: 3 * block });
  keeper.stored(keyOf('big'), 3 * block);
  await keeper.close();
  t.notOk(there('big'));
  t.equal(keeper.bytes, 0);
});

t.test('after a start the files there are count, the oldest to go first', async (t) => {
  const folder = t.testdir();
  const before = kept(folder, 100);
  for (const name of numbered(1, 12)) await before.put(name, { age: 1_000 - Number(name) });
  const { keeper, remaining } = kept(folder, 10);
  await keeper.scan();
  await keeper.close();
  t.same(remaining(numbered(1, 12)), numbered(4, 12));
  t.equal(keeper.bytes, 9 * block);
});

t.test('what is written and used while the scan runs is newer than all it finds', async (t) => {
  const folder = t.testdir();
  const { keeper, put, remaining } = kept(folder, 12);
  for (const name of numbered(1, 10)) await put(name, { age: 1_000 - Number(name) });
  const scan = keeper.scan();
  keeper.used(keyOf('1'));
  for (const name of ['11', '12']) {
    await put(name);
    keeper.stored(keyOf(name), block);
  }
  await scan;
  t.equal(keeper.count, 12, 'each counts once');
  await put('13');
  keeper.stored(keyOf('13'), block);
  await keeper.close();
  t.same(remaining(numbered(1, 13)), ['1', ...numbered(5, 13)]);
});

t.test('what is removed while the scan runs does not come back', async (t) => {
  const folder = t.testdir();
  const { keeper, put } = kept(folder, 200);
  for (const name of numbered(1, 100)) await put(name);
  const scan = keeper.scan();
  for (const name of numbered(1, 100)) {
    await rm(cacheFilePath(folder, keyOf(name)));
    keeper.removed(keyOf(name));
  }
  await scan;
  t.same([keeper.count, keeper.bytes], [0, 0]);
});

t.test('the limit holds while the scan runs, too', async (t) => {
  const folder = t.testdir();
  const { keeper, put, remaining } = kept(folder, 10);
  for (const name of numbered(1, 10)) await put(name, { age: 1_000 });
  const scan = keeper.scan();
  for (const name of numbered(11, 31)) {
    await put(name);
    keeper.stored(keyOf(name), block);
  }
  await scan;
  await keeper.close();
  const left = remaining(numbered(1, 31));
  t.equal(left.length * block, keeper.bytes, 'the index is what is on the disk');
  t.ok(keeper.bytes <= 10 * block);
  t.ok(left.includes('31'));
});

t.test('files of others are not counted and not touched', async (t) => {
  const folder = t.testdir({ files: { 'readme.txt': 'x', ab: { 'notes.txt': 'x' } } });
  const { keeper, put } = kept(folder, 1);
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

  await keeper.scan();
  await keeper.close();
  t.same([keeper.count, keeper.bytes], [1, block]);
  t.same((await readdir(folder, { recursive: true })).sort(), before);
});

t.test('torn temporary files go before the start, finished ones stay', async (t) => {
  const folder = t.testdir({ tmp: { torn: 'x', deep: { torn: 'x' } } });
  const { keeper, put, there } = kept(folder, 10);
  await put('a');
  await keeper.prepare();
  t.same(await readdir(cacheTemporaryFolder(folder)), []);
  t.ok(there('a'));
  await keeper.prepare();
});

t.test('a cache that is not there yet is an empty one', async (t) => {
  const { keeper } = kept(join(t.testdir(), 'none'), 10);
  await keeper.scan();
  t.same([keeper.count, keeper.bytes], [0, 0]);
  await keeper.prepare();
});

t.test('a file that was written again since it was chosen to go stays', async (t) => {
  const { keeper, put, there } = kept(t.testdir(), 4);
  for (const name of numbered(1, 4)) {
    await put(name);
    keeper.stored(keyOf(name), block);
  }
  keeper.stored(keyOf('5'), block);
  keeper.stored(keyOf('1'), block);
  await keeper.close();
  t.ok(there('1'), 'in the index again before the deletion came to it');
});

t.test('what cannot be deleted is trouble to tell of, and no more', async (t) => {
  const folder = t.testdir();
  const { keeper, put, troubles, there } = kept(folder, 1);
  await mkdir(join(cacheFilePath(folder, keyOf('a')), 'inside'), { recursive: true });
  await put('b');
  for (const name of ['a', 'b']) keeper.stored(keyOf(name), block);
  await put('c');
  keeper.stored(keyOf('c'), block);
  await keeper.close();
  t.equal(troubles.length, 1);
  t.notOk(there('b'), 'the others are deleted all the same');
});

t.test('a scan ends early when the keeper closes', async (t) => {
  const { keeper, put } = kept(t.testdir(), 1_000);
  for (const name of numbered(1, 60)) await put(name);
  const scan = keeper.scan();
  await keeper.close();
  await scan;
  t.ok(keeper.count < 60);
});
