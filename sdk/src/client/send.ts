import { type Connection, type RetryOptions, requireNumber } from './connection.ts';
import { ApiError, ConnectionError, TimeoutError } from './errors.ts';
import { type Answer, readText } from './response.ts';

export interface CallOptions {
  /** Ends the call; it then rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
  /** Milliseconds for the whole response to one attempt, instead of the client's. */
  readonly timeoutMs?: number;
}

export interface Request<Result> {
  readonly operation: string;
  readonly method: string;
  /** After `baseUrl`. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** Whether the operation is safe to repeat. */
  readonly isRepeatable: boolean;
  /** Extracts the result from a response. @throws ApiError */
  readonly read: (answer: Answer) => Result;
}

/** Sends a request until it succeeds or must not be retried. */
export async function send<Result>(
  request: Request<Result>,
  { signal, timeoutMs }: CallOptions,
  connection: Connection,
  clock: Clock,
): Promise<Result> {
  const limitMs = timeoutMs ?? connection.timeoutMs;
  requireNumber('timeoutMs', limitMs, 1);
  const startedAt = clock.now();
  for (let failed = 1; ; failed++) {
    try {
      const timeoutError = () => new TimeoutError(request.operation, limitMs);
      const answer = await withDeadline(limitMs, timeoutError, signal, (ending) =>
        attempt(request, connection, ending),
      );
      return request.read(answer);
    } catch (error) {
      const { isRepeatable } = request;
      const state = { error, failed, elapsedMs: clock.now() - startedAt, isRepeatable };
      const waitMs = waitAfter(state, connection.retries, clock.random);
      if (waitMs === null) throw error;
      await clock.sleep(waitMs, signal);
    }
  }
}

/** @throws ConnectionError */
async function attempt(
  { operation, method, target, headers, body }: Request<unknown>,
  connection: Connection,
  signal: AbortSignal,
): Promise<Answer> {
  const { baseUrl, fetch, maxResponseBytes, redact } = connection;
  const redirect = 'manual';
  try {
    const response = await fetch(baseUrl + target, { method, headers, body, redirect, signal });
    const text = await readText(response, maxResponseBytes);
    return { status: response.status, headers: response.headers, text };
  } catch (error) {
    throw new ConnectionError(operation, redact(findReason(error)).slice(0, 300));
  }
}

/** Returns the innermost message, because `fetch` nests the reason in a chain of causes. */
function findReason(error: unknown): string {
  let found = error;
  for (
    let depth = 0;
    depth < 5 && found instanceof Error && found.cause instanceof Error;
    depth++
  ) {
    found = found.cause;
  }
  const { message, code }: { message?: unknown; code?: unknown } =
    found instanceof Error ? found : {};
  return String(message || code || 'unknown');
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
 * The wait before the next attempt in ms, or null if there is no next attempt. It is never shorter
 * than `Retry-After`, and differs between clients that failed at the same time.
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

/**
 * Runs an action, and ends it after `timeoutMs` or when the caller's signal aborts, even if the
 * action ignores its signal.
 *
 * @param timeoutError creates the error for a call that takes longer
 * @returns rejects with the reason in the caller's signal if it aborts
 */
export async function withDeadline<T>(
  timeoutMs: number,
  timeoutError: () => Error,
  signal: AbortSignal | undefined,
  action: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason));
  });
  const abort = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', abort);
  const timer = setTimeout(() => controller.abort(timeoutError()), timeoutMs);
  try {
    return await Promise.race([action(controller.signal), aborted]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

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
