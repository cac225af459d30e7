import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from './app.ts';

const pollEveryMs = 20;

/**
 * Stops listening. Resolves when no request is in progress and none has arrived for `graceMs`.
 * Meanwhile a client that reuses its connection still gets a response, which closes the connection.
 * @param withinMs resolves after this time even if requests are in progress
 */
export async function drainRequests(
  app: Pick<App, 'stopListening' | 'open' | 'count'>,
  graceMs: number,
  withinMs: number,
): Promise<void> {
  app.stopListening();
  const deadline = performance.now() + withinMs;
  let idleSince = performance.now();
  let count = app.count;
  while (performance.now() < deadline) {
    await sleep(pollEveryMs);
    if (app.open > 0 || app.count !== count) idleSince = performance.now();
    count = app.count;
    if (app.open === 0 && performance.now() - idleSince >= graceMs) return;
  }
}
