import { parseQuery } from '../image/address.ts';

/** @throws ServiceError invalid_request if there are too many parameters */
export const readQuery = (query: string): URLSearchParams => parseQuery(query, 'invalid_request');

/** Returns a parameter's value, or null if it is missing. Adds an error if it is repeated. */
export function singleParameter(
  parameters: URLSearchParams,
  name: string,
  errors: string[],
): string | null {
  const [value = null, ...more] = parameters.getAll(name);
  if (more.length > 0) errors.push(`${name} is given more than once`);
  return value;
}
