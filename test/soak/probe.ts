import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';
import { type ProbeFigures, probeFolderVariable } from './processes.ts';

const everyMs = 1_000;

/**
 * Preloaded into every process of the service (`NODE_OPTIONS=--import=…`): once a second it writes a
 * file with figures that only the process itself can measure.
 */
const folder = process.env[probeFolderVariable];
if (isMainThread && folder !== undefined) {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${process.pid}.json`);
  setInterval(() => {
    const { heapUsed } = process.memoryUsage();
    // The histogram measures the whole interval of its timer.
    const ms = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - 10);
    const figures: ProbeFigures = {
      heapBytes: heapUsed,
      delayP99Ms: delay.count === 0 ? 0 : ms(delay.percentile(99)),
    };
    delay.reset();
    writeFileSync(`${file}.new`, JSON.stringify(figures));
    renameSync(`${file}.new`, file);
  }, everyMs).unref();
}
