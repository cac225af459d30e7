import { existsSync } from 'node:fs';
import type { Settings } from '../../contract/settings/table.ts';

/** Paths of jemalloc in Linux distributions. */
const jemallocPaths = [
  '/usr/lib/x86_64-linux-gnu/libjemalloc.so.2',
  '/usr/lib/aarch64-linux-gnu/libjemalloc.so.2',
  '/usr/lib64/libjemalloc.so.2',
  '/usr/lib/libjemalloc.so.2',
];

/**
 * Returns a front end's environment variables.
 *
 * libuv's thread pool runs sharp, file reads and DNS. It gets one thread per transform (one more
 * than the setting, for light transforms) and six more, so disk hits never wait for an encode.
 * glibc's allocator keeps freed memory in an arena per thread; jemalloc (used if installed) keeps
 * it in four arenas per processor. A limit of two arenas keeps memory use low and constant.
 */
export function frontEndEnvironment(settings: Settings): Readonly<Record<string, string>> {
  const jemalloc =
    process.platform === 'linux' ? jemallocPaths.find((path) => existsSync(path)) : undefined;
  const preloaded = process.env['LD_PRELOAD'];
  return {
    UV_THREADPOOL_SIZE: String(settings.poolThreads + 7),
    MALLOC_ARENA_MAX: process.env['MALLOC_ARENA_MAX'] ?? '2',
    MALLOC_CONF: process.env['MALLOC_CONF'] ?? 'narenas:2',
    ...(jemalloc === undefined || preloaded !== undefined ? {} : { LD_PRELOAD: jemalloc }),
  };
}

/**
 * Node's arguments for a front end. V8 limits buffers of arriving sources in proportion to its 24
 * MB heap, and collects the whole heap at the limit. This raises the limit to 3.2 times the heap
 * (bench/results/notes.md).
 */
export const frontEndArguments: readonly string[] = ['--heap-growing-percent=220'];
