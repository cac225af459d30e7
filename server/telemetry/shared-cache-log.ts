import type { Logger } from '../../contract/log.ts';
import type { OnSharedCacheChange } from '../../pool/cache/shared-cache.ts';

const lines = {
  read: ['shared cache failing; reads suspended', 'shared cache reads resumed'],
  write: ['shared cache failing; writes suspended', 'shared cache writes resumed'],
} as const;

/** Logs one line when the shared cache stops trying an operation, and one when it works again. */
export function logSharedCache(log: Pick<Logger, 'info' | 'warn'>): OnSharedCacheChange {
  return (operation, error) => {
    const [failing, working] = lines[operation];
    if (error === null) log.info(working);
    // Log only the message: other properties of undici errors might contain headers.
    else log.warn({ cause: error.message }, failing);
  };
}
