import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import t from 'tap';
import { until } from '../../until.ts';
import { picture, toKey } from './pictures.ts';

/** Each file that is opened for writing, with the function that lets the disk respond. */
const opened: (() => void)[] = [];
const { open } = fs;
Object.assign(fs, {
  open: (...call: Parameters<typeof open>) => opened.push(() => open(...call)),
});
syncBuiltinESMExports();
// The query loads a second copy of the module, which is the only one with this `open`.
const copy = new URL('../../../pool/cache/disk.js?hanging', import.meta.url).href;
const { DiskCache } = (await import(copy)) as typeof import('../../../pool/cache/disk.ts');
Object.assign(fs, { open });
syncBuiltinESMExports();

t.test('waits a second for a disk that does not respond, with two threads', async (t) => {
  const stored: string[] = [];
  const cache = new DiskCache(t.testdir(), {
    stored: (key) => stored.push(key),
    read() {},
    removed() {},
    failed: (error) => t.fail(error.message),
  });
  const keys = Array.from({ length: 70 }, (_, i) => toKey(String(i)));
  const startedAt = performance.now();
  const writes = Promise.all(keys.map((key) => cache.write(key, picture(9))));
  let isOver = false;
  void writes.then(() => {
    isOver = true;
  });
  await until('no caller waits', () => isOver);
  t.ok(performance.now() - startedAt > 900, 'the caller waits for a disk that is only slow');
  t.same([opened.length, stored], [2, []]);

  const settled = cache.settle();
  await until('the disk responds again', () => {
    for (const respond of opened.splice(0)) respond();
    return stored.length === 64;
  });
  t.same(new Set(stored), new Set(keys.slice(0, 64)), 'writes above the limit were skipped');
  await settled;
});

t.test('keeps at most 64 MiB for a disk that does not respond, and one image', async (t) => {
  const stored: string[] = [];
  const cache = new DiskCache(t.testdir(), {
    stored: (key) => stored.push(key),
    read() {},
    removed() {},
    failed: (error) => t.fail(error.message),
  });
  const keys = Array.from({ length: 10 }, (_, i) => toKey(String(i)));
  const large = picture(20_000_000);
  for (const key of keys) void cache.write(key, large);
  await until('the disk responds again', () => {
    for (const respond of opened.splice(0)) respond();
    return stored.length === 4;
  });
  await cache.settle();
  t.same(new Set(stored), new Set(keys.slice(0, 4)), 'the fifth would be above the limit');

  const last = keys.at(-1) ?? '';
  const written = cache.write(last, large);
  await until('it is written', () => {
    for (const respond of opened.splice(0)) respond();
    return stored.includes(last);
  });
  await written;
});
