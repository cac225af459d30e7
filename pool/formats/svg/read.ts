import { costOf } from './cost.ts';
import { readDocument } from './document.ts';
import { embeddedImages } from './embedded.ts';

/** The cost to rasterise an SVG, relative to its output size. */
export interface SvgCost {
  /** Upper bound of concurrent surfaces of the output's size, without the output itself. */
  readonly surfaces: number;
  /** Upper bound of the CPU time of filters and masks, in ms per megapixel. */
  readonly work: number;
}

/**
 * Computes or refuses everything that can make a small SVG expensive. librsvg loads no external
 * resources, but the document can contain documents in data: URLs, entities, large images, repeated
 * elements and filters.
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
