import { parseQuery } from '../image/address.ts';

/**
 * Returns a function that returns a parameter's value, or null if it is missing, and adds an error
 * if it is repeated.
 * @throws ServiceError invalid_request if there are too many parameters
 */
export function queryReader(query: string, errors: string[]): (name: string) => string | null {
  const parameters = parseQuery(query, 'invalid_request');
  return (name) => {
    const [value = null, ...more] = parameters.getAll(name);
    if (more.length > 0) errors.push(`${name} is given more than once`);
    return value;
  };
}
