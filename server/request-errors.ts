import { ServiceError } from '../contract/errors.ts';
import { isFull, isOutage } from '../store/outage.ts';

/**
 * Returns the error of a request that needs the store. Only the log shows the cause, because it
 * names hosts.
 */
export function storeUnavailable(cause?: unknown): ServiceError {
  const message = isFull(cause)
    ? "The store's disk is full. Reads work; changes fail."
    : 'The store is unavailable.';
  return new ServiceError('store_unavailable', message, cause);
}

/** Returns the error response to a thrown value; a store outage is not an internal error. */
export function toStoreFailure(error: unknown): ServiceError {
  return isOutage(error) ? storeUnavailable(error) : ServiceError.of(error);
}

/**
 * Returns a found project, or its state.
 * @param id as received from the client, of any length
 * @throws ServiceError project_not_found for null
 */
export function requireProject<P>(id: string, found: P | null): P {
  if (found !== null) return found;
  const shown = id.slice(0, 80).toWellFormed();
  throw new ServiceError('project_not_found', `There is no project ${shown}.`);
}
