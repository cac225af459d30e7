import { existsSync } from 'node:fs';

/**
 * libheif's program since version 1.18; `heif-convert` of earlier versions writes only formats that
 * lose pixels or take longer than WebAssembly. No environment variable adds a folder to search.
 */
const paths = ['/usr/bin/heif-dec', '/usr/local/bin/heif-dec'];

/** Programs of util-linux that start another one within limits. */
export const limiters = { prlimit: '/usr/bin/prlimit', setpriv: '/usr/bin/setpriv' } as const;

/** Path of the native decoder; null if it or the programs that limit it are not installed. */
export const heifProgram: string | null = Object.values(limiters).every(existsSync)
  ? (paths.find(existsSync) ?? null)
  : null;
