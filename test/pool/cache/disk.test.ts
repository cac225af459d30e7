import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import t from 'tap';
import { cacheFilePath, cacheTemporaryFolder, DiskCache } from '../../../pool/cache/disk.ts';
import { keyOf, picture } from './pictures.ts';

const key = keyOf('a');
const image = picture(5_000);

/** A cache in a folder, and its events. */
function cacheOn(folder: string) {
  const news: unknown[][] = [];
  const writes: string[][] = [];
  const cache = new DiskCache(folder, {
    writing: (...told) => writes.push(['writing', ...told]),
    written: (...told) => writes.push(['written', ...told]),
    stored: (...told) => news.push(['stored', ...told]),
    read: (...told) => news.push(['read', ...told]),
    removed: (...told) => news.push(['removed', ...told]),
    failed: ({ message, ...error }) => news.push(['failed', 'code' in error && error.code]),
  });
  return { cache, news, writes };
}

t.test('one process reads the files of another', async (t) => {
  const folder = t.testdir();
  const { cache, news } = cacheOn(folder);
  t.equal(await cache.read(key), null);
  t.same(news, [], 'a miss is not reported');
  await cache.write(key, image);
  const { length } = await readFile(cacheFilePath(folder, key));
  t.same(news, [['stored', key, length]]);

  const other = cacheOn(folder);
  t.same(await other.cache.read(key), image);
  t.same(other.news, [['read', key]]);
  t.same(await readdir(cacheTemporaryFolder(folder)), [], 'no temporary files remain');
});

t.test('each write is reported before and after, also when it fails', async (t) => {
  const folder = t.testdir();
  const { cache, writes, news } = cacheOn(folder);
  await cache.write(key, image);
  const name = writes[0]?.[1] ?? '';
  t.same(writes, [
    ['writing', name, key],
    ['written', name],
  ]);
  await rm(folder, { recursive: true });
  await writeFile(folder, '');
  await cache.write(key, image);
  t.equal(news.at(-1)?.[0], 'failed');
  const next = writes[2]?.[1] ?? '';
  t.not(next, name);
  t.same(writes.slice(2), [
    ['writing', next, key],
    ['written', next],
  ]);
  await rm(folder);
});

t.test('a second write replaces the first', async (t) => {
  const { cache } = cacheOn(t.testdir());
  await cache.write(key, image);
  await cache.write(key, picture(7, 'b'));
  t.same(await cache.read(key), picture(7, 'b'));
});

t.test('a damaged file is a miss, and is reported and removed', async (t) => {
  const folder = t.testdir();
  const path = cacheFilePath(folder, key);
  const whole = cacheOn(folder);
  await whole.cache.write(key, image);
  const file = await readFile(path);
  const flipped = Buffer.from(file);
  flipped.writeUInt8(flipped.readUInt8(4_000) ^ 1, 4_000);
  await whole.cache.write(keyOf('b'), picture(9, 'b'));

  const damaged: Record<string, Buffer> = {
    empty: Buffer.alloc(0),
    'cut in its fixed part': file.subarray(0, 20),
    'cut in its head': file.subarray(0, 100),
    'cut in its body': file.subarray(0, 4_000),
    'cut by a byte': file.subarray(0, -1),
    'longer by a byte': Buffer.concat([file, Buffer.alloc(1)]),
    flipped,
    garbage: Buffer.from('<html>'.repeat(2_000)),
    'the file of another key': await readFile(cacheFilePath(folder, keyOf('b'))),
  };
  for (const [how, bytes] of Object.entries(damaged)) {
    await writeFile(path, bytes);
    const { cache, news } = cacheOn(folder);
    t.equal(await cache.read(key), null, how);
    t.same(news, [['removed', key]]);
    t.notOk(existsSync(path));
    await cache.write(key, image);
    t.same(await cache.read(key), image, 'and is written again');
  }
});

t.test('missing folders are created, also after the cache was emptied', async (t) => {
  const folder = join(t.testdir(), 'not', 'there');
  const { cache, news } = cacheOn(folder);
  await cache.write(key, image);
  t.same(await cache.read(key), image);
  await rm(folder, { recursive: true });
  t.equal(await cache.read(key), null);
  await cache.write(key, image);
  t.same(await cache.read(key), image);
  t.same(
    news.map(([type]) => type),
    ['stored', 'read', 'stored', 'read'],
  );
});

t.test('a file in place of a folder only costs hits', async (t) => {
  for (const blocked of ['files', 'tmp', '.']) {
    const folder = join(t.testdir(), 'cache');
    const path = join(folder, blocked);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, 'a file');
    const { cache, news } = cacheOn(folder);
    await cache.write(key, image);
    t.equal(await cache.read(key), null, blocked);
    t.ok(news.length > 0);
    for (const [type] of news) t.equal(type, 'failed', blocked);
  }
});

t.test('a folder in place of a file only costs hits and leaves no temporary files', async (t) => {
  const folder = t.testdir();
  await mkdir(cacheFilePath(folder, key), { recursive: true });
  const { cache, news } = cacheOn(folder);
  t.equal(await cache.read(key), null);
  await cache.write(key, image);
  t.same(
    news.map(([type]) => type),
    ['failed', 'failed'],
  );
  t.same(await readdir(cacheTemporaryFolder(folder)), []);
});

t.test(
  'a read-only folder only costs hits',
  {
    skip: process.getuid?.() === 0 && 'nothing is read-only for root',
  },
  async (t) => {
    const folder = t.testdir();
    await cacheOn(folder).cache.write(key, image);
    const folders = [dirname(cacheFilePath(folder, key)), cacheTemporaryFolder(folder)];
    for (const one of folders) await chmod(one, 0o500);
    const { cache, news } = cacheOn(folder);
    t.same(await cache.read(key), image);
    await cache.write(keyOf('b'), image);
    for (const one of folders) await chmod(one, 0o700);
    t.equal(await cache.read(keyOf('b')), null);
    t.match(news, [
      ['read', key],
      ['failed', 'EACCES'],
    ]);
  },
);

t.test('concurrent writers and readers of a key only see whole images', async (t) => {
  const folder = t.testdir();
  const { cache, news } = cacheOn(folder);
  const images = ['a', 'b', 'c'].map((name) => picture(200_000, name));
  const etags = new Set(images.map(({ etag }) => etag));
  await cache.write(key, picture(200_000, 'a'));
  await Promise.all(
    Array.from({ length: 30 }, async (_, turn) => {
      const image = images[turn % images.length];
      if (image !== undefined) await cache.write(key, image);
      const found = await cache.read(key);
      if (found === null || !etags.has(found.etag)) t.fail('a reader saw a partial image');
    }),
  );
  t.notOk(news.some(([type]) => type === 'removed' || type === 'failed'));
});

t.test('too many concurrent writes are skipped', async (t) => {
  const { cache, news } = cacheOn(t.testdir());
  const keys = Array.from({ length: 300 }, (_, i) => keyOf(String(i)));
  await Promise.all(keys.map((one) => cache.write(one, image)));
  t.ok(news.length >= 10 && news.length <= 100, `${news.length} were written`);
  await cache.write(key, image);
  t.same(await cache.read(key), image, 'later ones are written');
});
