import { mock } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

/** The clock that measures spans of time in this process, which stands still and is moved by hand. */
export interface StoppedClock {
  /** Resolves when everyone can have noticed: lru-cache looks at the clock once in a millisecond. */
  forward(ms: number): Promise<void>;
}

export function stopClock(t: { teardown(action: () => void): void }): StoppedClock {
  const { now } = performance;
  // A whole number, so that the differences between its times are exact.
  let at = Math.ceil(now.call(performance));
  performance.now = () => at;
  t.teardown(() => {
    performance.now = now;
  });
  return {
    async forward(ms) {
      at += ms;
      await sleep(5);
    },
  };
}

/** Timers of this thread go off when the returned function lets so many milliseconds pass. */
export function stopTimers(t: { teardown(action: () => void): void }): (ms: number) => void {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  return (ms) => mock.timers.tick(ms);
}

/** What this process with all its threads has used of processors, which no other process lengthens. */
export function usedCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
