import { StoreUnavailable } from './outage.ts';

/**
 * How long a request waits for one answer of the store, ms. A request that the store does not
 * answer is to fail within two seconds, and the driver's own timeouts add up: a read that ran into
 * one is tried again on a new connection.
 */
export const answerWithinMs = 1_500;

/**
 * The result of an operation of the store, or StoreUnavailable when it takes too long. The
 * operation itself goes on: a write may still take effect.
 */
export async function answered<T>(operation: Promise<T>, withinMs = answerWithinMs): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const seconds = withinMs / 1_000;
    const fail = () => reject(new StoreUnavailable(`it has not answered within ${seconds} s`));
    // If this process was blocked, the answer may have arrived: it is read before an immediate runs.
    timer = setTimeout(() => setImmediate(fail), withinMs);
  });
  try {
    return await Promise.race([operation, late]);
  } finally {
    clearTimeout(timer);
  }
}
