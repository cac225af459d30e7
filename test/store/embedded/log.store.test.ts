import fs, { writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { BSON } from 'mongodb';
import t, { type Test } from 'tap';
import { Cursors } from '../../../store/embedded/commands/context.ts';
import { runCommand } from '../../../store/embedded/commands/table.ts';
import { Catalog } from '../../../store/embedded/storage/catalog.ts';
import { Collection } from '../../../store/embedded/storage/collection.ts';
import type { Entry } from '../../../store/embedded/storage/index.ts';
import { Log } from '../../../store/embedded/storage/log.ts';
import {
  DataFileDamaged,
  formatChange,
  readLog,
  snapshotEndChange,
  toGroup,
} from '../../../store/embedded/storage/log-file.ts';
import { more } from '../../extended.ts';

/** Writes a log of groups with a change each, and returns its bytes and where each group ends. */
function smallLog() {
  const change = (record: number, text: string) => [
    { collection: 1, record, bytes: BSON.serialize({ _id: record, text }) },
  ];
  const groups = [
    toGroup([formatChange, snapshotEndChange]),
    toGroup(change(1, 'first')),
    toGroup([...change(1, 'second'), { collection: 1, record: 1, bytes: null }]),
    // Longer than a sector of a disk.
    toGroup(change(2, 'x'.repeat(1_500))),
    toGroup(change(3, 'last')),
  ];
  let end = 0;
  const ends = groups.map((group) => {
    end += group.length;
    return end;
  });
  return { whole: Buffer.concat(groups), ends };
}

/** Returns a function that reads the length of the whole groups in a log. */
function logReader(t: Test) {
  const file = join(t.testdir(), 'documents.log');
  return (bytes: Buffer): number => {
    writeFileSync(file, bytes);
    return readLog(file).bytes;
  };
}

const damaged = { name: 'DataFileDamaged' };

t.test('cuts off an incomplete group of every length at the end', async (t) => {
  const read = logReader(t);
  const { whole, ends } = smallLog();
  const [header = 0] = ends;
  for (let length = header; length <= whole.length; length += 1) {
    const complete = ends.filter((end) => end <= length).at(-1);
    const found = read(whole.subarray(0, length));
    if (found !== complete) t.equal(found, complete, `${length} bytes`);
  }
  for (let length = 0; length < header; length += 1) {
    t.throws(() => read(whole.subarray(0, length)), damaged, `${length} bytes of the first group`);
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

t.test('cuts off a last group whose sectors a power failure left empty', async (t) => {
  const read = logReader(t);
  const { whole, ends } = smallLog();
  const [start = 0, end = 0] = ends.slice(2);
  for (let from = Math.ceil(start / 512) * 512; from < end; from += 512) {
    const empty = Buffer.from(whole.subarray(0, end)).fill(0, from, Math.min(end, from + 512));
    t.equal(read(empty), start, `bytes from ${from}`);
    const followed = Buffer.from(whole).fill(0, from, Math.min(end, from + 512));
    t.throws(() => read(followed), damaged, 'but no other group');
  }
  t.equal(read(Buffer.from(whole).fill(0, ends[3])), ends[3], 'all of it');
});

/** Opens a log of its own, and collects what it reads and undoes. */
function openLog(t: Test, file = join(t.testdir(), 'documents.log')) {
  const read: number[] = [];
  const undone: number[] = [];
  const log = new Log(
    file,
    ({ record }) => read.push(record),
    () => [],
  );
  const add = (record: number) => {
    const bytes = BSON.serialize({ _id: record });
    log.add({ collection: 1, record, bytes }, () => undone.push(record));
    return log.durable();
  };
  return { file, log, add, read, undone };
}

type FileCall = 'openSync' | 'writeSync' | 'fdatasyncSync' | 'ftruncateSync' | 'renameSync';

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

t.test('undoes a failed write, and continues', async (t) => {
  const reasons = { ENOSPC: /there is no space/, EIO: /the write failed: EIO/ };
  for (const [code, message] of Object.entries(reasons)) {
    const { file, log, add, undone } = openLog(t);
    await add(1);
    const whole = fs.readFileSync(file);
    // A part of the group is written.
    const mend = failing('writeSync', code, () => fs.appendFileSync(file, 'part'));
    const failed = Promise.allSettled([add(2), add(3)]);
    t.match(await failed, [{ reason: { code: 14031 } }, { reason: message }]);
    mend();
    t.same(undone, [3, 2], 'the last first');
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
    const bytes = BSON.serialize({ text: 'x'.repeat(500_000) });
    let added = 0;
    const add = async () => {
      added += 1;
      log.add({ collection: 1, record: added, bytes }, () => {});
      await log.durable();
    };
    while (!isTried) await add();
    mend();
    await add();
    t.equal(fs.statSync(file).ino, ino);
    t.notOk(fs.existsSync(`${file}.new`));
    await log.close();
    const records = Array.from({ length: added }, (_, index) => index + 1);
    t.same(openLog(t, file).read, records);
  }
});

t.test('accepts no change after a sync or a cut that failed', async (t) => {
  for (const calls of [['fdatasyncSync'], ['writeSync', 'ftruncateSync']] as const) {
    const { file, log, add, undone } = openLog(t);
    await add(1);
    const mend = calls.map((name) => failing(name, 'EIO'));
    await t.rejects(add(2), { code: 14031, message: /^the write failed: EIO/ });
    for (const undo of mend) undo();
    await t.rejects(add(3), { code: 14031, message: /accepts no change until its next start/ });
    t.same(undone, [2, 3]);
    await log.close();
    t.same(openLog(t, file).read, [1]);
  }
});

t.test('keeps a record in a snapshot whose removal is undone meanwhile', async (t) => {
  const { log } = openLog(t);
  const items = new Collection(1, 'a.items', log);
  const entries = ['1', '2', '3'].map((_id) => {
    items.insert({ _id });
    return [...items.entries()].at(-1) as Entry;
  });
  await log.durable();
  const snapshot = items.changes();
  const first = snapshot.next().value;
  items.insert({ _id: '4' });
  await log.durable();
  const mend = failing('writeSync', 'ENOSPC');
  for (const entry of entries.slice(1)) items.remove(entry);
  await t.rejects(log.durable(), { code: 14031 });
  mend();
  const records = [first, ...snapshot].map((change) => change?.record);
  t.same(records, [1, 2, 3]);
  await log.close();
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
  t.match(failed, { ok: 0, code: 14031 });
  t.match(found, { ok: 1, cursor: { firstBatch: { length: 1 } } });
  await catalog.log.close();
});

t.test('rewrites a log that has doubled, while changes go on', async (t) => {
  const file = join(t.testdir(), 'documents.log');
  const records = new Map<number, Uint8Array>();
  const open = () =>
    new Log(
      file,
      ({ record, bytes }) => (bytes === null ? records.delete(record) : records.set(record, bytes)),
      function* live() {
        for (const [record, bytes] of [...records]) yield { collection: 1, record, bytes };
      },
    );
  const log = open();
  const { ino } = fs.statSync(file);
  for (let n = 0; fs.statSync(file).ino === ino || n % 100 !== 0; n += 1) {
    const record = n % 90;
    if (n % 7 === 0) {
      records.delete(record);
      log.add({ collection: 1, record, bytes: null }, () => {});
    } else {
      const bytes = BSON.serialize({ n, text: 'x'.repeat(30_000) });
      records.set(record, bytes);
      log.add({ collection: 1, record, bytes }, () => {});
    }
    await log.durable();
  }
  await log.close();
  const expected = [...records].sort(([a], [b]) => a - b);
  records.clear();
  const again = open();
  t.same(
    [...records].sort(([a], [b]) => a - b).map(([id]) => id),
    expected.map(([id]) => id),
  );
  t.ok(expected.every(([id, bytes]) => Buffer.compare(bytes, records.get(id) ?? bytes) === 0));
  t.notOk(fs.existsSync(`${file}.new`));
  await again.close();
});
