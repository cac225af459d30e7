import t from 'tap';
import {
  frontEndEnvironment,
  memoryShortage,
  readOomKills,
} from '../../../server/cluster/machine.ts';

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

t.test('returns pixel buffers to the system where memory is short', async (t) => {
  const environment = (memoryBytes: number) =>
    frontEndEnvironment({ poolThreads: 3 }, { memoryBytes });
  const ample = { UV_THREADPOOL_SIZE: '10', MALLOC_ARENA_MAX: '2' };
  t.same(environment(2 * gibibyte), ample);
  t.same(environment(gibibyte), { ...ample, MALLOC_MMAP_THRESHOLD_: '131072' });
  t.teardown(() => delete process.env['MALLOC_MMAP_THRESHOLD_']);
  process.env['MALLOC_MMAP_THRESHOLD_'] = '65536';
  t.equal(environment(gibibyte)['MALLOC_MMAP_THRESHOLD_'], '65536', "the operator's");
});

t.test("reads the kernel's kills", async (t) => {
  t.ok(readOomKills() >= 0);
});
