import type { Inputs } from '../../pool/inputs.ts';
import type { Headers } from '../http/request.ts';
import { cdnProjectTag, cdnSourceTag } from './image-purges.ts';

/**
 * The headers by which a CDN finds the images of a purge.
 *
 * @param names in lower case. Those that end with `key`, as Surrogate-Key and xkey do, separate their tags by
 *   spaces, others by commas.
 */
export function cacheTagHeaders(
  names: readonly string[],
  project: string,
  inputs: Inputs,
): Headers {
  if (names.length === 0) return [];
  const tags = [cdnProjectTag(project), ...inputs.map(({ url }) => cdnSourceTag(project, url))];
  return names.map((name) => [name, tags.join(name.endsWith('key') ? ' ' : ',')]);
}
