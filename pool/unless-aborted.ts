/**
 * Settles like the promise, or rejects with the signal's reason as soon as the signal aborts.
 *
 * @param onAbort called if the caller gets the reason instead of the promise's result, which can
 *   exist already
 */
export function unlessAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal,
  onAbort: () => void = () => {},
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = () => {
      reject(signal.reason);
      onAbort();
    };
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    // Both steps run in one turn: an abort between them would call `onAbort` although the caller
    // gets the result.
    const settle =
      <R>(how: (result: R) => void) =>
      (result: R): void => {
        signal.removeEventListener('abort', abort);
        how(result);
      };
    promise.then(settle(resolve), settle(reject));
  });
}
