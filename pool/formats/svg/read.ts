import { costOf } from './cost.ts';
import { readDocument } from './document.ts';
import { embeddedImages } from './embedded.ts';
import type { SvgCost } from './filter-cost.ts';

/**
 * Computes the cost of an SVG, or refuses it. librsvg loads no external resources, but a small document can
 * contain documents in data: URLs, entities, large images, repeated elements and filters.
 *
 * @throws ServiceError source_unsupported, source_corrupt, source_too_large
 */
export function readSvg(source: Uint8Array): {
  readonly cost: SvgCost;
  /** Embedded images, which librsvg decodes completely. */
  readonly embedded: readonly Uint8Array[];
} {
  const document = readDocument(source);
  const { surfaces, work } = costOf(document);
  return { cost: { surfaces, work }, embedded: embeddedImages(document) };
}
