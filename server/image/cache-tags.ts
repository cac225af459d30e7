import { layerUrl, type Variant } from '../../pool/variant.ts';
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
  project: string,
  source: URL,
  { watermark, layers }: Pick<Variant, 'watermark' | 'layers'>,
): Headers {
  if (names.length === 0) return [];
  const files = [watermark?.url, ...(layers ?? []).map(layerUrl)].flatMap((url) => url ?? []);
  const urls = [source, ...files.map((url) => new URL(url))];
  const tags = [cdnProjectTag(project), ...urls.map((url) => cdnSourceTag(project, url))];
  return names.map((name) => [name, tags.join(name.endsWith('key') ? ' ' : ',')]);
}
