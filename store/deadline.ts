import { StoreUnavailable } from './outage.ts';

/**
 * Timeout of one operation of the store, ms. A request must fail within two seconds when the store does
 * not respond. The driver's own timeouts add up, because it retries a read on a new connection.
 */
export const answerWithinMs = 1_500;

/**
 * The result of an operation of the store. The operation continues after a timeout: a write may still
 * take effect.
 * @throws StoreUnavailable after the timeout
 */
export async function answered<T>(operation: Promise<T>, withinMs = answerWithinMs): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const seconds = withinMs / 1_000;
    const fail = () => reject(new StoreUnavailable(`it has not answered within ${seconds} s`));
    // If this process was blocked, a reply may have arrived: it is read before an immediate runs.
    timer = setTimeout(() => setImmediate(fail), withinMs);
  });
  try {
    return await Promise.race([operation, late]);
  } finally {
    clearTimeout(timer);
  }
}
