import { readFileSync } from 'node:fs';
import type { Machine } from '../../contract/machine.ts';
import type { Settings } from '../../contract/settings/table.ts';

/** With less memory, what glibc keeps for later transforms is missing elsewhere. */
const ampleBytes = 2 ** 31;

/**
 * Returns a front end's environment variables. The operator's own allocator settings win.
 *
 * libuv's thread pool runs sharp, file reads and DNS. It gets one thread per transform (one more
 * than the setting, for light transforms) and six more, so disk hits never wait for an encode.
 * glibc's allocator keeps freed memory in an arena per thread. Two arenas keep memory use low and
 * constant, for no more CPU time than jemalloc (bench/results/2026-11-28-misses/report.md). Where
 * memory is short, a fixed threshold returns pixel buffers immediately, for 5% more CPU time: glibc
 * raises its own to 32 MiB, and a front end with 512 MiB is killed next to a large AVIF.
 */
export function frontEndEnvironment(
  { poolThreads }: Pick<Settings, 'poolThreads'>,
  { memoryBytes }: Pick<Machine, 'memoryBytes'>,
): Readonly<Record<string, string>> {
  const allocator: Readonly<Record<string, string>> = {
    MALLOC_ARENA_MAX: '2',
    ...(memoryBytes < ampleBytes ? { MALLOC_MMAP_THRESHOLD_: String(2 ** 17) } : {}),
  };
  const own = (name: string, value: string) => [name, process.env[name] ?? value] as const;
  return {
    UV_THREADPOOL_SIZE: String(poolThreads + 7),
    ...Object.fromEntries(Object.entries(allocator).map(([name, value]) => own(name, value))),
  };
}

/**
 * Node's arguments for a front end. V8 limits buffers of arriving sources in proportion to its 24
 * MB heap, and collects the whole heap at the limit. This raises the limit to 3.2 times the heap
 * (bench/results/notes.md).
 */
export const frontEndArguments: readonly string[] = ['--heap-growing-percent=220'];

const mebibyte = 2 ** 20;
/** What a process takes with small images; see docs/operating/sizing.md for the limits. */
const primaryBytes = 120 * mebibyte;
const frontEndBytes = 80 * mebibyte;
const threadBytes = 64 * mebibyte;

type MemorySettings = Pick<Settings, 'processes' | 'poolThreads' | 'memoryCacheBytes'>;

/**
 * Returns a warning if the configured processes, threads and memory cache take more memory than the
 * limit even with small images, or null.
 * @param limit bytes
 */
export function memoryShortage(settings: MemorySettings, limit: number): string | null {
  const { processes, poolThreads, memoryCacheBytes } = settings;
  const needed =
    primaryBytes + memoryCacheBytes + processes * (frontEndBytes + poolThreads * threadBytes);
  if (needed <= limit) return null;
  const toMebibytes = (bytes: number) => `${Math.ceil(bytes / mebibyte)} MiB`;
  return `the memory limit of ${toMebibytes(limit)} is too low for SERVICE_PROCESSES=${processes}, SERVICE_POOL_THREADS=${poolThreads} and SERVICE_MEMORY_CACHE_BYTES=${memoryCacheBytes}, which need about ${toMebibytes(needed)}: reduce them, or raise the limit`;
}

/**
 * Returns how many processes of this machine, in any container, the kernel has killed for lack of
 * memory; 0 if the system does not count them.
 */
export function readOomKills(): number {
  try {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync('/proc/vmstat', 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
