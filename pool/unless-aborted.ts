/**
 * Settles like the promise, or rejects with the signal's reason as soon as the signal aborts.
 *
 * @param discard receives the promise's value if the signal aborts first, so that the caller does
 *   not get it
 */
export function unlessAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal,
  discard: (value: T) => void = () => {},
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let rejected = false;
    const abort = () => {
      rejected = true;
      reject(signal.reason);
    };
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    promise
      .then((value) => (rejected ? discard(value) : resolve(value)), reject)
      .finally(() => signal.removeEventListener('abort', abort));
  });
}
