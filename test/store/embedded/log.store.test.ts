import fs, { writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { Document } from '../../../store/embedded/bson/value.ts';
import { Cursors } from '../../../store/embedded/commands/context.ts';
import { runCommand } from '../../../store/embedded/commands/table.ts';
import { parseFilter } from '../../../store/embedded/query/filter.ts';
import { Catalog } from '../../../store/embedded/storage/collection.ts';
import { Log } from '../../../store/embedded/storage/log.ts';
import {
  backupFilePath,
  DataFileDamaged,
  readLog,
  snapshotEnd,
  toRecord,
} from '../../../store/embedded/storage/log-file.ts';
import { more } from '../../extended.ts';

/** Writes a log of records, and returns its bytes and where each record ends. */
function smallLog() {
  const put = (_id: number, text: string) => toRecord({ in: 'a.items', put: { _id, text } });
  const records = [
    snapshotEnd,
    put(1, 'first'),
    toRecord({ in: 'a.items', remove: 1 }),
    // Longer than a sector of a disk.
    put(2, 'x'.repeat(1_500)),
    put(3, 'last'),
  ];
  let end = 0;
  const ends = records.map((record) => {
    end += record.length;
    return end;
  });
  return { whole: Buffer.concat(records), ends };
}

/** Returns a function that reads the length of the whole records in a log. */
function logReader(t: Test) {
  const file = join(t.testdir(), 'documents.log');
  return (bytes: Buffer): number => {
    writeFileSync(file, bytes);
    return readLog(file).bytes;
  };
}

const damaged = { name: 'DataFileDamaged' };

t.test('cuts off an incomplete record of every length at the end', async (t) => {
  const read = logReader(t);
  const { whole, ends } = smallLog();
  const [header = 0] = ends;
  for (let length = header; length <= whole.length; length += 1) {
    const complete = ends.filter((end) => end <= length).at(-1);
    const found = read(whole.subarray(0, length));
    if (found !== complete) t.equal(found, complete, `${length} bytes`);
  }
  for (let length = 0; length < header; length += 1) {
    t.throws(() => read(whole.subarray(0, length)), damaged, `${length} bytes of the first record`);
  }
});

t.test('rejects a file with any changed byte', async (t) => {
  const read = logReader(t);
  const { whole } = smallLog();
  const accepted: number[] = [];
  const flip = (at: number, mask: number) => {
    const flipped = Buffer.from(whole);
    flipped[at] = (flipped[at] ?? 0) ^ mask;
    try {
      read(flipped);
      accepted.push(at);
    } catch (error) {
      if (!(error instanceof DataFileDamaged)) throw error;
    }
  };
  const bits = [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80];
  for (let at = 0; at < whole.length; at += 1) {
    for (const mask of more ? [0xff, ...bits] : [at % 2 === 0 ? 0xff : 0x01]) flip(at, mask);
  }
  t.same(accepted, []);
});

t.test('cuts off a last record whose sectors a power failure left empty', async (t) => {
  const read = logReader(t);
  const { whole, ends } = smallLog();
  const [start = 0, end = 0] = ends.slice(2);
  for (let from = Math.ceil(start / 512) * 512; from < end; from += 512) {
    const empty = Buffer.from(whole.subarray(0, end)).fill(0, from, Math.min(end, from + 512));
    t.equal(read(empty), start, `bytes from ${from}`);
    const followed = Buffer.from(whole).fill(0, from, Math.min(end, from + 512));
    t.throws(() => read(followed), damaged, 'but no other record');
  }
  t.equal(read(Buffer.from(whole).fill(0, ends[3])), ends[3], 'all of it');
});

t.test('cuts off several records of a sync that a power failure interrupted', async (t) => {
  const read = logReader(t);
  const change = { in: 'a.items', put: { _id: 1, text: 'x'.repeat(1_500) } };
  const synced = Buffer.concat([snapshotEnd, toRecord(change)]);
  const first = toRecord(change);
  const second = toRecord(change, first.length);
  const empty = Buffer.concat([synced, Buffer.alloc(first.length), second]);
  t.equal(read(empty), synced.length);
  const next = Buffer.concat([empty, toRecord(change)]);
  t.throws(() => read(next), damaged, 'but not if a later record proves the sync');
});

/** Opens a log of its own, and collects what it reads. */
function openLog(t: Test, file = join(t.testdir(), 'documents.log')) {
  const read: number[] = [];
  const log = new Log(
    file,
    ({ put }) => read.push(Number((put as Document)['_id'])),
    () => [],
  );
  const add = async (_id: number, text = '') => {
    log.append({ in: 'a.items', put: { _id, text } });
    await log.durable();
  };
  return { file, log, add, read };
}

type FileCall =
  | 'openSync'
  | 'writeSync'
  | 'fdatasyncSync'
  | 'ftruncateSync'
  | 'renameSync'
  | 'linkSync';

/** Lets a call of the file system fail, until the returned function runs. */
function failing(name: FileCall, code: string, before: () => void = () => {}): () => void {
  const original = fs[name];
  fs[name] = (() => {
    before();
    throw Object.assign(new Error(code), { code });
  }) as never;
  syncBuiltinESMExports();
  return () => {
    fs[name] = original as never;
    syncBuiltinESMExports();
  };
}

t.test('removes what a failed write has left, and continues', async (t) => {
  const reasons = { ENOSPC: /there is no space/, EIO: /the write failed: EIO/ };
  for (const [code, message] of Object.entries(reasons)) {
    const { file, log, add } = openLog(t);
    await add(1);
    const whole = fs.readFileSync(file);
    // A part of the record is written.
    const mend = failing('writeSync', code, () => fs.appendFileSync(file, 'part'));
    const failed = Promise.allSettled([add(2), add(3)]);
    t.match(await failed, [{ reason: { code: 14031 } }, { reason: message }]);
    mend();
    t.same(fs.readFileSync(file), whole);
    await add(4);
    await log.close();
    t.same(openLog(t, file).read, [1, 4]);
  }
});

t.test('keeps the log if a rewrite fails, and accepts changes', async (t) => {
  // In a folder that has become read-only, on a full disk without a free inode, and on one that fails.
  const failures = [
    ['openSync', 'EACCES'],
    ['openSync', 'ENOSPC'],
    ['renameSync', 'EIO'],
  ] as const;
  for (const [call, code] of failures) {
    const file = join(t.testdir({}), `${call}.${code}.log`);
    const { log } = openLog(t, file);
    const { ino } = fs.statSync(file);
    let isTried = false;
    const mend = failing(call, code, () => {
      isTried = true;
    });
    let added = 0;
    const add = async () => {
      added += 1;
      log.append({ in: 'a.items', put: { _id: added, text: 'x'.repeat(500_000) } });
      await log.durable();
    };
    const isRewriting = () => fs.existsSync(`${file}.new`);
    while (!isTried) {
      // Beside a slow rewrite, the log could become long enough for the next one.
      if (!isRewriting()) await add();
      await sleep(1);
    }
    mend();
    await add();
    t.equal(fs.statSync(file).ino, ino);
    t.notOk(isRewriting());
    await log.close();
    const records = Array.from({ length: added }, (_, index) => index + 1);
    t.same(openLog(t, file).read, records);
  }
});

t.test('rewrites a log on a file system without links, such as exFAT', async (t) => {
  const { file, log, add } = openLog(t);
  await add(1);
  const { ino } = fs.statSync(file);
  const mend = failing('linkSync', 'EPERM');
  for (let n = 0; n < 100 && fs.statSync(file).ino === ino; n += 1) {
    await add(2, 'x'.repeat(500_000));
    await sleep(1);
  }
  await log.close();
  mend();
  t.not(fs.statSync(file).ino, ino);
  t.match(openLog(t, backupFilePath(file)).read, [1, 2], 'the backup is a copy');
});

t.test('answers nothing after a sync or a cut that failed', async (t) => {
  for (const calls of [['fdatasyncSync'], ['writeSync', 'ftruncateSync']] as const) {
    const { file, log, add } = openLog(t);
    await add(1);
    const mend = calls.map((name) => failing(name, 'EIO'));
    await t.rejects(add(2), { code: 14031, message: /^the write failed: EIO/ });
    for (const undo of mend) undo();
    const message = /the store has failed and must be restarted/;
    await t.rejects(add(3), { code: 14031, message });
    await t.rejects(log.durable(), { code: 14031, message }, 'nor a read');
    await log.close();
    t.ok(openLog(t, file).read.includes(1));
  }
});

t.test('answers a read beside a failed write of another client', async (t) => {
  const catalog = new Catalog(join(t.testdir(), 'documents.log'));
  const state = { catalog, cursors: new Cursors() };
  const insert = (_id: string) =>
    runCommand(state, { insert: 'items', documents: [{ _id }], $db: 'a' }, 1);
  t.match(await insert('1'), { ok: 1 });
  const mend = failing('writeSync', 'ENOSPC');
  const replies = [insert('2'), runCommand(state, { find: 'items', filter: {}, $db: 'a' }, 2)];
  const [failed, found] = await Promise.all(replies);
  mend();
  t.match(failed, { ok: 1, writeErrors: [{ code: 14031 }] });
  t.match(found, { ok: 1, cursor: { firstBatch: { length: 1 } } });
  await catalog.log.close();
});

t.test('rewrites a log that has doubled, while changes go on', async (t) => {
  const file = join(t.testdir(), 'documents.log');
  const catalog = new Catalog(file);
  const items = catalog.getOrCreate('a.items');
  const { ino } = fs.statSync(file);
  for (let n = 0; fs.statSync(file).ino === ino || n % 100 !== 0; n += 1) {
    const [entry] = items.find(parseFilter({ _id: String(n % 90) }));
    if (entry !== undefined && n % 7 === 0) items.remove(entry);
    else if (entry === undefined) items.insert({ _id: String(n % 90), text: 'x'.repeat(30_000) });
    else items.replace(entry, { _id: String(n % 90), n: String(n), text: 'x'.repeat(30_000) });
    await catalog.log.durable();
  }
  await catalog.log.close();
  const again = new Catalog(file);
  const stored = [...(again.get('a.items')?.entries() ?? [])].map(({ document }) => document);
  const sorted = (documents: readonly Document[]) =>
    documents.toSorted((a, b) => Number(a['_id']) - Number(b['_id']));
  t.same(sorted(stored), sorted([...items.entries()].map(({ document }) => document)));
  t.notOk(fs.existsSync(`${file}.new`));
  await again.log.close();
});

t.test('rewrites a log that it has rewritten, while changes go on', async (t) => {
  const file = join(t.testdir(), 'documents.log');
  const catalog = new Catalog(file);
  const items = catalog.getOrCreate('a.items');
  for (const n of [0, 1]) {
    items.insert({ _id: `before ${n}` });
    const rewritten = catalog.log.backUp();
    items.insert({ _id: `during ${n}` });
    await t.resolves(rewritten);
  }
  await catalog.log.close();
  const again = new Catalog(file);
  const ids = [...(again.get('a.items')?.entries() ?? [])].map(({ document }) => document['_id']);
  t.same(ids.sort(), ['before 0', 'before 1', 'during 0', 'during 1']);
  await again.log.close();
});
