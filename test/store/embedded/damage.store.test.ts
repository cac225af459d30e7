import {
  chmod,
  chown,
  copyFile,
  lchown,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { restoreBackup } from '../../../store/backups.ts';
import { privateFolderPath } from '../../../store/embedded/endpoint.ts';
import { dataFileIn, startEmbeddedStore } from '../../../store/embedded/server.ts';
import { backupFilePath } from '../../../store/embedded/storage/log-file.ts';
import { until } from '../../until.ts';
import { shortFolder, withStore } from './stores.ts';

const often = { backupTimes: { firstAfterMs: 1, everyMs: 10 } };

/** Creates a folder with a store of 199 items, and returns its data file. */
async function filled(t: Test) {
  const folder = shortFolder(t);
  const file = dataFileIn(privateFolderPath(folder));
  await withStore(folder, async (items) => {
    const texts = Array.from({ length: 200 }, (_, _id) => 'x'.repeat(_id % 40 === 0 ? 9_000 : 500));
    await Promise.all(texts.map((text, _id) => items.insertOne({ _id, text })));
    await items.deleteMany({ _id: 40 });
  });
  const count = () => withStore(folder, (items) => items.countDocuments());
  return { folder, file, backup: backupFilePath(file), count };
}

const exists = (path: string) => stat(path).then(Boolean, () => false);

t.test('reports a damaged data file with the reason, and restores it from a backup', async (t) => {
  const { folder, file, backup, count } = await filled(t);
  await t.rejects(restoreBackup(folder), {
    message: /^The backup was not restored: there is no backup/,
  });
  await withStore(folder, () => until('a backup', () => exists(backup)), often);
  const whole = await readFile(file);
  const middle = Math.floor(whole.length / 2);
  const zeros = Buffer.from(whole).fill(0, middle, middle + 4096);
  const damages: Record<string, () => Promise<unknown>> = {
    'it is empty': () => truncate(file, 0),
    'it is missing': () => rm(file),
    'it contains no complete snapshot': () => truncate(file, 30),
    'record at byte \\d+ is overwritten': () => writeFile(file, zeros),
    'byte 0 is overwritten': () => writeFile(file, 'x'.repeat(whole.length)),
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
  const inside = privateFolderPath(folder);
  const files = (await readdir(inside)).map((name) => join(inside, name));
  for (const path of [folder, inside, ...files]) await lchown(path, nobody, nobody);
  process.seteuid?.(nobody);
  try {
    await action();
  } finally {
    process.seteuid?.(0);
  }
}

t.test('rejects a file or folder that it cannot write', async (t) => {
  const { folder, file, count } = await filled(t);
  await chmod(file, 0o444);
  await withoutPrivilege(folder, () =>
    t.rejects(startEmbeddedStore(folder), { code: 'EACCES', path: file }),
  );
  await chmod(file, 0o644);
  t.equal(await count(), 199);
});

t.test('rejects a file of an earlier version by name', async (t) => {
  const { folder, file } = await filled(t);
  const bytes = await readFile(file);
  bytes.writeUInt32LE(0x3265_4449, 0);
  await writeFile(file, bytes);
  const message = /it has the format of an earlier version/;
  await t.rejects(startEmbeddedStore(folder), { name: 'DataFileDamaged', message });

  const older = shortFolder(t);
  await mkdir(privateFolderPath(older));
  await writeFile(join(privateFolderPath(older), 'documents.lmdb'), 'x');
  await t.rejects(startEmbeddedStore(older), { name: 'DataFileDamaged', message });
});

t.test(
  'keeps owner and mode of a restored file, and changes nothing on a failed restore',
  async (t) => {
    const { folder, file, backup } = await filled(t);
    await copyFile(file, backup);
    const { ino } = await stat(file);
    await chmod(backup, 0);
    await withoutPrivilege(folder, () =>
      t.rejects(restoreBackup(folder), { cause: { code: 'EACCES', path: backup } }),
    );
    await chmod(backup, 0o600);
    t.equal((await stat(file)).ino, ino, 'the data file is unchanged');
    const names = (await readdir(privateFolderPath(folder))).filter((name) =>
      /^documents/.test(name),
    );
    t.same(names, ['documents.backup.log', 'documents.log']);

    await chmod(file, 0o640);
    if (process.geteuid?.() === 0) await chown(file, 1_234, 5_678);
    const { uid, gid, mode } = await stat(file);
    const { replaced } = await restoreBackup(folder);
    t.equal((await stat(replaced ?? '')).ino, ino);
    t.match(await stat(file), { uid, gid, mode });
  },
);

t.test('continues after an incomplete record', async (t) => {
  const { folder, file, count } = await filled(t);
  const { size } = await stat(file);
  await withStore(folder, (items) => items.insertOne({ _id: 1_000, text: 'x' }));
  await truncate(file, (await stat(file)).size - 1);
  t.equal(await count(), 199);
  t.equal((await stat(file)).size, size);
  await withStore(folder, (items) => items.insertOne({ _id: 1_001, text: 'x' }));
  t.equal(await count(), 200);
});

t.test('replaces the last backup, only after a change', async (t) => {
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
  await copyFile(backup, dataFileIn(privateFolderPath(other)));
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
  await truncate(backup, size - 1);
  t.equal((await restoreBackup(folder)).dataTime, null, 'a copy without its last record');
  t.equal(await count(), 199);
});
