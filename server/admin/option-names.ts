import { ServiceError } from '../../contract/errors.ts';

/**
 * A field at the start of a message. A message can contain several, separated by semicolons:
 * `sources[0] must be …`, or `the host of origin must be …`.
 */
const fieldPattern = /(^the host of |^|; )([A-Za-z]+)(?:\[\d+\])?(?= )/g;

/**
 * Runs a control plane operation, naming the command's options in its errors instead of body
 * fields.
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
