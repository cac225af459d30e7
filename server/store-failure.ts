import { ServiceError } from '../contract/errors.ts';
import { isOutage } from '../store/outage.ts';

/** The failure of a request that needs the store. The cause is for the log: it names hosts. */
export function storeUnavailable(cause?: unknown): ServiceError {
  return new ServiceError('store_unavailable', 'The store is unavailable.', cause);
}

/** The failure of a request by whatever was thrown; an outage of the store is not our mistake. */
export function failureOf(error: unknown): ServiceError {
  return isOutage(error) ? storeUnavailable(error) : ServiceError.of(error);
}
