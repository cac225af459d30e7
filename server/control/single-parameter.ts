/** The value of a parameter, or null without one. Adds an error when it is given more than once. */
export function singleParameter(
  parameters: URLSearchParams,
  name: string,
  errors: string[],
): string | null {
  const [value = null, ...more] = parameters.getAll(name);
  if (more.length > 0) errors.push(`${name} is given more than once`);
  return value;
}
