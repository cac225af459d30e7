import { maxFramePixels } from '../bounds.ts';
import type { Size } from '../geometry.ts';
import type { Container } from './container/container.ts';
import { tooLarge } from './errors.ts';
import { kinds, type SourceKind } from './kinds.ts';
import { svgScales } from './svg/scale.ts';

/** Each frame takes up to 10 ms, even a tiny one (see cost.ts), so all take half of the timeout. */
const maxFrames = 1_000;
/** Opening a TIFF reads the tags of all its pages. */
const maxPages = 2_000;
/**
 * Scans of a JPEG with the maximum number of pixels; a smaller one may have more. The timeout does not
 * interrupt decoding until all scans are read: about 1 ms for each scan of a megapixel.
 */
const maxScans = 32;

export function requirePixels(pixels: number, maxPixels: number): void {
  if (pixels <= maxPixels) return;
  throw tooLarge(
    `The source has ${pixels} pixels in all its frames; at most ${maxPixels} are allowed.`,
  );
}

export function requireFrames(frames: number): void {
  if (frames <= maxFrames) return;
  throw tooLarge(`The source has ${frames} frames; at most ${maxFrames} are allowed.`);
}

export function requirePages(pages: number): void {
  if (pages > maxPages) throw tooLarge(`The TIFF has more than ${maxPages} pages.`);
}

export function requireScans({ scans }: Container, pixels: number, maxPixels: number): void {
  const max = Math.floor((maxScans * maxPixels) / pixels);
  if (scans <= max) return;
  throw tooLarge(
    `The JPEG has ${scans} scans; with its ${pixels} pixels, at most ${max} are allowed.`,
  );
}

/** Refuses SVGs and PDFs that cannot be rasterised at any size; no side may be below 1 pixel. */
export function requireRasterisable(size: Size, kind: SourceKind, maxPixels: number): void {
  const { smallest, largest } = svgScales(size, Math.min(maxFramePixels, maxPixels));
  if (smallest <= largest) return;
  throw tooLarge(
    `The ${kinds[kind].label} is too large or too narrow: ${size.width} x ${size.height}.`,
  );
}
