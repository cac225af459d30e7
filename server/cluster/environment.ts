import { existsSync } from 'node:fs';
import type { Settings } from '../../contract/settings/table.ts';
import { storeUrlVariable } from './channel.ts';

/** Where Linux distributions put jemalloc. */
const jemallocPaths = [
  '/usr/lib/x86_64-linux-gnu/libjemalloc.so.2',
  '/usr/lib/aarch64-linux-gnu/libjemalloc.so.2',
  '/usr/lib64/libjemalloc.so.2',
  '/usr/lib/libjemalloc.so.2',
];

/**
 * What must be in a front end's environment before it starts.
 *
 * libuv's pool does sharp's work, file reads and DNS: it gets as many threads as transforms can
 * ever hold and some more, so that a disk hit never waits behind an encode. glibc's allocator
 * keeps what many threads free for each of them; jemalloc where the system has it, else two
 * arenas, keep memory flat. Releases of uWebSockets.js after 20.30 take the size of a request's
 * head, 4 KB by themselves, from the environment.
 */
export function frontEndEnvironment(
  settings: Settings,
  storeUrl: string,
): Readonly<Record<string, string>> {
  const jemalloc =
    process.platform === 'linux' ? jemallocPaths.find((path) => existsSync(path)) : undefined;
  const preloaded = process.env['LD_PRELOAD'];
  return {
    [storeUrlVariable]: storeUrl,
    UV_THREADPOOL_SIZE: String(settings.poolThreads + 6),
    UWS_HTTP_MAX_HEADERS_SIZE: process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ?? '16384',
    MALLOC_ARENA_MAX: process.env['MALLOC_ARENA_MAX'] ?? '2',
    ...(jemalloc === undefined || preloaded !== undefined ? {} : { LD_PRELOAD: jemalloc }),
  };
}
