import { StoreUnavailable } from './outage.ts';

/**
 * A request must fail within two seconds when the store does not respond. The driver's own timeouts add up,
 * because it retries a read on a new connection.
 */
const operationTimeoutMs = 1_500;

/**
 * Limits the wait for a store operation. The operation continues after a timeout: a write can still
 * take effect.
 * @throws StoreUnavailable after the timeout
 */
export async function withTimeout<T>(
  operation: Promise<T>,
  timeoutMs = operationTimeoutMs,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<never>((_, reject) => {
    const seconds = timeoutMs / 1_000;
    const fail = () => reject(new StoreUnavailable(`it has not answered within ${seconds} s`));
    // If this process was blocked, a reply can be waiting; the event loop reads it before an
    // immediate.
    timer = setTimeout(() => setImmediate(fail), timeoutMs);
  });
  try {
    return await Promise.race([operation, timedOut]);
  } finally {
    clearTimeout(timer);
  }
}
