import { ServiceError } from '../../contract/errors.ts';
import { maxFramePixels } from '../bounds.ts';
import { type Size, scaleWithin } from '../geometry.ts';
import { tooLarge } from './errors.ts';
import type { Container } from './source-format.ts';

/** Maximum pixels per side of an SVG in sharp, and of a PDF. */
const maxRasterSide = 32_767;

/**
 * Returns the possible scales, in pixels per CSS pixel; can be empty. Each side has at least a
 * pixel.
 */
function vectorScales(size: Size, pixels: number) {
  return {
    smallest: 1 / Math.min(size.width, size.height),
    largest: scaleWithin(size, maxRasterSide, pixels),
  };
}

/** Returns the possible scale nearest to the wanted scale. */
export function vectorScale(wanted: number, size: Size, pixels: number): number {
  const { smallest, largest } = vectorScales(size, pixels);
  return Math.min(Math.max(wanted, smallest), largest);
}

/** Each frame takes up to 10 ms, even a tiny one (see cost.ts), so all take half of the timeout. */
const maxFrames = 1_000;
/** Opening a TIFF reads the tags of all its pages. */
const maxPages = 2_000;
/**
 * Maximum scans in a JPEG with the maximum number of pixels; a smaller JPEG can have more. The
 * timeout does not interrupt decoding before it has read all scans, which takes about 1 ms per scan
 * and megapixel.
 */
const maxScans = 32;

/**
 * @param pixels of all frames together
 * @throws ServiceError source_too_large
 */
export function requirePixels(pixels: number, maxPixels: number): void {
  if (pixels <= maxPixels) return;
  throw tooLarge(
    `The source has ${pixels} pixels in all its frames; at most ${maxPixels} are allowed.`,
  );
}

/** @throws ServiceError source_too_large */
export function requireFrames(frames: number): void {
  if (frames <= maxFrames) return;
  throw tooLarge(`The source has ${frames} frames; at most ${maxFrames} are allowed.`);
}

/** @throws ServiceError source_too_large */
export function requirePages({ pages, format }: Container): void {
  if (pages > maxPages) throw tooLarge(`The ${format.label} has more than ${maxPages} pages.`);
}

/**
 * @param pixels per frame
 * @throws ServiceError source_too_large
 */
export function requireScans({ scans, format }: Container, pixels: number, maxPixels: number) {
  const max = Math.floor((maxScans * maxPixels) / pixels);
  if (scans <= max) return;
  throw tooLarge(
    `The ${format.label} has ${scans} scans; with its ${pixels} pixels, at most ${max} are allowed.`,
  );
}

/**
 * Refuses vector graphics that exceed the limit at every size, because no side can be below 1
 * pixel.
 *
 * @throws ServiceError source_too_large
 */
export function requireRasterisable(size: Size, label: string, maxPixels: number): void {
  const { smallest, largest } = vectorScales(size, Math.min(maxFramePixels, maxPixels));
  if (smallest <= largest) return;
  throw tooLarge(`The ${label} is too large or too narrow: ${size.width} x ${size.height}.`);
}

/** @throws ServiceError parameter_invalid for a page that the source does not have */
export function requirePage(page: number, pages: number): void {
  if (page < pages) return;
  const available = pages === 1 ? 'only one page, 0' : `${pages} pages, 0 to ${pages - 1}`;
  throw new ServiceError('parameter_invalid', `page is ${page}, but the source has ${available}.`);
}
