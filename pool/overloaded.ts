import { ServiceError } from '../contract/errors.ts';

/*
 * The refusals of several parts. All requests share them, because creating an error's stack is 8% of
 * a refusal's CPU time.
 */

export const tooManyTransforms = new ServiceError('overloaded', 'Too many transforms are waiting.');

export const shuttingDown = new ServiceError('overloaded', 'The service is shutting down.');
