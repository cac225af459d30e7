import t from 'tap';
import { memoryShortage, readOomKills } from '../../../server/cluster/machine.ts';

const [mebibyte, gibibyte] = [2 ** 20, 2 ** 30];

t.test('warns of settings that do not fit into the memory', async (t) => {
  const warn = (processes: number, poolThreads: number, limit: number) =>
    memoryShortage({ processes, poolThreads, memoryCacheBytes: 256 * mebibyte }, limit);
  t.equal(warn(16, 5, 8 * gibibyte), null);
  t.equal(warn(1, 3, gibibyte), null);
  t.equal(
    warn(16, 5, gibibyte),
    'the memory limit of 1024 MiB is too low for SERVICE_PROCESSES=16, SERVICE_POOL_THREADS=5 and SERVICE_MEMORY_CACHE_BYTES=268435456, which need about 6776 MiB: reduce them, or raise the limit',
  );
});

t.test("reads the kernel's kills", async (t) => {
  t.ok(readOomKills() >= 0);
});
