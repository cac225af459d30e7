import { pino } from 'pino';
import t from 'tap';
import { DiskSpace } from '../../../server/cluster/disk-space.ts';
import { block, createIndex, numbered } from './index-folder.ts';

/** Starts a cache of ten images on a disk of 1,000 blocks, some of them free. */
async function startDisk(t: { testdir(): string }, reserveBytes: number | null) {
  const { index, store, remaining } = createIndex(t.testdir(), 100);
  await store(...numbered(1, 10));
  const lines: string[] = [];
  const disk = { freeForAll: 0, inodes: { total: 0, free: 1_000 } };
  const space = new DiskSpace({
    folder: '/',
    reserveBytes,
    index,
    log: pino({}, { write: (line: string) => void lines.push(JSON.parse(line).msg) }),
    measure: async () => ({
      bytes: { total: 1_000 * block, free: disk.freeForAll - index.bytes },
      inodes: { total: disk.inodes.total, free: disk.inodes.free - index.count },
    }),
  });
  return { space, disk, lines, remaining: () => remaining(numbered(1, 10)) };
}

t.test('deletes the oldest images until the reserve is free', async (t) => {
  const { space, disk, remaining, lines } = await startDisk(t, 20 * block);
  disk.freeForAll = 30 * block;
  await space.check();
  t.same(remaining(), numbered(1, 10), 'the reserve is free');
  disk.freeForAll = 26 * block;
  await space.check();
  t.same(remaining(), numbered(5, 10));
  t.equal(space.shortage, null);
  t.same(lines, []);
});

t.test('logs once when the disk fills up, and once when it has space again', async (t) => {
  const { space, disk, remaining, lines } = await startDisk(t, 20 * block);
  disk.freeForAll = 9 * block;
  await space.check();
  await space.check();
  t.same(remaining(), []);
  t.equal(space.shortage, 'bytes');
  disk.freeForAll = 20 * block;
  await space.check();
  t.equal(space.shortage, null);
  t.same(lines, ['disk full; not storing images', 'disk space available again']);
});

t.test('reserves 5% of the disk by default', async (t) => {
  const { space, disk, remaining } = await startDisk(t, null);
  disk.freeForAll = 55 * block;
  await space.check();
  t.same(remaining(), numbered(6, 10));
});

t.test('deletes the oldest images until 5% of the inodes are free', async (t) => {
  const { space, disk, remaining, lines } = await startDisk(t, 0);
  disk.freeForAll = 1_000 * block;
  disk.inodes = { total: 100, free: 11 };
  await space.check();
  t.same(remaining(), numbered(5, 10));
  t.equal(space.shortage, null);
  disk.inodes = { total: 100, free: 2 };
  await space.check();
  t.same(remaining(), []);
  t.equal(space.shortage, 'inodes');
  t.same(lines, ['disk full; not storing images']);
});
