import { ServiceError } from '../../contract/errors.ts';

/**
 * A field at the start of a message, which has one or several separated by semicolons: `sources[0] must be …`, or
 * `the host of origin must be …`.
 */
const fieldPattern = /(^the host of |^|; )([A-Za-z]+)(?:\[\d+\])?(?= )/g;

/**
 * Runs an operation of the control plane. Its errors name options of the command instead of fields of a body.
 * @param options by field, such as `--allow` by `allowedOrigins`
 */
export async function namingOptions<T>(
  options: Readonly<Record<string, string>>,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'invalid_request') throw error;
    const name = (text: string, start: string, field: string) =>
      Object.hasOwn(options, field) ? `${start}${options[field]}` : text;
    throw new ServiceError(error.code, error.message.replace(fieldPattern, name));
  }
}
