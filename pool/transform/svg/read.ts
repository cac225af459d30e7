import { costOf } from './cost.ts';
import { readDocument } from './document.ts';
import { embeddedPictures } from './embedded.ts';

/** What an SVG costs for each pixel of its output. */
export interface SvgCost {
  /** Upper bound of the surfaces of the output's size that are needed at one time, but for its own. */
  readonly surfaces: number;
  /** Upper bound of the time that filters and masks take, in ms of one core for each megapixel. */
  readonly work: number;
}

/**
 * Finds what makes a small SVG expensive. librsvg loads nothing from outside of the document, but
 * that leaves what is inside: documents in data: URLs, entities, pictures of any size, elements that
 * repeat each other, filters.
 *
 * @throws ServiceError source_unsupported, source_corrupt, source_too_large
 */
export function readSvg(source: Uint8Array): {
  readonly cost: SvgCost;
  /** Pictures that are decoded as a whole. */
  readonly embedded: readonly Uint8Array[];
} {
  const document = readDocument(source);
  const { surfaces, work } = costOf(document);
  return { cost: { surfaces, work }, embedded: embeddedPictures(document) };
}
