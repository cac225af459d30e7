import { ServiceError } from '../contract/errors.ts';
import { isFull, isOutage } from '../store/outage.ts';

/** The error of a request that needs the store. The cause is only logged, because it names hosts. */
export function storeUnavailable(cause?: unknown): ServiceError {
  const message = isFull(cause)
    ? 'The disk of the store is full: it accepts no change, and answers reads.'
    : 'The store is unavailable.';
  return new ServiceError('store_unavailable', message, cause);
}

/** The error response to a thrown value; a store outage is not an internal error. */
export function storeFailureOf(error: unknown): ServiceError {
  return isOutage(error) ? storeUnavailable(error) : ServiceError.of(error);
}
