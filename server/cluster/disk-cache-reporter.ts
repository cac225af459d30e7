import type { Logger } from '../../contract/log.ts';
import { createLogThrottle } from '../../contract/log-limit.ts';
import type { DiskCacheEvents } from '../../pool/cache/disk.ts';
import type { PrimaryChannel } from './channel.ts';

const flushEveryMs = 250;
/** Interval of the log lines: a broken disk fails for every request. */
const logEveryMs = 10_000;

const newChanges = () => ({
  stored: [] as [key: string, bytes: number][],
  used: new Set<string>(),
  removed: [] as string[],
});

/**
 * Reports the stored, used and removed files of this process to the primary's index, in batches. If
 * the process dies before a report, the index scans the folder.
 */
export class DiskCacheReporter implements DiskCacheEvents {
  readonly #channel: PrimaryChannel;
  readonly #log: Logger;
  #changes = newChanges();
  #timer: NodeJS.Timeout | null = null;
  readonly #mayLog = createLogThrottle(logEveryMs);

  constructor(channel: PrimaryChannel, log: Logger) {
    this.#channel = channel;
    this.#log = log;
  }

  stored(key: string, bytes: number): void {
    this.#changes.stored.push([key, bytes]);
    this.#schedule();
  }

  read(key: string): void {
    this.#changes.used.add(key);
    this.#schedule();
  }

  removed(key: string, reason: 'missing' | 'damaged'): void {
    if (reason === 'damaged') this.#log.warn({ key }, 'damaged disk cache file removed');
    this.#changes.removed.push(key);
    this.#schedule();
  }

  failed(error: Error): void {
    if (!this.#mayLog()) return;
    this.#log.error({ err: error }, 'disk cache failed; rendering images again');
  }

  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const { used, ...changes } = this.#changes;
    this.#changes = newChanges();
    this.#channel.send({ type: 'disk-cache-changes', ...changes, used: [...used] });
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => this.flush(), flushEveryMs);
  }
}
