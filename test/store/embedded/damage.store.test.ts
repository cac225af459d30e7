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
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { toPrivateFolder } from '../../../store/embedded/endpoint.ts';
import { dataFileIn, startEmbeddedStore, toLockFile } from '../../../store/embedded/server.ts';
import { toBackupFile } from '../../../store/embedded/storage/backup.ts';
import { checkDataFile } from '../../../store/embedded/storage/file-check.ts';
import { restoreBackup } from '../../../store/restore.ts';
import { until } from '../../until.ts';
import { shortFolder, withStore } from './stores.ts';

const pageBytes = 4096;
const often = { backupTimes: { firstAfterMs: 1, everyMs: 10 } };

/** Creates a folder with a store of 199 items, and returns its data file. */
async function filled(t: Test) {
  const folder = shortFolder(t);
  const file = dataFileIn(toPrivateFolder(folder));
  await withStore(folder, async (items) => {
    const texts = Array.from({ length: 200 }, (_, _id) => 'x'.repeat(_id % 40 === 0 ? 9_000 : 500));
    await Promise.all(texts.map((text, _id) => items.insertOne({ _id, text })));
    // Leaves free pages.
    await items.deleteMany({ _id: 40 });
  });
  const count = () => withStore(folder, (items) => items.countDocuments());
  return { folder, file, backup: toBackupFile(file), lock: toLockFile(file), count };
}

const exists = (path: string) => stat(path).then(Boolean, () => false);

t.test('reports a damaged data file with the reason, and restores it from a backup', async (t) => {
  const { folder, file, backup, count } = await filled(t);
  await t.rejects(restoreBackup(folder), {
    message: /^The backup was not restored: there is no backup/,
  });
  await withStore(folder, () => until('a backup', () => exists(backup)), often);
  const whole = await readFile(file);
  const headers = whole.subarray(0, 2 * pageBytes);
  // Move all pages after the headers by one.
  const shifted = [headers, whole.subarray(-pageBytes), whole.subarray(2 * pageBytes, -pageBytes)];
  const damages: Record<string, () => Promise<unknown>> = {
    'it is empty': () => truncate(file, 0),
    'it is missing': () => rm(file),
    'it ends at byte 100': () => truncate(file, 100),
    'page \\d+ is missing': () => truncate(file, 40 * pageBytes),
    'page \\d+ is overwritten': () => writeFile(file, Buffer.concat(shifted)),
    'it has no valid header': () => writeFile(file, Buffer.alloc(whole.length)),
  };
  for (const [reason, damage] of Object.entries(damages)) {
    await damage();
    const expected = { name: 'DataFileDamaged', file, message: new RegExp(reason) };
    await t.rejects(startEmbeddedStore(folder), expected, reason);
    const { replaced } = await restoreBackup(folder);
    if (reason === 'it is missing') t.equal(replaced, null);
    else t.ok((await stat(replaced ?? '')).isFile(), 'the damaged file is kept');
    t.equal(await count(), 199);
  }
});

/** Runs an action as the folder's owner without root's privileges. */
async function withoutPrivilege(folder: string, action: () => Promise<unknown>): Promise<void> {
  if (process.geteuid?.() !== 0) return void (await action());
  const nobody = 65_534;
  const inside = toPrivateFolder(folder);
  const files = (await readdir(inside)).map((name) => join(inside, name));
  for (const path of [folder, inside, ...files]) await lchown(path, nobody, nobody);
  process.seteuid?.(nobody);
  try {
    await action();
  } finally {
    process.seteuid?.(0);
  }
}

t.test('rejects a file that it cannot write before lmdb opens it', async (t) => {
  const { folder, file, lock, count } = await filled(t);
  for (const path of [file, lock]) {
    await chmod(path, 0o444);
    await withoutPrivilege(folder, () =>
      t.rejects(startEmbeddedStore(folder), { code: 'EACCES', path }),
    );
    await chmod(path, 0o644);
  }
  await rm(lock);
  await mkdir(lock);
  await t.rejects(startEmbeddedStore(folder), { code: 'EISDIR', path: lock });
  await rmdir(lock);
  t.equal(await count(), 199);
});

