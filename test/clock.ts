import { mock } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

/** A stopped `performance.now` in this process. */
export interface StoppedClock {
  /** Advances it, and waits 5 ms, because lru-cache reads the clock once per millisecond. */
  forward(ms: number): Promise<void>;
}

export function stopClock(t: { teardown(action: () => void): void }): StoppedClock {
  const { now } = performance;
  // An integer, for exact differences.
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

/** Sets the date ahead in this process; each call of the returned function adds ms. */
export function advanceDate(t: { teardown(action: () => void): void }): (ms: number) => void {
  const { now } = Date;
  let aheadMs = 0;
  Date.now = () => now() + aheadMs;
  t.teardown(() => {
    Date.now = now;
  });
  return (ms) => {
    aheadMs += ms;
  };
}

/** Stops the timers of this thread; the returned function advances them by ms. */
export function stopTimers(t: { teardown(action: () => void): void }): (ms: number) => void {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  return (ms) => mock.timers.tick(ms);
}

/** Returns the CPU time of this process with all its threads, independent of other processes. */
export function usedCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
