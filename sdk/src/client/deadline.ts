/**
 * Runs an action that must end after `timeoutMs` or when the caller's signal aborts, also if it ignores its own
 * signal.
 *
 * @param timeoutError creates the error of a call that takes longer
 * @returns rejects with the reason of the caller's signal when that aborts
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
