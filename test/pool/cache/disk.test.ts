import { existsSync, watch } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import t from 'tap';
import {
  cacheFilePath,
  cacheTemporaryFolder,
  DiskCache,
  temporaryPrefix,
} from '../../../pool/cache/disk.ts';
import { ImageCaches } from '../../../pool/cache/image-caches.ts';
import { defaultSettings } from '../../settings.ts';
import { until } from '../../until.ts';
import { imageRequest } from '../requests.ts';
import { picture, toKey } from './pictures.ts';

const key = toKey('a');
const image = picture(5_000);

/** Returns a cache in a folder with its events. */
function cacheOn(folder: string) {
  const events: unknown[][] = [];
  const cache = new DiskCache(folder, {
    stored: (...values) => events.push(['stored', ...values]),
    read: (...values) => events.push(['read', ...values]),
    removed: (...values) => events.push(['removed', ...values]),
    failed: ({ message, ...error }) => events.push(['failed', 'code' in error && error.code]),
  });
  const types = () => events.map(([type]) => type);
  return { cache, events, types };
}

t.test('reads the files of other processes', async (t) => {
  const folder = join(t.testdir(), 'not', 'there');
  const { cache, events } = cacheOn(folder);
  t.equal(await cache.read(key), null);
  const missing = ['removed', key, 'missing'];
  t.same(events, [missing]);
  await cache.write(key, image);
  const { length } = await readFile(cacheFilePath(folder, key));
  t.same(events, [missing, ['stored', key, length]]);

  const other = cacheOn(folder);
  t.same(await other.cache.read(key), image);
  t.same(other.events, [['read', key]]);
  t.same(await readdir(cacheTemporaryFolder(folder)), [], 'no temporary files remain');
  await other.cache.write(key, picture(7, 'b'));
  t.same(await cache.read(key), picture(7, 'b'), 'a second write replaces the first');

  await rm(folder, { recursive: true });
  t.equal(await cache.read(key), null);
  await cache.write(key, image);
  t.same(await cache.read(key), image, 'missing folders are created');
});

t.test('starts a temporary file name with the process id', async (t) => {
  const folder = t.testdir({ tmp: {} });
  const temporary = cacheTemporaryFolder(folder);
  const names = new Set<string | null>();
  const watcher = watch(temporary, (_, name) => names.add(name));
  const writers = [cacheOn(folder), cacheOn(folder)].map(({ cache }) => cache);
  await Promise.all(
    writers.flatMap((cache) => ['a', 'b'].map((name) => cache.write(toKey(name), image))),
  );
  await until('all are noticed', () => names.size === 4);
  watcher.close();
  for (const name of names) t.ok(name?.startsWith(temporaryPrefix(process.pid)), `${name}`);
  t.same(await readdir(temporary), []);
});

t.test('treats a damaged file as a miss, reports it, removes it and writes it again', async (t) => {
  const folder = t.testdir();
  const path = cacheFilePath(folder, key);
  const { cache, types } = cacheOn(folder);
  await cache.write(key, image);
  await truncate(path, 4_000);
  t.equal(await cache.read(key), null);
  t.notOk(existsSync(path));
  await cache.write(key, image);
  t.same(await cache.read(key), image);
  t.same(types(), ['stored', 'removed', 'stored', 'read']);
});

t.test(
  'treats a file in place of a folder, or a folder in place of a file, as a miss',
  async (t) => {
    for (const blocked of ['files', 'tmp', '.', 'the file']) {
      const folder = join(t.testdir(), 'cache');
      if (blocked === 'the file') await mkdir(cacheFilePath(folder, key), { recursive: true });
      else {
        const path = join(folder, blocked);
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, 'a file');
      }
      const { cache, types } = cacheOn(folder);
      await cache.write(key, image);
      t.equal(await cache.read(key), null, blocked);
      const problems = types().filter((type) => type !== 'removed');
      t.same([...new Set(problems)], ['failed'], blocked);
      if (blocked === 'the file') t.same(await readdir(cacheTemporaryFolder(folder)), []);
    }
  },
);

t.test(
  'still reads from a read-only folder',
  { skip: process.getuid?.() === 0 && 'nothing is read-only for root' },
  async (t) => {
    const folder = t.testdir();
    await cacheOn(folder).cache.write(key, image);
    const folders = [dirname(cacheFilePath(folder, key)), cacheTemporaryFolder(folder)];
    for (const readOnlyFolder of folders) await chmod(readOnlyFolder, 0o500);
    const { cache, events } = cacheOn(folder);
    t.same(await cache.read(key), image);
    await cache.write(toKey('b'), image);
    for (const writableFolder of folders) await chmod(writableFolder, 0o700);
    t.equal(await cache.read(toKey('b')), null);
    t.match(events, [
      ['read', key],
      ['failed', 'EACCES'],
      ['removed', toKey('b'), 'missing'],
    ]);
  },
);

t.test('returns only whole images to concurrent readers and writers of a key', async (t) => {
  const folder = t.testdir();
  const { cache, types } = cacheOn(folder);
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
  t.same([...new Set(types())].sort(), ['read', 'stored']);
});

t.test('skips writes above the limit of concurrent writes', async (t) => {
  const { cache, events } = cacheOn(t.testdir());
  const keys = Array.from({ length: 300 }, (_, i) => toKey(String(i)));
  await Promise.all(keys.map((cacheKey) => cache.write(cacheKey, image)));
  t.ok(events.length >= 10 && events.length <= 100, `${events.length} were written`);
  await cache.write(key, image);
  t.same(await cache.read(key), image, 'later ones are written');
});

t.test('drops an image if a purge arrives during its render', async (t) => {
  const events: unknown[][] = [];
  const caches = new ImageCaches(
    { ...defaultSettings, dataDir: t.testdir() },
    {
      disk: {
        stored: (...values) => events.push(['stored', ...values]),
        read() {},
        removed() {},
        failed() {},
      },
      onSharedCacheChange() {},
      deploymentSecret: async () => null,
      onMemoryHit() {},
      now: () => 1,
    },
    () => [],
  );
  const purged = imageRequest({ key, generation: { number: 0, isCurrent: () => false } });
  const kept = caches.keep(purged, image, 'miss');
  t.equal(kept.entry, null);
  await caches.write(purged, kept);
  t.same(events, []);
  const current = imageRequest({ key });
  t.ok(caches.keep(current, image, 'miss').entry);
  await caches.write(current, kept);
  t.match(events, [['stored', key]]);
});
