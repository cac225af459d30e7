import { ApiError, ConnectionError, TimeoutError } from './errors.ts';

/**
 * How calls are repeated. A 429 is always repeated: it is a refusal before the work. A 503, a lost connection, a
 * time-out, and a proxy's 502 or 504 are repeated if the call may take effect twice, which is every call but
 * `createProject` and those with a `callbackUrl`.
 */
export interface RetryOptions {
  /** The most attempts after the first one; 0 for none. Default: 3. */
  readonly count?: number;
  /**
   * Milliseconds after the start of a call in which another attempt may begin; a longer `Retry-After` is not
   * waited for. Default: 30,000.
   */
  readonly withinMs?: number;
}

/** The state of a call after a failed attempt. */
export interface FailedAttempt {
  readonly error: unknown;
  /** Failed attempts so far, with this one. */
  readonly failed: number;
  /** Since the start of the call. */
  readonly elapsedMs: number;
  /** Whether the operation may take effect twice. */
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

/** Statuses of proxies that got no response from the service, or none in time. */
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
