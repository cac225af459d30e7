import { ServiceError } from '../contract/errors.ts';
import { isOutage } from '../store/outage.ts';

/** The error of a request that needs the store. The cause is only logged, because it names hosts. */
export function storeUnavailable(cause?: unknown): ServiceError {
  return new ServiceError('store_unavailable', 'The store is unavailable.', cause);
}

/** The error response to a thrown value; a store outage is not an internal error. */
export function storeFailureOf(error: unknown): ServiceError {
  return isOutage(error) ? storeUnavailable(error) : ServiceError.of(error);
}
