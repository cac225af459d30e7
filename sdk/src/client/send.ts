import { readText } from './body.ts';
import type { Clock } from './clock.ts';
import { type Connection, requireNumber } from './connection.ts';
import { withDeadline } from './deadline.ts';
import { ConnectionError, TimeoutError } from './errors.ts';
import type { Answer } from './response.ts';
import { waitAfter } from './retries.ts';

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
