import { ServiceError } from '../../contract/errors.ts';

export interface Deadline {
  /** Maximum time of the whole fetch, in ms. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * The reason of the abort at the end of each fetch. Without one it would create a DOMException with its stack.
 */
const ended = new Error('The fetch has ended.');

/**
 * Runs a fetch with a timeout. The signal that `fetch` gets aborts in every case, also after a success, so that an
 * unread body is cancelled.
 *
 * @param fetch calls `report` with the step that it begins, for the message of a timeout
 * @throws ServiceError source_timeout, the error of `fetch`, or the signal's reason
 */
export async function withinDeadline<T>(
  { timeoutMs, signal }: Deadline,
  fetch: (signal: AbortSignal, report: (step: string) => void) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const ending = new AbortController();
  const abort = () => ending.abort(signal.reason);
  let step = '';
  const timer = setTimeout(() => {
    const text = `The source did not arrive within ${timeoutMs} ms (${step}).`;
    ending.abort(new ServiceError('source_timeout', text));
  }, timeoutMs);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await fetch(ending.signal, (now) => {
      step = now;
    });
  } catch (error) {
    throw ending.signal.aborted ? ending.signal.reason : error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    ending.abort(ended);
  }
}
