import { ApiError, ConnectionError, TimeoutError } from './errors.ts';

/**
 * How to retry calls. A 429 is always retried: the service refuses before any work. A 503, a lost
 * connection, a timeout, and a proxy's 502 or 504 are retried if the call is safe to repeat, which
 * excludes `createProject` and calls with a `callbackUrl`.
 */
export interface RetryOptions {
  /** Maximum retries after the first attempt; 0 disables them. Default: 3. */
  readonly count?: number;
  /**
   * Latest start of a retry in ms after the call's start; a longer `Retry-After` ends the call.
   * Default: 30,000.
   */
  readonly withinMs?: number;
}

/** A call's state after a failed attempt. */
export interface FailedAttempt {
  readonly error: unknown;
  /** Failed attempts so far, including the latest. */
  readonly failed: number;
  /** Since the call's start. */
  readonly elapsedMs: number;
  /** Whether the operation is safe to repeat. */
  readonly isRepeatable: boolean;
}

const defaults = { count: 3, withinMs: 30_000 };
const firstWaitMs = 250;
const longestWaitMs = 8_000;

/**
 * The wait before the next attempt in ms, or null if there is no next attempt. It is never shorter than
 * `Retry-After`, and differs between clients that failed at the same time.
 */
export function waitAfter(
  { error, failed, elapsedMs, isRepeatable }: FailedAttempt,
  { count = defaults.count, withinMs = defaults.withinMs }: RetryOptions,
  random: () => number,
): number | null {
  if (failed > count || !mayRepeat(error, isRepeatable)) return null;
  const step = Math.min(firstWaitMs * 2 ** (failed - 1), longestWaitMs);
  const retryAfter = error instanceof ApiError ? error.retryAfter : null;
  const leastMs = retryAfter === null ? step / 2 : retryAfter * 1_000;
  const waitMs = leastMs + (random() * step) / 2;
  return elapsedMs + waitMs > withinMs ? null : waitMs;
}

/** Statuses from proxies that received no response from the service, or received it too late. */
const lostBehindProxy = [502, 504];

function mayRepeat(error: unknown, isRepeatable: boolean): boolean {
  if (error instanceof ConnectionError || error instanceof TimeoutError) return isRepeatable;
  if (!(error instanceof ApiError)) return false;
  // Always a refusal before the work.
  if (error.status === 429) return true;
  // The store can become unavailable during the work.
  if (error.status === 503) return isRepeatable;
  return isRepeatable && lostBehindProxy.includes(error.status);
}