t.test(
  'keeps owner and mode of a restored file, and changes nothing on a failed restore',
  async (t) => {
    const { folder, file, backup, lock } = await filled(t);
    await copyFile(file, backup);
    const { ino } = await stat(file);
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
    const names = (await readdir(toPrivateFolder(folder))).filter((name) =>
      /^documents/.test(name),
    );
    t.same(names, ['documents.backup.lmdb', 'documents.lmdb']);

    await chmod(file, 0o640);
    if (process.geteuid?.() === 0) await chown(file, 1_234, 5_678);
    const { uid, gid, mode } = await stat(file);
    const { replaced } = await restoreBackup(folder);
    t.equal((await stat(replaced ?? '')).ino, ino);
    t.match(await stat(file), { uid, gid, mode });
  },
);

t.test('returns all documents, or does not open, with an overwritten page', async (t) => {
  const { file, count } = await filled(t);
  const whole = await readFile(file);
  t.doesNotThrow(() => checkDataFile(file));
  const undetected: Buffer[] = [];
  let detected = 0;
  for (let at = 0; at < whole.length; at += pageBytes) {
    const used = whole.subarray(at, at + pageBytes).some((byte) => byte !== 0);
    if (!used) continue;
    const overwritten = Buffer.from(whole).fill(0, at, at + pageBytes);
    await writeFile(file, overwritten);
    try {
      checkDataFile(file);
      undetected.push(overwritten);
    } catch {
      detected += 1;
    }
  }
  t.ok(detected > 20, `${detected} pages are part of the structure`);
  // The other pages are free, or contain the unchecked middle of a long document.
  const outcomes = new Set<number | string>();
  for (const overwritten of undetected.filter((_, index) => index % 4 === 0)) {
    await writeFile(file, overwritten);
    outcomes.add(await count().catch(({ name }) => name));
  }
  outcomes.delete('DataFileDamaged');
  t.same([...outcomes], [199]);
});

t.test('replaces the last backup with a snapshot, only after a change', async (t) => {
  const { folder, backup } = await filled(t);
  const backedUp = async () => (await stat(backup).catch(() => null))?.ino ?? 0;
  const added = { _id: 1_000, text: 'new' };
  await withStore(
    folder,
    async (items) => {
      const first = await until('the first backup', async () => (await backedUp()) || false);
      await items.insertOne(added);
      await until('the second backup', async () => (await backedUp()) !== first);
    },
    often,
  );
  const last = await backedUp();
  await withStore(folder, () => sleep(100), often);
  t.equal(await backedUp(), last, 'nothing has changed');
  const other = shortFolder(t);
  await withStore(other, (items) => items.countDocuments());
  await copyFile(backup, dataFileIn(toPrivateFolder(other)));
  t.same(await withStore(other, (items) => items.findOne({ _id: 1_000 })), added);
});

t.test('reports the time of the restored data, not of the file', async (t) => {
  const { folder, backup, count } = await filled(t);
  const startedAt = Date.now();
  await withStore(folder, () => until('a backup', () => exists(backup)), often);
  const endedAt = Date.now();
  const [old, recent] = [new Date(0), new Date(endedAt + 1_000_000)];
  for (const modifiedAt of [old, recent]) {
    await utimes(backup, modifiedAt, modifiedAt);
    const { dataTime } = await restoreBackup(folder);
    t.ok(Number(dataTime) >= startedAt && Number(dataTime) <= endedAt, String(dataTime));
  }
  await withStore(folder, async (items) => {
    const texts = Array.from({ length: 300 }, (_, n) => ({
      _id: 1_000 + n,
      text: 'x'.repeat(999),
    }));
    for (const item of texts) await items.insertOne(item);
  });
  t.equal(await count(), 499, 'the restored file grows');

  const { size } = await stat(backup);
  await truncate(backup, size - pageBytes);
  t.equal((await restoreBackup(folder)).dataTime, null, 'a backup of an earlier version');
  t.equal(await count(), 199);
});
