import t from 'tap';
import { SharedMemory } from '../../../pool/source/shared-memory.ts';

const page = 4_096;
const from = (bytes: Uint8Array) => bytes.byteOffset / page;

/** Allocates memory, which must succeed. */
function allocate(memory: SharedMemory, bytes: number): Uint8Array {
  const allocated = memory.allocate(bytes);
  if (allocated === null) throw new Error('there is no room');
  return allocated;
}

t.test('allocates whole pages at the lowest free address', (t) => {
  const memory = new SharedMemory(8 * page);
  const allocated = [1, page, page + 1, 3 * page, 100].map((size) => allocate(memory, size));
  t.same(allocated.map(from), [0, 1, 2, 4, 7]);
  t.equal(allocated[2]?.byteLength, page + 1);
  t.equal(memory.allocate(1), null, 'full');
  for (const bytes of allocated.slice(1, 3)) memory.free(bytes);
  t.equal(memory.allocate(3 * page + 1), null);
  t.equal(from(allocate(memory, 3 * page)), 1, 'adjacent free ranges are merged');
  t.end();
});

t.test('ignores foreign bytes, and throws on a second free', (t) => {
  const memory = new SharedMemory(2 * page);
  memory.free(new Uint8Array(10));
  memory.free(Buffer.from('abc'));
  const bytes = allocate(memory, 10);
  memory.free(bytes);
  t.throws(() => memory.free(bytes));
  t.ok(memory.allocate(2 * page));
  t.end();
});

t.test('never overlaps allocations, and frees all memory', (t) => {
  const pages = 64;
  const memory = new SharedMemory(pages * page + 17);
  let seed = 1;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  const held = new Map<Uint8Array, number>();
  for (let call = 0; call < 20_000; call += 1) {
    const oldest = [...held.keys()][random(Math.max(1, held.size))];
    if (oldest !== undefined && random(3) === 0) {
      const mark = held.get(oldest);
      if (!oldest.every((byte) => byte === mark)) t.fail('overlapping allocations');
      held.delete(oldest);
      memory.free(oldest);
      continue;
    }
    const bytes = memory.allocate(1 + random(9 * page));
    if (bytes !== null) held.set(bytes.fill(call % 251), call % 251);
  }
  t.ok(held.size > 3, 'some are allocated');
  for (const bytes of held.keys()) memory.free(bytes);
  t.equal(memory.used, 0);
  t.ok(memory.allocate(pages * page), 'one free range');
  t.end();
});
