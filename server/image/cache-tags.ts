import type { ImageTags } from '../../pool/image.ts';
import type { Headers } from '../http/request.ts';
import { cdnProjectTag, cdnSourceTag } from './purges.ts';

/**
 * The headers by which a CDN finds the images of a purge.
 *
 * @param names in lower case. Those that end with `key`, as Surrogate-Key and xkey do, separate their tags by
 *   spaces, others by commas.
 */
export function cacheTagHeaders(
  names: readonly string[],
  { project, source, watermark, layers = [] }: ImageTags,
): Headers {
  const tags = [cdnProjectTag(project), cdnSourceTag(source)];
  if (watermark !== null) tags.push(cdnSourceTag(watermark));
  tags.push(...layers.map(cdnSourceTag));
  return names.map((name) => [name, tags.join(name.endsWith('key') ? ' ' : ',')]);
}
