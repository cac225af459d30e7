import { ServiceError } from '../../contract/errors.ts';

export interface Deadline {
  /** Maximum time of the whole fetch, in ms. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * The abort reason when a fetch ends. A missing reason would create a DOMException with a stack.
 */
const ended = new Error('The fetch has ended.');

/**
 * Runs a fetch with a timeout. The signal passed to `fetch` always aborts at the end, even after a
 * success, to cancel an unread body.
 *
 * @param fetch calls `report` with each step that it starts, for a timeout's message
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
