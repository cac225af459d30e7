import t from 'tap';
import { memoryLimit, memoryShortage, readOomKills } from '../../../server/cluster/machine.ts';

const [mebibyte, gibibyte] = [2 ** 20, 2 ** 30];
const memoryCacheBytes = 256 * mebibyte;

t.test('names settings that fit into the memory', async (t) => {
  const warn = (processes: number, poolThreads: number, limit: number) =>
    memoryShortage({ processes, poolThreads, memoryCacheBytes }, limit);
  t.equal(warn(16, 5, 8 * gibibyte), null);
  t.equal(warn(1, 3, gibibyte), null);
  t.equal(
    warn(16, 5, gibibyte),
    'the memory limit of 1024 MiB is too low for SERVICE_PROCESSES=16 with SERVICE_POOL_THREADS=5, which need about 6776 MiB: set SERVICE_PROCESSES=1 SERVICE_POOL_THREADS=5, or raise the limit',
  );
  t.match(warn(16, 5, 4 * gibibyte), ': set SERVICE_PROCESSES=9 SERVICE_POOL_THREADS=5, or');
  t.match(
    warn(1, 3, 512 * mebibyte),
    ': set SERVICE_POOL_THREADS=2 SERVICE_MEMORY_CACHE_BYTES=134217728, or',
  );
  t.match(
    memoryShortage({ processes: 1, poolThreads: 1, memoryCacheBytes: 0 }, 128 * mebibyte),
    /264 MiB: raise the limit$/,
  );
});

t.test('suggests only settings that pass', async (t) => {
  for (let limit = 512 * mebibyte; limit < 16 * gibibyte; limit *= 1.1) {
    const given = { processes: 16, poolThreads: 5, memoryCacheBytes };
    const [, text = ''] = (memoryShortage(given, limit) ?? '').split(': set ');
    const read = (variable: string, otherwise: number) =>
      Number(new RegExp(`${variable}=(\\d+)`).exec(text)?.[1] ?? otherwise);
    const suggested = {
      processes: read('SERVICE_PROCESSES', 16),
      poolThreads: read('SERVICE_POOL_THREADS', 5),
      memoryCacheBytes: read('SERVICE_MEMORY_CACHE_BYTES', memoryCacheBytes),
    };
    t.equal(memoryShortage(suggested, limit), null, `${limit}: ${text}`);
  }
});

t.test("reads the machine's memory and the kernel's kills", async (t) => {
  t.ok(memoryLimit() > 2 ** 26 && Number.isFinite(memoryLimit()));
  t.ok(readOomKills() >= 0);
});
