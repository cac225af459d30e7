/** Time, waits and random numbers, which tests replace. */
export interface Clock {
  /** Milliseconds since any point in time. */
  now(): number;
  /** Rejects with the reason of the signal when it aborts. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>;
  /** At least 0 and below 1. */
  random(): number;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  random: Math.random,
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const abort = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', abort);
        resolve();
      }, ms);
      signal?.addEventListener('abort', abort, { once: true });
    }),
};
