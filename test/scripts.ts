import { extname } from 'node:path';

/** A script of the repository by its path without extension, as source or built as the caller is. */
export function scriptUrl(path: string, caller: string): URL {
  return new URL(`${path}${extname(caller)}`, caller);
}

/** Node's arguments for such a script, in any folder. */
export const scriptArguments =
  extname(import.meta.url) === '.ts' ? [`--import=${import.meta.resolve('tsx')}`] : [];
