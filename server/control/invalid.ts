import { ServiceError } from '../../contract/errors.ts';
import { maxErrors } from './validation-messages.ts';

/** @throws ServiceError invalid_request with the first `maxErrors` errors, unless there are none */
export function rejectInvalid(errors: readonly [string]): never;
export function rejectInvalid(errors: readonly string[]): void;
export function rejectInvalid(errors: readonly string[]): void {
  if (errors.length === 0) return;
  throw new ServiceError('invalid_request', `${errors.slice(0, maxErrors).join('; ')}.`);
}
