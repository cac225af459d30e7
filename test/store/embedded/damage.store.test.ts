import {
  chmod,
  chown,
  copyFile,
  lchown,
  mkdir,
  readdir,
  readFile,
  rm,
  rmdir,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { type Collection, MongoClient } from 'mongodb';
import t from 'tap';
import { privateFolderOf } from '../../../store/embedded/endpoint.ts';
import { dataFileIn, lockFileOf, startEmbeddedStore } from '../../../store/embedded/server.ts';
import { backupOf } from '../../../store/embedded/storage/backup.ts';
import { checkDataFile } from '../../../store/embedded/storage/file-check.ts';
import { restoreBackup } from '../../../store/restore.ts';
import { until } from '../../until.ts';
import { shortFolder } from './folder.ts';

interface Item {
  _id: number;
  text: string;
}

const pageBytes = 4096;
const neverMs = 2 ** 30;
const never = { firstAfterMs: neverMs, everyMs: neverMs };

/** Opens the store, runs an action on its items, and closes it. */
async function withItems<Result>(
  folder: string,
  work: (items: Collection<Item>) => Promise<Result>,
  backupTimes = never,
): Promise<Result> {
  const store = await startEmbeddedStore(folder, { backupTimes });
  const client = await MongoClient.connect(store.url);
  try {
    return await work(client.db('a').collection<Item>('items'));
  } finally {
    await client.close();
    await store.close();
  }
}

/** A folder with a store of 200 items, and its data file. */
async function filled(t: Parameters<typeof shortFolder>[0]) {
  const folder = shortFolder(t);
  const file = dataFileIn(privateFolderOf(folder));
  await withItems(folder, async (items) => {
    const texts = Array.from({ length: 200 }, (_, _id) => 'x'.repeat(_id % 40 === 0 ? 9_000 : 500));
    await Promise.all(texts.map((text, _id) => items.insertOne({ _id, text })));
    // Leaves free pages.
    await items.deleteMany({ _id: 40 });
  });
  return { folder, file, count: 199 };
}

t.test('a damaged data file is refused with the reason, and a backup restores it', async (t) => {
  const { folder, file, count } = await filled(t);
  await t.rejects(restoreBackup(folder), {
    message: /^The backup was not restored: there is no backup/,
  });
  await withItems(
    folder,
    async () => until('a backup is made', () => stat(backupOf(file)).then(Boolean, () => false)),
    { firstAfterMs: 1, everyMs: 20 },
  );
  const whole = await readFile(file);
  const damages: Record<string, () => Promise<unknown>> = {
    'it is empty': () => truncate(file, 0),
    'it is missing': () => rm(file),
    'it ends at byte 100': () => truncate(file, 100),
    'page \\d+ is missing': () => truncate(file, 40 * pageBytes),
    // All pages after the headers are shifted by one.
    'page \\d+ is overwritten': () =>
      writeFile(
        file,
        Buffer.concat([
          whole.subarray(0, 2 * pageBytes),
          whole.subarray(-pageBytes),
          whole.subarray(2 * pageBytes, -pageBytes),
        ]),
      ),
    'it has no valid header': () => writeFile(file, Buffer.alloc(whole.length)),
  };
  for (const [reason, damage] of Object.entries(damages)) {
    await damage();
    const refused = { name: 'DataFileDamaged', file, message: new RegExp(reason) };
    await t.rejects(startEmbeddedStore(folder, { backupTimes: never }), refused, reason);
    const { replaced } = await restoreBackup(folder);
    if (reason === 'it is missing') t.equal(replaced, null);
    else t.ok((await stat(replaced ?? '')).isFile(), 'the damaged file is kept');
    t.equal(await withItems(folder, (items) => items.countDocuments()), count);
  }
});

/** Runs an action as the folder's owner without root's privileges. */
async function withoutPrivilege(folder: string, action: () => Promise<unknown>): Promise<void> {
  if (process.geteuid?.() !== 0) return void (await action());
  const nobody = 65_534;
  const inside = privateFolderOf(folder);
  const files = (await readdir(inside)).map((name) => join(inside, name));
  for (const path of [folder, inside, ...files]) await lchown(path, nobody, nobody);
  process.seteuid?.(nobody);
  try {
    await action();
  } finally {
    process.seteuid?.(0);
  }
}

t.test('a file without write permission is an error before lmdb opens it', async (t) => {
  const { folder, file, count } = await filled(t);
  const lock = lockFileOf(file);
  for (const path of [file, lock]) {
    await chmod(path, 0o444);
    await withoutPrivilege(folder, () =>
      t.rejects(startEmbeddedStore(folder, { backupTimes: never }), { code: 'EACCES', path }),
    );
    await chmod(path, 0o644);
  }
  await rm(lock);
  await mkdir(lock);
  await t.rejects(startEmbeddedStore(folder), { code: 'EISDIR', path: lock });
  await rmdir(lock);
  t.equal(await withItems(folder, (items) => items.countDocuments()), count);
});

t.test('a restored file keeps owner and mode; a failed restore changes nothing', async (t) => {
  const { folder, file } = await filled(t);
  const backup = backupOf(file);
  await copyFile(file, backup);
  const { ino } = await stat(file);
  const lock = lockFileOf(file);
  await rm(lock);
  await mkdir(lock);
  await t.rejects(restoreBackup(folder), { cause: { code: 'EISDIR', path: lock } });
  await rmdir(lock);
  await chmod(backup, 0);
  await withoutPrivilege(folder, () =>
    t.rejects(restoreBackup(folder), { cause: { code: 'EACCES', path: backup } }),
  );
  await chmod(backup, 0o600);
  t.equal((await stat(file)).ino, ino, 'the data file is unchanged');
  const names = await readdir(privateFolderOf(folder));
  t.same(
    names.filter((name) => name.startsWith('documents')),
    ['documents.backup.lmdb', 'documents.lmdb'],
  );

  await chmod(file, 0o640);
  if (process.geteuid?.() === 0) await chown(file, 1_234, 5_678);
  const { uid, gid, mode } = await stat(file);
  const { replaced } = await restoreBackup(folder);
  t.equal((await stat(replaced ?? '')).ino, ino);
  t.match(await stat(file), { uid, gid, mode });
});

t.test('with any overwritten page the store opens with all documents or is refused', async (t) => {
  const { folder, file, count } = await filled(t);
  const whole = await readFile(file);
  const isRefused = () => {
    try {
      checkDataFile(file);
      return false;
    } catch {
      return true;
    }
  };
  t.notOk(isRefused());
  const unseen: Buffer[] = [];
  let refused = 0;
  for (let at = 0; at < whole.length; at += pageBytes) {
    const used = whole.subarray(at, at + pageBytes).some((byte) => byte !== 0);
    if (!used) continue;
    const overwritten = Buffer.from(whole).fill(0, at, at + pageBytes);
    await writeFile(file, overwritten);
    if (isRefused()) refused += 1;
    else unseen.push(overwritten);
  }
  t.ok(refused > 20, `${refused} pages are part of the structure`);
  // The others are free or hold the middle of a long document, which is not checked.
  const outcomes = new Set<number | string>();
  for (const overwritten of unseen.filter((_, index) => index % 4 === 0)) {
    await writeFile(file, overwritten);
    const items = withItems(folder, (items) => items.countDocuments());
    outcomes.add(await items.catch(({ name }) => name));
  }
  outcomes.delete('DataFileDamaged');
  t.same([...outcomes], [count]);
});

t.test('a backup is a snapshot that replaces the last one, only after a change', async (t) => {
  const { folder, file } = await filled(t);
  const backup = backupOf(file);
  const backedUp = async () => (await stat(backup).catch(() => null))?.ino ?? 0;
  await withItems(
    folder,
    async (items) => {
      await until('the first backup', async () => (await backedUp()) !== 0);
      const first = await backedUp();
      await items.insertOne({ _id: 1_000, text: 'new' });
      await until('the second backup', async () => (await backedUp()) !== first);
    },
    { firstAfterMs: 1, everyMs: 10 },
  );
  const last = await backedUp();
  await withItems(folder, async () => new Promise((resolve) => setTimeout(resolve, 100)), {
    firstAfterMs: 1,
    everyMs: 10,
  });
  t.equal(await backedUp(), last, 'nothing has changed');
  const other = shortFolder(t);
  await startEmbeddedStore(other).then((store) => store.close());
  await copyFile(backup, dataFileIn(privateFolderOf(other)));
  t.same(await withItems(other, (items) => items.findOne({ _id: 1_000 })), {
    _id: 1_000,
    text: 'new',
  });
});
