import { pino } from 'pino';
import t from 'tap';
import { DiskSpace } from '../../../server/cluster/disk-space.ts';
import { block, createIndex, numbered } from './index-folder.ts';

/** Starts a cache of ten images on a disk of 1,000 blocks, some of them free. */
async function startDisk(t: { testdir(): string }, reserveBytes: number | null) {
  const { index, store, remaining } = createIndex(t.testdir(), 100);
  await store(...numbered(1, 10));
  const lines: string[] = [];
  const disk = { freeForAll: 0 };
  const space = new DiskSpace({
    folder: '/',
    reserveBytes,
    index,
    log: pino({}, { write: (line: string) => void lines.push(JSON.parse(line).msg) }),
    measure: async () => ({
      totalBytes: 1_000 * block,
      freeBytes: disk.freeForAll - index.bytes,
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
  t.notOk(space.isLow);
  t.same(lines, []);
});

t.test('logs once when the disk fills up, and once when it has space again', async (t) => {
  const { space, disk, remaining, lines } = await startDisk(t, 20 * block);
  disk.freeForAll = 9 * block;
  await space.check();
  await space.check();
  t.same(remaining(), []);
  t.ok(space.isLow);
  disk.freeForAll = 20 * block;
  await space.check();
  t.notOk(space.isLow);
  t.same(lines, ['disk full; not storing images', 'disk space available again']);
});

t.test('reserves 5% of the disk by default', async (t) => {
  const { space, disk, remaining } = await startDisk(t, null);
  disk.freeForAll = 55 * block;
  await space.check();
  t.same(remaining(), numbered(6, 10));
});
