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
