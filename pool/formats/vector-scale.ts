import { type Size, scaleWithin } from '../geometry.ts';

/** Maximum pixels per side of an SVG in sharp, and of a PDF. */
const maxRasterSide = 32_767;

/**
 * Returns the possible scales, in pixels per CSS pixel; can be empty. Each side has at least a
 * pixel.
 */
export function vectorScales(size: Size, pixels: number) {
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
