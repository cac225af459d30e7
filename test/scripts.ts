import { extname } from 'node:path';

/**
 * Returns the URL of a script in the repository, as source or built like its caller. The path
 * includes no extension.
 */
export function scriptUrl(path: string, caller: string): URL {
  return new URL(`${path}${extname(caller)}`, caller);
}

/** Node's arguments for such a script, in any folder. */
export const scriptArguments =
  extname(import.meta.url) === '.ts' ? [`--import=${import.meta.resolve('tsx')}`] : [];
