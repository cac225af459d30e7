import { setTimeout as sleep } from 'node:timers/promises';

/** Purges and deletions of the last day are remembered. */
const rememberedMs = 24 * 60 * 60 * 1_000;

interface RepeatedReadOptions {
  /** @param since the beginning of the last read that has succeeded, less the overlap; at first a day ago */
  readonly read: (since: Date) => Promise<void>;
  /** Called when a read fails; the next one begins where the last one has ended. */
  readonly onError: (error: unknown) => void | Promise<void>;
  /** Pause between two reads, in ms. */
  readonly everyMs: number;
  /** The times in the store are those of other machines, whose clocks may differ; ms. */
  readonly overlapMs: number;
  readonly signal: AbortSignal;
}

/**
 * Reads what has happened in the store, now and again and again until the signal. The first read has all that is
 * remembered, because this machine may have been off. Never rejects.
 */
export async function readRepeatedly(options: RepeatedReadOptions): Promise<void> {
  const { read, onError, everyMs, overlapMs, signal } = options;
  let since = Date.now() - rememberedMs;
  while (!signal.aborted) {
    const begunAt = Date.now();
    try {
      await read(new Date(since));
      since = begunAt - overlapMs;
    } catch (error) {
      await onError(error);
    }
    await sleep(everyMs, null, { signal }).catch(() => {});
  }
}
