import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { cacheFilePath, cacheTemporaryFolder } from '../../../pool/cache/disk.ts';
import { keyOf } from '../../pool/cache/pictures.ts';
import { block, kept, numbered } from './kept.ts';

t.test('the folder stays below its limit, and is cleared to a low-water mark', async (t) => {
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
});

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

t.test('torn temporary files go before the start, finished ones stay', async (t) => {
  const folder = t.testdir({ tmp: { torn: 'x', deep: { torn: 'x' } } });
  const { keeper, put, there } = kept(folder, 10);
  await put('a');
  await keeper.prepare();
  t.same(await readdir(cacheTemporaryFolder(folder)), []);
  t.ok(there('a'));
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
