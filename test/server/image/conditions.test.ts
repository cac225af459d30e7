import t from 'tap';
import { RangeNotSatisfiable } from '../../../server/http/responses.ts';
import { ifRangeMatches, readRange } from '../../../server/image/conditions.ts';

t.test('reads a single range of bytes (RFC 9110, 14.1.2)', async (t) => {
  const ranges: Readonly<Record<string, readonly [number, number]>> = {
    'bytes=0-0': [0, 0],
    'bytes=0-9': [0, 9],
    'bytes=5-7': [5, 7],
    'bytes=5-': [5, 9],
    'bytes=9-9': [9, 9],
    'bytes=5-10': [5, 9],
    'bytes=0-99999999999999999999999': [0, 9],
    'bytes=-1': [9, 9],
    'bytes=-10': [0, 9],
    'bytes=-11': [0, 9],
    'bytes=007-008': [7, 8],
    'Bytes=1-2': [1, 2],
    'bytes= 1-2 ': [1, 2],
    'bytes=,1-2,': [1, 2],
  };
  for (const [range, [first, last]] of Object.entries(ranges)) {
    t.same(readRange(range, 10), { first, last }, range);
  }
});

t.test('rejects a range that starts after the end', async (t) => {
  for (const range of ['bytes=10-', 'bytes=10-20', 'bytes=-0', `bytes=${'9'.repeat(400)}-`]) {
    const refused = readRange(range, 10);
    t.type(refused, RangeNotSatisfiable, range);
    t.match(refused, { status: 416, length: 10 });
  }
});

t.test('ignores malformed ranges, other units and several ranges', async (t) => {
  const malformed = ['', '-', ',', '5-4', 'a-b', '1-2x', '--1', '+1-2', '1 - 2', '0x1-2', '1'];
  const several = ['0-1,3-4', '99-,0-1', '1-2,1-2', `1-2${','.repeat(512)}`];
  const others = ['', 'bytes', 'bytes 0-1', 'items=0-1', 'xbytes=0-1'];
  for (const range of [
    ...others,
    ...[...malformed, ...several].map((rangeText) => `bytes=${rangeText}`),
  ]) {
    t.equal(readRange(range, 10), null, range);
  }
});

t.test('matches strong tags, but never dates, in If-Range', async (t) => {
  const readings = {
    '': true,
    '"abc"': true,
    'W/"abc"': false,
    '"abd"': false,
    abc: false,
    '*': false,
    '"abc", "abd"': false,
    'Sat, 21 Nov 2026 08:06:45 GMT': false,
  };
  for (const [ifRange, may] of Object.entries(readings)) {
    t.equal(ifRangeMatches(ifRange, '"abc"'), may, ifRange);
  }
});
