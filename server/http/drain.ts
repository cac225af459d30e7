import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from './app.ts';

const lookEveryMs = 20;

/**
 * Stops listening and resolves when every request is answered and none has come for a moment: a
 * client that is about to reuse a connection gets an answer that ends it.
 * @param graceMs how long that moment is
 * @param withinMs when to resolve whatever is still open
 */
export async function untilQuiet(
  app: Pick<App, 'stopListening' | 'open' | 'count'>,
  graceMs: number,
  withinMs: number,
): Promise<void> {
  app.stopListening();
  const deadline = performance.now() + withinMs;
  let quietSince = performance.now();
  let seen = app.count;
  while (performance.now() < deadline) {
    await sleep(lookEveryMs);
    if (app.open > 0 || app.count !== seen) quietSince = performance.now();
    seen = app.count;
    if (app.open === 0 && performance.now() - quietSince >= graceMs) return;
  }
}
