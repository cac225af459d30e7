import { type Size, scaleWithin } from '../../geometry.ts';

/** Maximum pixels per side of an SVG in sharp. */
const maxRasterSide = 32_767;

/** The possible scales, in pixels for each CSS pixel; may be empty. No side has less than a pixel. */
export function svgScales(size: Size, pixels: number) {
  return {
    smallest: 1 / Math.min(size.width, size.height),
    largest: scaleWithin(size, maxRasterSide, pixels),
  };
}

/** The possible scale nearest to the wanted one. */
export function svgScale(wanted: number, size: Size, pixels: number): number {
  const { smallest, largest } = svgScales(size, pixels);
  return Math.min(Math.max(wanted, smallest), largest);
}
