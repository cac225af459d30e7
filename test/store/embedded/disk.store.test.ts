import { execFileSync, spawnSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import t, { type Test } from 'tap';
import { startEmbeddedStore } from '../../../store/embedded/server.ts';
import { startOwner } from './children.ts';
import type { Item } from './collection.ts';
import { shortFolder, withStore } from './stores.ts';

t.test('fails a write that does not fit on the disk, and changes nothing', async (t) => {
  const folder = shortFolder(t);
  // The shell's file size limit, in 512-byte blocks, stands for a full disk.
  const limited = ['sh', '-c', 'ulimit -f 2000; exec "$@"', 'sh'];
  const owner = startOwner(t, [folder], limited);
  const client = await MongoClient.connect(await owner.nextLine());
  const items = client.db('a').collection<Item>('items');
  await items.createIndex({ text: 1 });
  const text = 'x'.repeat(1000);
  let acknowledged = 0;
  let failure: unknown;
  while (failure === undefined && acknowledged < 10_000) {
    failure = await items.insertOne({ _id: acknowledged, text }).then(
      () => undefined,
      (error) => error,
    );
    if (failure === undefined) acknowledged += 1;
  }
  t.match(failure, { code: 14031, message: /^there is no space for the write on the disk/ });
  t.equal(await items.countDocuments(), acknowledged, 'memory has the same documents as the disk');
  t.equal(await items.countDocuments({ text }), acknowledged, 'also by the index');
  t.equal(await items.countDocuments({ _id: acknowledged }), 0);
  const [update, read, ...pings] = await Promise.allSettled([
    items.updateOne({ _id: 0 }, { $set: { text: 'y'.repeat(2_000_000) } }),
    items.findOne({ _id: 0 }),
    ...Array.from({ length: 20 }, () => client.db('admin').command({ ping: 1 })),
  ]);
  t.equal(update.status, 'rejected');
  t.ok(
    pings.every(({ status }) => status === 'fulfilled'),
    'a driver does not lose the server',
  );
  t.match(read, { status: 'fulfilled', value: { text } });
  t.match(await items.findOne({ _id: 0 }), { text });
  await client.close();
  owner.process.stdin?.end();
  await owner.exited;

  await withStore(folder, async (stored) => {
    t.equal(await stored.countDocuments(), acknowledged);
    await t.resolves(stored.insertOne({ _id: acknowledged, text }), 'with space again');
  });
});

/** Mounts a small file system, which ends with the test. */
function mountSmall(t: Test, options: string): string {
  const folder = shortFolder(t);
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]);
  t.teardown(() => execFileSync('umount', ['-l', folder]));
  return folder;
}

function cannotMount(): string | false {
  const script = 'd=$(mktemp -d) && mount -t tmpfs tmpfs "$d" && umount "$d"; rmdir "$d"';
  const { status } = spawnSync('sh', ['-ec', script], { stdio: 'ignore' });
  return status === 0 ? false : 'this user cannot mount file systems';
}
const skip = cannotMount();

t.test(
  'starts on a full disk, answers reads, and writes again when there is space',
  { skip },
  async (t) => {
    const folder = mountSmall(t, 'size=4m');
    const data = join(folder, 'data');
    await withStore(data, (items) => items.insertOne({ _id: 1, text: 'x' }));
    const filler = join(folder, 'filler');
    await writeFile(filler, Buffer.alloc(8_000_000)).catch(() => {});
    await withStore(data, async (items) => {
      t.equal(await items.countDocuments(), 1);
      const full = { code: 14031, message: /^there is no space for the write on the disk/ };
      await t.rejects(items.insertOne({ _id: 2, text: 'x'.repeat(100_000) }), full);
      t.equal(await items.countDocuments(), 1);
      await rm(filler);
      await items.insertOne({ _id: 3, text: 'x' });
    });
    t.equal(await withStore(data, (items) => items.countDocuments()), 2);
    const empty = join(folder, 'empty');
    await writeFile(filler, Buffer.alloc(8_000_000)).catch(() => {});
    await t.rejects(startEmbeddedStore(empty), { code: 'ENOSPC' }, 'a new store does not fit');
  },
);

t.test('rejects a read-only file system, and changes nothing', { skip }, async (t) => {
  const folder = mountSmall(t, 'size=4m');
  const data = join(folder, 'data');
  await withStore(data, (items) => items.insertOne({ _id: 1, text: 'x' }));
  execFileSync('mount', ['-o', 'remount,ro', folder]);
  await t.rejects(startEmbeddedStore(data), { code: 'EROFS' });
  execFileSync('mount', ['-o', 'remount,rw', folder]);
  t.equal(await withStore(data, (items) => items.countDocuments()), 1);
});

t.test('works after a kill on a disk without a free inode', { skip }, async (t) => {
  const folder = mountSmall(t, 'size=8m,nr_inodes=40');
  const data = join(folder, 'data');
  const owner = startOwner(t, [data]);
  await owner.nextLine();
  for (let n = 0; ; n += 1) {
    const isFull = await writeFile(join(folder, `${n}`), '').then(
      () => false,
      () => true,
    );
    if (isFull) break;
  }
  owner.process.kill('SIGKILL');
  await owner.exited;
  for (let start = 1; start <= 2; start += 1) {
    const count = await withStore(data, async (items) => {
      // Long enough for a new snapshot, which needs an inode.
      const text = 'x'.repeat(1_100_000);
      await items.insertOne({ _id: 2 * start, text });
      await items.insertOne({ _id: 2 * start + 1, text });
      return items.countDocuments();
    });
    t.equal(count, 2 * start);
  }
});
