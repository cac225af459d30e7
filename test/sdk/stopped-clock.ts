import type { Clock } from '../../sdk/src/client/send.ts';

export interface StoppedClock extends Clock {
  /** Durations of the sleeps so far, in ms. */
  readonly waits: readonly number[];
}

/** Returns a clock that advances only during sleeps. */
export function stoppedClock(): StoppedClock {
  const waits: number[] = [];
  let at = 0;
  return {
    waits,
    now: () => at,
    random: () => 0.5,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      waits.push(ms);
      at += ms;
    },
  };
}
