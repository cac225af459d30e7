import { ServiceError } from '../contract/errors.ts';

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
